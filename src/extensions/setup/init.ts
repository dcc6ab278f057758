import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { systemClock } from '../../base/clock.ts';
import { DEFAULTS, OWN_SETTINGS, SCHEMA_FILE } from '../../base/places.ts';
import { configSources, type ConfigOptions } from '../../settings/config.ts';
import { ownFile } from '../../settings/layers.ts';
import { readValueFile } from '../../settings/settings-file.ts';
import { databaseUrl } from '../../settings/database-url.ts';
import { headerText, reader, secureUrl } from '../../settings/values.ts';
import { openStore } from '../../store/sqlite/store.ts';
import { Dialogue } from '../operate/decision-options.ts';
import { CommandError, EXIT, stopSignal } from '../../cli/shared/exit.ts';
import { configOptions, optionOf } from '../../cli/shared/options.ts';
import { nextSteps } from '../documents/commands/program-name.ts';
import { checkSettings } from './config.ts';

const DATABASE = 'data/order-sync.db';
const HIDDEN = { isHidden: true };
/** Settings that `init` writes: where a variable sets one, that one would go over the file. */
const WRITTEN = ['exchange.baseUrl', 'exchange.apiKey', 'database.url'];

interface InitOptions {
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly database?: string;
  readonly yes?: boolean;
}

/** What `init` makes, all paths absolute. */
interface Plan {
  readonly settingsFile: string;
  readonly baseUrl: string;
  readonly keyFile: string;
  /** The key to write into its file; undefined if the file is there. */
  readonly key: string | undefined;
  readonly databasePath: string;
}

const NEXT = [
  ['probe', 'asks the exchange what its document leaves open, and prints settings for it'],
  ['run', 'sends the orders that your shop inserts into merchant_orders, and follows them'],
  ['orders add --help', 'says how an order is inserted by hand'],
] as const;
const HELP = `
Without options it asks for the address of the exchange, the key, which is not
shown, and the place of the database. It makes ${OWN_SETTINGS} (or the file
that --config names), beside it the file of the key with mode 0600, and the
database. Nothing that is there is replaced.

Examples:
  order-sync init
  order-sync init --base-url https://exchange.example \\
    --api-key-file /etc/order-sync/key --yes
  pass show exchange | order-sync init --base-url https://exchange.example \\
    --api-key-file - --yes`;

export function define(command: Command): void {
  command
    .description('makes the settings, the file of the key and the database, and checks them')
    .option('--base-url <url>', 'address of the exchange', optionOf(reader(secureUrl)))
    .option('--api-key-file <file>', 'file of mode 0600 with the key; - reads the key from standard input')
    .option('--database <file>', `file of the database (default: ${DATABASE})`, optionOf(databaseFile))
    .option('--yes', 'ask nothing')
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      const places = await configOptions(command);
      const plan = await planOf(places, options);
      // What is begun is done in a moment: it is not stopped in the middle.
      stopSignal();
      await make(plan);
      process.stdout.write(madeText(plan));
      checkSettings(places, false);
      process.stdout.write(`\nWhat to do next:\n${nextSteps(NEXT, places.file ?? undefined)}`);
    });
}

/** Gathers what is to be made; asks a person for what the options leave open. Throws before anything is made. */
async function planOf(places: ConfigOptions, options: InitOptions): Promise<Plan> {
  const settingsFile = settingsFileOf(places);
  checkVariables(places);
  const { baseUrl, apiKeyFile, database, yes } = options;
  const isPiped = apiKeyFile === '-';
  const isMade = isPiped || apiKeyFile === undefined;
  const ownKeyFile = join(dirname(settingsFile), `${basename(settingsFile, extname(settingsFile))}.key`);
  const keyFile = isMade ? ownKeyFile : resolve(places.cwd, apiKeyFile);
  if (!isMade) readValueFile(keyFile, 'exchange.apiKey');
  else if (existsSync(keyFile)) throw existing(keyFile, 'use it with --api-key-file, or move it away');
  const paths = { settingsFile, keyFile };
  if (yes !== true && !isPiped && process.stdin.isTTY) {
    using dialogue = new Dialogue();
    return { ...paths, ...(await interview(dialogue, { baseUrl, database, hasKey: !isMade })) };
  }
  if (baseUrl === undefined || apiKeyFile === undefined) {
    throw new CommandError(EXIT.usage, 'there is nobody to ask: give --base-url and --api-key-file');
  }
  const piped = isPiped ? headerText.safeParse(await text(process.stdin)) : undefined;
  if (piped?.success === false) {
    throw new CommandError(EXIT.usage, `the key on standard input ${piped.error.issues[0]?.message}`);
  }
  return { ...paths, baseUrl, key: piped?.data, databasePath: database ?? databaseFile(DATABASE) };
}

export async function interview(
  dialogue: Dialogue,
  known: { readonly baseUrl?: string | undefined; readonly database?: string | undefined; readonly hasKey: boolean },
): Promise<Pick<Plan, 'baseUrl' | 'key' | 'databasePath'>> {
  const baseUrl = known.baseUrl ?? (await dialogue.ask('Address of the exchange: ', reader(secureUrl)));
  const key = known.hasKey
    ? undefined
    : await dialogue.ask('Key of the merchant (not shown): ', reader(headerText), HIDDEN);
  const usual = databaseFile(DATABASE);
  const question = `File of the database [${usual}]: `;
  const databasePath = known.database ?? (await dialogue.ask(question, (given) => databaseFile(given || usual)));
  return { baseUrl, key, databasePath };
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

function databaseFile(given: string): string {
  const place = reader(databaseUrl)(/^(sqlite|postgres|postgresql):/.test(given) ? given : `sqlite:${given}`);
  if (place.kind === 'sqlite') return resolve(place.file);
  throw new Error('must be a file; database.url in the settings names a database of PostgreSQL');
}

/** Makes all of it, or leaves nothing of it behind. */
async function make({ settingsFile, baseUrl, keyFile, key, databasePath }: Plan): Promise<void> {
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
  const settings = { exchange: { baseUrl, apiKeyFile: keyFile }, database: { url: `sqlite:${databasePath}` } };
  file(settingsFile, `${headOf(settingsFile)}${stringify(settings)}`);
  if (key !== undefined) file(keyFile, `${key}\n`);
  folder(databasePath);
  const isThere = existsSync(databasePath);
  if (!isThere) {
    undo.defer(() => ['', '-wal', '-shm', '.mark'].forEach((ending) => rmSync(databasePath + ending, { force: true })));
  }
  await (await openStore(databasePath, systemClock(), { expect: isThere ? 'current' : 'migrate' })).close();
  undo.move();
}

function headOf(settingsFile: string): string {
  const isBeside = dirname(settingsFile) === dirname(SCHEMA_FILE);
  const schema = isBeside ? './schema.json' : pathToFileURL(SCHEMA_FILE).href;
  return `# yaml-language-server: $schema=${schema}
# What differs from ${DEFAULTS}, which describes every setting.
`;
}

function madeText({ settingsFile, keyFile, key, databasePath }: Plan): string {
  const keyLine = key === undefined ? '' : `  ${keyFile}: the key, readable for you alone\n`;
  return `Made:\n  ${settingsFile}: the settings\n${keyLine}  ${databasePath}: the database\n`;
}
