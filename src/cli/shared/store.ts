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
  return await withStoreOf(plainConfig(command), options, work);
}

async function withStoreOf<Result>(
  config: Config,
  options: OpenOptions['expect'] | OpenOptions,
  work: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
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
  const config = plainConfig(command);
  const account = accountOf(command, config);
  if (expect === 'migrate') configOf(config, account);
  return await withStoreOf(config, expect, async (store) =>
    work(store.forAccount(account), await settingsOf(store, config, account)),
  );
}

/** Opens the database for a list or a report of one account, or of all: then `account` is undefined. */
export async function withAccounts<Result>(
  command: Command,
  work: (store: Store, account: string | undefined, config: Config) => Promise<Result>,
  filterOf: typeof accountFilterOf = accountFilterOf,
): Promise<Result> {
  const config = plainConfig(command);
  const account = filterOf(command, config);
  return await withStoreOf(config, 'current', async (store) =>
    work(store, account, account === undefined ? config : await settingsOf(store, config, account)),
  );
}

/**
 * Opens the database for a person's decision about an account, or about each account of the settings; gives the results.
 * Says on stderr where the account stands in no settings of this machine.
 */
export async function withEachAccount<Result>(
  command: Command,
  work: (store: Store, account: string) => Promise<Result>,
): Promise<readonly Result[]> {
  const config = plainConfig(command);
  const account = accountFilterOf(command, config);
  return await withStoreOf(config, 'current', async (store) => {
    if (account !== undefined) {
      await settingsOf(store, config, account);
      if (!isInSettings(config, account))
        process.stderr.write(`the account ${account} stands in no settings of this machine\n`);
    }
    const results: Result[] = [];
    for (const name of account === undefined ? config.accounts.map((one) => one.name) : [account]) {
      results.push(await work(store.forAccount(name), name));
    }
    return results;
  });
}

function isInSettings({ accounts }: Config, account: string): boolean {
  return accounts.some(({ name }) => name === account);
}

async function settingsOf({ db }: Store, config: Config, account: string): Promise<AccountSettings> {
  return !isInSettings(config, account) && (await isKnownAccount(db, account))
    ? { ...config, account }
    : configOf(config, account);
}
