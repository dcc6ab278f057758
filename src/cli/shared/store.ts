import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../base/clock.ts';
import { configOf, type AccountSettings, type Config, ConfigError, loadConfig } from '../../settings/config.ts';
import { isKnownAccount, otherAccounts } from '../../store/tables/accounts.ts';
import type { Store, Database } from '../../store/port.ts';
import { openStore, type OpenOptions } from '../../store/open.ts';
import { accountFilterOf, accountOf } from './account.ts';
import { driversOf } from './extensions.ts';
import { plainConfig, configOptions } from './options.ts';
import { databaseUrl } from '../../settings/database-url.ts';
import { reader } from '../../settings/values.ts';
import { CommandError, EXIT } from './exit.ts';
import { DEFAULT_ACCOUNT } from '../../accounts/rules/name.ts';
import { OTHER_ACCOUNTS_REMEDY } from '../../accounts/problem.ts';
import { quote, shellWord } from '../../base/text.ts';
import { accountWithOrder } from '../../store/orders/orders.ts';

/** Opens the database of the settings while `work` runs. Says on stderr if it has made a new database. */
export async function withStore<Result>(
  command: Command,
  options: OpenOptions['expect'] | OpenOptions,
  work: (store: Store, config: Config) => Promise<Result>,
  given?: Config,
): Promise<Result> {
  const config = given ?? (await plainConfig(command));
  const { database } = config;
  const isNew = database.kind === 'sqlite' && !existsSync(database.path);
  const opening = typeof options === 'string' ? { expect: options } : options;
  const warn = (text: string) => void process.stderr.write(`${text}\n`);
  const store = await openStore(database, systemClock(), { warn, ...opening, drivers: driversOf(command) });
  if (isNew) process.stderr.write(`made a new database: ${database.address}\n`);
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** An account only in the database has the general settings. Throws `ConfigError` if it is unknown, or to `migrate`. */
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

/** For a decision about an account, or each of the settings. Warns on stderr if the settings lack the account. */
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

const FORMS = { sqlite: 'sqlite:PATH', postgres: 'postgres://USER@HOST/DATABASE' } as const;

/** The place that an argument names, reached by the settings. No error quotes the argument: it may hold a password. */
export async function placeOf<Kind extends keyof typeof FORMS>(
  command: Command,
  kind: Kind,
  url: string,
  name: string,
): Promise<Extract<Config['database'], { readonly kind: Kind }>> {
  let problem = `must be ${FORMS[kind]}`;
  try {
    if (reader(databaseUrl)(url).kind === kind)
      return (await configuredPlace(command, url)) as Awaited<ReturnType<typeof placeOf<Kind>>>;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    problem = (error as Error).message;
  }
  throw new CommandError(EXIT.usage, `${name} ${problem}`);
}

/** Values that fit any database, because the settings of workers and standbys may not fit another database. */
const FITTING_ANY = { ORDER_SYNC_WORKERS_INSTANCES: '1', ORDER_SYNC_DATABASE_READ_FROM: 'primary' };

async function configuredPlace(command: Command, url: string): Promise<Config['database']> {
  const { env, ...options } = await configOptions(command);
  const named: NodeJS.ProcessEnv = { ...env, ...FITTING_ANY, ORDER_SYNC_DATABASE_URL: url };
  for (const name of [...Object.keys(FITTING_ANY), 'ORDER_SYNC_DATABASE_URL']) delete named[`${name}_FILE`];
  return loadConfig({ ...options, env: named, requireExchange: false }).database;
}

const MOST_ACCOUNTS = 100;

export async function absentOrder(
  db: Database,
  { account, accounts }: Pick<AccountSettings, 'account' | 'accounts'>,
  externalOrderId: string,
): Promise<CommandError> {
  const named = accounts.map(({ name }) => name);
  const others = named.filter((name) => name !== account);
  const place = others.length === 0 && account === DEFAULT_ACCOUNT ? 'table' : `account ${account}`;
  const other = await accountWithOrder(db, others.slice(0, MOST_ACCOUNTS), externalOrderId);
  const unnamed =
    other === undefined ? await accountWithOrder(db, await otherAccounts(db, named), externalOrderId) : undefined;
  const id = JSON.stringify(externalOrderId);
  if (unnamed !== undefined) {
    const text = `the order ${id} is in the account ${quote(unnamed)}, which is not in the settings, so it is neither sent nor followed`;
    return new CommandError(EXIT.absent, `${text}: ${OTHER_ACCOUNTS_REMEDY}`);
  }
  const advice =
    other === undefined ? placeholderAdvice(externalOrderId) : `; ${other} has one: --account ${shellWord(other)}`;
  return new CommandError(EXIT.absent, `there is no order ${id} in the ${place}${advice}`);
}

/** Printed commands have these words in place of an id. An id may be such a word, so only absent ids are explained. */
function placeholderAdvice(externalOrderId: string): string {
  const isPlaceholder = ['ORDER', 'ID', 'EXTERNAL_ORDER_ID'].includes(externalOrderId);
  return isPlaceholder ? `; write an external order id in place of ${externalOrderId}` : '';
}
