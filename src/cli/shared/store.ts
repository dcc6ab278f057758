import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { configOf, type AccountSettings, type Config } from '../../config/config.ts';
import { isKnownAccount } from '../../store/accounts.ts';
import type { Store } from '../../store/port.ts';
import { openStore, type OpenOptions } from '../../store/open.ts';
import { accountFilterOf, accountOf } from './account.ts';
import { plainConfig } from './options.ts';

/** Opens the database of the settings for as long as `work` takes. Says so on stderr when it has made a new one. */
export async function withStore<Result>(
  command: Command,
  options: OpenOptions['expect'] | OpenOptions,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = plainConfig(command);
  const { database } = config;
  const isNew = database.kind === 'sqlite' && !existsSync(database.path);
  const store = await openStore(database, systemClock(), typeof options === 'string' ? { expect: options } : options);
  if (isNew) process.stderr.write(`made a new database: ${database.address}\n`);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/**
 * Opens the database for the account that a command is about. An account that is not in the settings and stands in the
 * database is read, and decided about, with the general settings; nothing is inserted for it (`migrate`). Throws `ConfigError`
 * where it is in neither.
 */
export async function withAccount<Result>(
  command: Command,
  expect: 'current' | 'migrate',
  work: (store: Store, settings: AccountSettings) => Promise<Result>,
): Promise<Result> {
  const account = accountOf(command);
  if (expect === 'migrate') configOf(plainConfig(command), account);
  return await withStore(command, expect, async (store, config) =>
    work(store.forAccount(account), await settingsOf(store, config, account)),
  );
}

/** Opens the database for a list or a report of one account, or of all: then `account` is undefined. */
export async function withAccounts<Result>(
  command: Command,
  work: (store: Store, account: string | undefined, config: Config) => Promise<Result>,
): Promise<Result> {
  const account = accountFilterOf(command);
  return await withStore(command, 'current', async (store, config) =>
    work(store, account, account === undefined ? config : await settingsOf(store, config, account)),
  );
}

async function settingsOf({ db }: Store, config: Config, account: string): Promise<AccountSettings> {
  const isInSettings = config.accounts.some(({ name }) => name === account);
  return !isInSettings && (await isKnownAccount(db, account)) ? { ...config, account } : configOf(config, account);
}
