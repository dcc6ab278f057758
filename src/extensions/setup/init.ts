import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Option, type Command } from 'commander';
import { stringify } from 'yaml';
import { systemClock } from '../../base/clock.ts';
import { DEFAULTS, OWN_SETTINGS, SCHEMA_FILE } from '../../base/places.ts';
import { configOf, loadConfig, type ConfigOptions } from '../../settings/config.ts';
import { reader, secureUrl } from '../../settings/values.ts';
import { openStore } from '../../store/open.ts';
import { commandError, tryKey } from '../api/asking/ask.ts';
import { agrees, Dialogue } from '../operate/decision-options.ts';
import { CommandError, EXIT, explainError, stopSignal } from '../../cli/shared/exit.ts';
import { configOptions, optionOf } from '../../cli/shared/options.ts';
import { nextSteps } from '../commands/print.ts';
import { checkSettings } from './config.ts';
import { DATABASE, placeText, planOf, SANDBOX, type InitOptions, type Plan } from './plan.ts';

const CHECK_TIMEOUT_MS = 5_000;
/** The most times that a person may type an address and keys. */
const TRIES = 3;
const PROBE = ['probe', 'asks the exchange what its document leaves open, and prints the settings that fit'] as const;
const AGAIN = [
  'doctor',
  'asks the exchange again, after you have put the right key into its file, or the right address into the settings',
] as const;
const CHECK = ['doctor', 'checks the key, after the daemon that runs now has ended'] as const;
const START = 'starts the sandbox exchange: leave it running in a terminal of its own';
const NEXT = [
  ['run', 'sends the orders that your shop inserts into merchant_orders, and follows them'],
  ['orders add --help', 'says how an order is inserted by hand'],
] as const;
const HELP = `
Without options it asks for the address of the exchange, the accounts and their
keys, which are not shown, and the database. It makes ${OWN_SETTINGS} (or the
file that --config names), beside it a file of mode 0600 for each secret, and
the tables of the database, which is ${DATABASE} in the working folder
unless you name another. Existing files are never replaced.

Then it asks the exchange for an order that does not exist, with key after key.
If a key is refused (exit code 77) or no answer can be read (69), a person
types another address and key, up to three times in all, or decides whether the
settings are kept. Without a terminal, only --yes keeps them.

Examples:
  order-sync init
  order-sync init --sandbox
  pass show exchange | order-sync init --base-url https://exchange.example \\
    --api-key-file - --database postgres://shop@127.0.0.1/shop`;

export function define(command: Command): void {
  const url = optionOf(reader(secureUrl));
  const sandbox = new Option('--sandbox [url]', 'use the sandbox as the exchange').preset(SANDBOX.url);
  command
    .description('makes the settings, the files of the keys and the database, and tries the keys at the exchange')
    .option('--base-url <url>', 'address of the exchange', url)
    .addOption(sandbox.argParser(url))
    .option('--api-key-file <file>', 'file of mode 0600 with the key; - reads the key from standard input')
    .option('--database <place>', `file, or postgres://USER@HOST/DATABASE (default: ${DATABASE})`, optionOf(placeText))
    .option('--into-existing', 'make the tables even if the database has tables of another program')
    .option('--yes', 'ask nothing, and keep the settings whatever the exchange answers')
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      const places = await configOptions(command);
      let plan = await planned(places, options);
      // From here a signal does not end the process, because half a set-up would remain.
      stopSignal();
      for (let tries = 1; !(await isSetUp(command, places, plan, { ...options, isLast: tries >= TRIES })); tries += 1)
        plan = await planned(places, { database: plan.place, intoExisting: plan.intoExisting });
    });
}

/** Returns false if a person wants to type another address and key. The files of `plan` are removed then. */
async function isSetUp(command: Command, places: ConfigOptions, plan: Plan, how: InitOptions & { isLast: boolean }) {
  await using undo = await make(plan, places);
  const { refusal, unchecked } = await tryKeys(command, places);
  // A sandbox that is down is no error, because a person may start the sandbox later.
  const isSandboxDown = plan.isSandbox && refusal?.exitCode === EXIT.unavailable;
  if (refusal !== undefined && !isSandboxDown && !(await isKept(refusal, how))) return false;
  undo.move();
  const checked = refusal !== undefined ? '' : unchecked.length > 0 ? uncheckedText(unchecked) : ACCEPTED;
  process.stdout.write(madeText(plan) + checked);
  const isRight = refusal === undefined || isSandboxDown;
  if (isRight) checkSettings(places, false);
  const { port } = new URL(plan.settings.exchange.baseUrl);
  const start = isSandboxDown ? [[`sandbox --port ${port}`, START] as const] : plan.isSandbox ? [] : [PROBE];
  const again = !isRight ? [AGAIN] : unchecked.length > 0 ? [CHECK] : [];
  const steps = [...again, ...start, ...NEXT];
  process.stdout.write(`\nWhat to do next:\n${nextSteps(steps, places.file ?? undefined)}`);
  return true;
}

async function planned(places: ConfigOptions, options: InitOptions): Promise<Plan> {
  if (options.yes === true || options.apiKeyFile === '-' || !process.stdin.isTTY)
    return await planOf(places, { database: placeText(DATABASE), ...options });
  using dialogue = new Dialogue();
  return await planOf(places, options, (...asked) => dialogue.ask(...asked));
}

/** Makes files, folders and tables. Disposing of the result removes them, except tables in PostgreSQL. */
async function make({ settingsFile, settings, secrets, intoExisting }: Plan, places: ConfigOptions) {
  await using undo = new AsyncDisposableStack();
  const folder = (path: string) => {
    const made = mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (made !== undefined) undo.defer(() => rmSync(made, { recursive: true, force: true }));
  };
  const file = (path: string, content: string) => {
    folder(path);
    const made = openSync(path, 'wx', 0o600);
    // The removal is deferred before the write, because the write may fail on a full disk.
    undo.defer(() => rmSync(path, { force: true }));
    writeFileSync(made, content);
    closeSync(made);
  };
  // Settings are written first, so that of two concurrent runs one fails here and leaves the database unchanged.
  const isBesideSchema = dirname(settingsFile) === dirname(SCHEMA_FILE);
  const head = `# yaml-language-server: $schema=${isBesideSchema ? './schema.json' : pathToFileURL(SCHEMA_FILE).href}
# The settings that differ from ${DEFAULTS}, which describes every setting.
`;
  file(settingsFile, `${head}${stringify(settings)}`);
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
  await (await openStore(database, systemClock(), { expect, intoExisting })).close();
  return undo.move();
}

/** Tries the keys until one fails. `unchecked`: accounts of a daemon, which asks with the key of its own settings. */
async function tryKeys(command: Command, places: ConfigOptions) {
  const config = loadConfig({ ...places, requireExchange: true });
  const unchecked: string[] = [];
  for (const { name } of config.accounts) {
    const { exchange, ...account } = configOf(config, name);
    const ofAccount = config.accounts.length === 1 ? '' : `${name}: `;
    try {
      const result = await tryKey(command, { ...account, exchange: { ...exchange, timeout: CHECK_TIMEOUT_MS } });
      if (!result.isAlone) unchecked.push(name);
      else if (result.kind !== 'ok' && result.kind !== 'refused') throw commandError(result);
    } catch (error) {
      const { code, message } = explainError(error);
      return { refusal: new CommandError(code, `${ofAccount}${message}`), unchecked };
    }
  }
  return { unchecked };
}

const ACCEPTED = 'The exchange accepts the key.\n';
const uncheckedText = (accounts: readonly string[]) =>
  `The key was not checked, because a daemon with settings of its own drives ${accounts.join(', ')}.\n`;

/** Asks a person if the plan is kept. Returns false for another try. Throws `CommandError` if nothing is kept. */
async function isKept({ exitCode, message }: CommandError, { yes, isLast }: Parameters<typeof isSetUp>[3]) {
  process.stderr.write(`${message}\n`);
  if (yes !== true) {
    if (!process.stdin.isTTY)
      throw new CommandError(exitCode, 'nothing was made; give --yes to keep the settings all the same');
    if (!isLast && (await agrees('Type another address or key? (Y/n) '))) return false;
    if (!(await agrees('Keep the settings and the key all the same? (y/N) ')))
      throw new CommandError(exitCode, 'nothing was made');
  }
  process.exitCode = exitCode;
  return true;
}

function madeText({ settingsFile, settings, secrets, isDatabaseThere }: Plan): string {
  const files = [...secrets.keys()].map((file) => `  ${file}: a secret that only you can read\n`);
  const used = isDatabaseThere ? 'Used:\n' : '';
  const database = `${used}  ${settings.database.url.replace('sqlite:', '')}: the database\n`;
  return `Made:\n  ${settingsFile}: the settings\n${files.join('')}${database}`;
}
