import type { Command } from 'commander';
import { accountFilterOf } from './account.ts';
import { isKnownAccount } from './tables/accounts.ts';
import { configOf, type AccountSettings, type Config } from '../../settings/config.ts';
import type { Store } from '../../store/port.ts';
import { plainConfig } from '../../cli/shared/options.ts';
import { withStore } from '../../cli/shared/store.ts';
import { accountOf } from '../../cli/shared/account.ts';

/** Throws `ConfigError` if the settings lack the account. With `current`, an account in the database is enough. */
export async function withAccount<Result>(
  command: Command,
  expect: 'current' | 'migrate',
  work: (store: Store, settings: AccountSettings) => Promise<Result>,
): Promise<Result> {
  const config = await plainConfig(command);
  const account = accountOf(command, config);
  if (expect === 'migrate') configOf(config, account);
  const ofAccount = async (store: Store) =>
    await work(store.forAccount(account), await settingsOf(store, config, account));
  return await withStore(command, expect, ofAccount, config);
}

export async function withAccounts<Result>(
  command: Command,
  work: (store: Store, account: string | undefined, config: Config) => Promise<Result>,
  filterOf: typeof accountFilterOf = accountFilterOf,
): Promise<Result> {
  const config = await plainConfig(command);
  const account = filterOf(command, config);
  const ofAccount = async (store: Store) =>
    await work(store, account, account === undefined ? config : await settingsOf(store, config, account));
  return await withStore(command, 'current', ofAccount, config);
}

/** Calls `work` for the chosen account, or for each account of the settings. Warns if the settings lack the account. */
export async function withEachAccount<Result>(
  command: Command,
  work: (store: Store, account: string) => Promise<Result>,
): Promise<readonly Result[]> {
  return await withAccounts(command, async (store, account, config) => {
    if (account !== undefined && !isInSettings(config, account)) {
      process.stderr.write(`the settings of this machine do not name the account ${account}\n`);
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
