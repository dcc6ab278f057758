import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { systemClock } from '../../base/clock.ts';
import { DEFAULTS, OWN_SETTINGS, SCHEMA_FILE } from '../../base/places.ts';
import { configOf, configSources, loadConfig, type ConfigOptions } from '../../settings/config.ts';
import { ownFile } from '../../settings/layers.ts';
import { readValueFile } from '../../settings/settings-file.ts';
import { reader, secureUrl } from '../../settings/values.ts';
import { openStore } from '../../store/open.ts';
import { commandError, tryKey } from '../api/asking/ask.ts';
import { agrees, Dialogue } from '../operate/decision-options.ts';
import { CommandError, EXIT, explainError, stopSignal } from '../../cli/shared/exit.ts';
import { driversOf } from '../../cli/shared/extensions.ts';
import { configOptions, optionOf } from '../../cli/shared/options.ts';
import { nextSteps } from '../documents/commands/program-name.ts';
import { accountName, DATABASE, databaseOf, interview, pipedKey, SANDBOX } from './answers.ts';
import type { Answers, Ask, Known } from './answers.ts';
import { checkSettings } from './config.ts';

/** Settings that `init` writes: where a variable sets one, that one would go over the file. */
const WRITTEN = ['exchange.baseUrl', 'exchange.apiKey', 'database.url'];
/** Of the statuses of a real exchange nothing is known. */
const SANDBOX_STATUSES = {
  finalStatuses: ['COMPLETED', 'REJECTED'],
  succeededStatuses: ['COMPLETED'],
  openStatuses: ['REQUEST', 'IN_PROGRESS'],
};
const CHECK_TIMEOUT_MS = 5_000;

interface InitOptions {
  readonly baseUrl?: string;
  readonly sandbox?: string | true;
  readonly account?: readonly string[];
  readonly apiKeyFile?: readonly string[];
  readonly database?: Answers['database'];
  readonly intoExisting?: boolean;
  readonly yes?: boolean;
}

/** What `init` makes, all paths absolute. */
interface Plan {
  readonly settingsFile: string;
  readonly settings: object;
  /** Secrets, each in a file of its own. */
  readonly secrets: readonly (readonly [file: string, value: string, what: string])[];
  readonly database: string;
  readonly baseUrl: string;
  readonly isSandbox: boolean;
  readonly intoExisting: boolean;
}

const NEXT = [
  ['probe', 'asks the exchange what its document leaves open, and prints settings for it'],
  ['run', 'sends the orders that your shop inserts into merchant_orders, and follows them'],
  ['orders add --help', 'says how an order is inserted by hand'],
] as const;
const HELP = `
Without options it asks for the address of the exchange, the accounts and their
keys, which are not shown, and the database. It makes ${OWN_SETTINGS} (or the
file that --config names), beside it a file of mode 0600 for each secret, and
the tables of the database. Nothing that is there is replaced.

Then it asks the exchange for an order that does not exist, once for each key,
and says whether the exchange takes the key. If it does not, or does not answer,
a person decides whether the settings are kept. If there is no terminal, they
are kept with --yes alone. The exit code is 77 if the exchange refuses a key,
and 69 if it is out of reach or its answer is not understood.

Several accounts: give --account and --api-key-file once for each, in the same
order. A password in --database is moved into a file.

Examples:
  order-sync init
  order-sync init --sandbox
  order-sync init --base-url https://exchange.example \\
    --api-key-file /etc/order-sync/key --database postgres://shop@127.0.0.1/shop
  pass show exchange | order-sync init --base-url https://exchange.example \\
    --api-key-file - --yes`;

export function define(command: Command): void {
  const url = optionOf(reader(secureUrl));
  const names = (given: string, before: readonly string[] = []) => [...before, optionOf(accountName)(given)];
  const files = (given: string, before: readonly string[] = []) => [...before, given];
  command
    .description(
      'makes the settings, the files of the keys and the database, and asks the exchange whether it takes the keys',
    )
    .option('--base-url <url>', 'address of the exchange', url)
    .option('--sandbox [url]', `settings for the sandbox exchange (${SANDBOX.url} unless given)`, url)
    .option('--account <name>', 'an account with a key of its own; may be repeated', names)
    .option(
      '--api-key-file <file>',
      'file of mode 0600 with the key; - reads it from standard input; may be repeated',
      files,
    )
    .option('--database <place>', `file, or postgres://USER@HOST/DATABASE (default: ${DATABASE})`, optionOf(databaseOf))
    .option('--into-existing', 'make the tables in a database that has those of another program')
    .option('--yes', 'ask nothing, and keep the settings whatever the exchange answers')
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      const places = await configOptions(command);
      const plan = await planOf(places, options);
      // What is begun is done in a moment: it is not stopped in the middle.
      stopSignal();
      await using undo = await make(plan, places, command);
      const refusal = plan.isSandbox ? undefined : await refusalOf(command, places);
      if (refusal !== undefined) await keepAnyway(refusal, options.yes === true);
      undo.move();
      process.stdout.write(madeText(plan, refusal === undefined));
      checkSettings(places, false);
      process.stdout.write(`\nWhat to do next:\n${nextSteps(stepsAfter(plan), places.file ?? undefined)}`);
    });
}

/** Gathers what is to be made; asks a person for what the options leave open. Throws before anything is made. */
async function planOf(places: ConfigOptions, options: InitOptions): Promise<Plan> {
  const settingsFile = settingsFileOf(places);
  checkVariables(places);
  const { account, apiKeyFile, yes } = options;
  const isPiped = apiKeyFile?.includes('-') === true;
  const keyFiles = isPiped ? undefined : apiKeyFile?.map((file) => resolve(places.cwd, file));
  for (const file of keyFiles ?? []) readValueFile(file, 'exchange.apiKey');
  const count = Math.max(1, account?.length ?? 1);
  if (apiKeyFile !== undefined && apiKeyFile.length !== count) {
    throw new CommandError(EXIT.usage, `give --api-key-file once for each account: ${count} times`);
  }
  const isAsked = yes !== true && !isPiped && process.stdin.isTTY;
  const sandbox = options.sandbox === true ? SANDBOX.url : options.sandbox;
  const database = options.database ?? (isAsked ? undefined : databaseOf(DATABASE));
  const keys = isPiped ? [await pipedKey()] : keyFiles && [];
  const known: Known = { baseUrl: options.baseUrl, sandbox, accounts: account, keys, database };
  using dialogue = isAsked ? new Dialogue() : undefined;
  const ask: Ask = async (...asked) => {
    if (dialogue !== undefined) return await dialogue.ask(...asked);
    const message = 'there is no terminal to ask at: give --base-url and --api-key-file, or --sandbox';
    throw new CommandError(EXIT.usage, message);
  };
  const plan = planFor(settingsFile, keyFiles, await interview(ask, known));
  return { ...plan, intoExisting: options.intoExisting === true };
}

function planFor(settingsFile: string, keyFiles: readonly string[] | undefined, answers: Answers) {
  const { baseUrl, isSandbox, accounts, keys, database } = answers;
  const own = join(dirname(settingsFile), basename(settingsFile, extname(settingsFile)));
  const keyFileOf = (name?: string) => `${own}${name === undefined ? '' : `-${name}`}.key`;
  const filesOfKeys = keyFiles ?? (accounts.length === 0 ? [keyFileOf()] : accounts.map(keyFileOf));
  const passwordFile = `${own}.password`;
  const secrets = [
    ...keys.map((key, index) => [filesOfKeys[index] ?? '', key, 'the key'] as const),
    ...(database.password === undefined ? [] : [[passwordFile, database.password, 'the password'] as const]),
  ];
  const taken = secrets.find(([file]) => existsSync(file));
  if (taken !== undefined) throw existing(taken[0], 'use it with --api-key-file, or move it away');
  const [apiKeyFile] = filesOfKeys;
  const settings = {
    exchange: { baseUrl, ...(accounts.length === 0 && { apiKeyFile }) },
    database: {
      url: database.url,
      ...(database.password !== undefined && { passwordFile }),
      ...(!isFile(database.url) && { marks: resolve('data/order-sync-marks.db') }),
    },
    ...(isSandbox && { follow: SANDBOX_STATUSES }),
    ...(accounts.length > 0 && {
      accounts: Object.fromEntries(accounts.map((name, at) => [name, { exchange: { apiKeyFile: filesOfKeys[at] } }])),
    }),
  };
  return { settingsFile, settings, secrets, database: database.url, isSandbox, baseUrl };
}

function isFile(url: string): boolean {
  return url.startsWith('sqlite:');
}

function settingsFileOf(places: ConfigOptions): string {
  const path = ownFile(places);
  if (path === null) throw new CommandError(EXIT.usage, 'give --config with the file to make');
  if (existsSync(path)) throw existing(path, 'edit it, or give --config with another file');
  return path;
}

function existing(path: string, advice: string): CommandError {
  return new CommandError(EXIT.config, `${path} is there already and is not replaced: ${advice}; nothing was made`);
}

function checkVariables(places: ConfigOptions): void {
  const [over] = configSources({ ...places, file: null }).filter(
    ({ setting, source }) => WRITTEN.includes(setting) && source !== 'default',
  );
  if (over === undefined) return;
  const message = `${over.source} is set in the environment and would go over the file: unset it first; nothing was made`;
  throw new CommandError(EXIT.config, message);
}

/** Makes all of it. Disposing of the result leaves nothing of it behind but tables in a database of PostgreSQL. */
async function make(
  { settingsFile, settings, secrets, intoExisting }: Plan,
  places: ConfigOptions,
  command: Command,
): Promise<AsyncDisposableStack> {
  await using undo = new AsyncDisposableStack();
  const folder = (path: string) => {
    const made = mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (made !== undefined) undo.defer(() => rmSync(made, { recursive: true, force: true }));
  };
  const file = (path: string, content: string) => {
    folder(path);
    const made = openSync(path, 'wx', 0o600);
    // Also where there is no room for all of it.
    undo.defer(() => rmSync(path, { force: true }));
    writeFileSync(made, content);
    closeSync(made);
  };
  // The settings first: of two at once one fails here, before it could take the database of the other away.
  file(settingsFile, `${headOf(settingsFile)}${stringify(settings)}`);
  for (const [path, value] of secrets) file(path, `${value}\n`);
  const { database } = loadConfig({ ...places, requireExchange: false });
  const path = database.kind === 'sqlite' ? database.path : database.marks;
  folder(path);
  const isThere = existsSync(path);
  if (!isThere) {
    undo.defer(() =>
      ['', '-wal', '-shm', '.mark', '.lock'].forEach((ending) => rmSync(path + ending, { force: true })),
    );
  }
  const expect = isThere && database.kind === 'sqlite' ? 'current' : 'migrate';
  await (await openStore(database, systemClock(), { expect, intoExisting, drivers: driversOf(command) })).close();
  return undo.move();
}

/** Asks the exchange with each key. Returns why one is of no use, or undefined. */
async function refusalOf(command: Command, places: ConfigOptions): Promise<CommandError | undefined> {
  const config = loadConfig({ ...places, requireExchange: true });
  for (const { name } of config.accounts) {
    const { exchange, ...account } = configOf(config, name);
    const ofAccount = config.accounts.length === 1 ? '' : `${name}: `;
    try {
      const result = await tryKey(command, { ...account, exchange: { ...exchange, timeout: CHECK_TIMEOUT_MS } });
      if (result.kind !== 'ok' && result.kind !== 'refused') throw commandError(result);
    } catch (error) {
      const { code, message } = explainError(error);
      return new CommandError(code, `${ofAccount}${message}`);
    }
  }
  return undefined;
}

/** Says what the exchange answered. Throws `CommandError` unless the settings are kept all the same. */
async function keepAnyway({ exitCode, message }: CommandError, isDecided: boolean): Promise<void> {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
  if (isDecided) return;
  if (!process.stdin.isTTY)
    throw new CommandError(exitCode, 'nothing was made; give --yes to keep the settings all the same');
  if (!(await agrees('Keep it anyway? (y/N) '))) throw new CommandError(exitCode, 'nothing was made');
}

function headOf(settingsFile: string): string {
  const isBeside = dirname(settingsFile) === dirname(SCHEMA_FILE);
  const schema = isBeside ? './schema.json' : pathToFileURL(SCHEMA_FILE).href;
  return `# yaml-language-server: $schema=${schema}
# What differs from ${DEFAULTS}, which describes every setting.
`;
}

function madeText({ settingsFile, secrets, database, isSandbox }: Plan, isTaken: boolean): string {
  const lines = [
    [settingsFile, 'the settings'],
    ...secrets.map(([file, , what]) => [file, `${what}, readable for you alone`]),
    [database.replace('sqlite:', ''), 'the database'],
  ];
  const answer = isTaken && !isSandbox ? 'The exchange takes the key.\n' : '';
  return `Made:\n${lines.map(([place, what]) => `  ${place}: ${what}\n`).join('')}${answer}`;
}

function stepsAfter({ isSandbox, baseUrl }: Plan): Parameters<typeof nextSteps>[0] {
  if (!isSandbox) return NEXT;
  const port = new URL(baseUrl).port;
  return [
    [`sandbox --port ${port}`, 'runs the exchange, if it does not run yet, in a terminal of its own'],
    ...NEXT.slice(1),
  ];
}
