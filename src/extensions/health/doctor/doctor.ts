import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { accountOrAll } from '../../commands/account.ts';
import { settingsProblems } from '../../operate/rules/problems.ts';
import { systemClock } from '../../../base/clock.ts';
import { ConfigError, configOf, exchangeByAccount, type Config } from '../../../settings/config.ts';
import type { Store } from '../../../store/port.ts';
import { programVersion } from '../../../base/version.ts';
import { type Tone, styled, toned, wrapped } from '../../../cli/shared/terminal.ts';
import { printable } from '../../../base/words.ts';
import { EXIT, CommandError } from '../../../cli/shared/exit.ts';
import { webhooksSettings } from '../../webhooks/settings.ts';
import { configOptions, plainConfig } from '../../../cli/shared/options.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { rightSettings } from '../../setup/config.ts';
import { askDaemon } from '../status/command.ts';
import { checkAccounts, checkClock, checkDatabase } from './database.ts';
import * as machine from './machine.ts';
import { exitCodeOf, fault, ofProblem, ok, runCheck, warning, type Check, type CheckResult } from './check.ts';
import { bundledDaemon, bundledEvent, bundledOverview, bundledSetting, type Pseudonym } from '../status/bundle.ts';
import { overviewFor } from '../tables/overview.ts';
import { withStore } from '../../../cli/shared/store.ts';
import { newestEvents } from '../../feed/tables/events.ts';
import { configSources } from '../../setup/sources.ts';

const HELP = `
Checks the runtime, the settings, the permissions of files, the database and its
mark, free space, the clock, the address and the certificate of the exchange,
the key (with one look-up of an id that no order has), the receivers of events
(nothing is sent to them), the service manager, the ops endpoint and the API.
After a fault in the settings or the database, checks that need them do not run.

Exit codes: 0 all is well, 1 a person should look, or the code of the gravest
fault.

--bundle writes a file for the people who help you: versions, findings,
settings, counts and the newest events. Pseudonyms replace all ids. The file
has no keys, addresses, names, reasons or answers of the exchange.

Examples:
  order-sync doctor
  order-sync doctor --bundle support.json`;

const TONES: Readonly<Record<CheckResult['level'], Tone>> = { ok: 'good', warning: 'warning', fault: 'error' };
const MOST_ASKED = 20;
const NAME_WIDTH = 13;
const LEVEL_WIDTH = 9;

export function define(command: Command): void {
  command
    .option('--json', 'print JSON')
    .option('--bundle <file>', 'also write a support file without secrets; the file must not exist yet')
    .addHelpText('after', HELP)
    .action(async ({ json, bundle }: { json?: boolean; bundle?: string }) => {
      const results: CheckResult[] = [];
      for await (const result of examine(command, results, bundle)) {
        results.push(result);
        if (json !== true) process.stdout.write(lineOf(result));
      }
      const exitCode = exitCodeOf(results);
      if (json === true) process.stdout.write(`${JSON.stringify({ exitCode, findings: results })}\n`);
      process.exitCode = exitCode;
    });
}

async function* examine(command: Command, results: readonly CheckResult[], bundle: string | undefined) {
  yield machine.checkRuntime(programVersion());
  yield* await runCheck(['settings', () => checkSettings(command)]);
  const config = await plainConfig(command).catch((error: unknown) => {
    if (!(error instanceof Error && error.cause instanceof ConfigError)) throw error;
    return undefined;
  });
  if (config !== undefined) yield* runChecks(checksOf(command, config));
  if (bundle === undefined) return;
  yield* await runCheck(['bundle', async () => [await writeBundle(command, results, bundle)]]);
}

async function* runChecks(checks: readonly Check[]): AsyncGenerator<CheckResult> {
  const left = new Set<string>();
  let isRead = true;
  for (const check of checks) {
    const [name, , needsDatabase = false] = check;
    if (!isRead && needsDatabase) {
      left.add(name);
      continue;
    }
    const found = await runCheck(check);
    yield* found;
    isRead &&= !found.some((one) => one.check === 'database' && one.level === 'fault');
  }
  if (left.size === 0) return;
  const names = [...left].join(', ');
  const remedy = 'mend the database, then run order-sync doctor again';
  yield warning('database', `not checked without the database: ${names}`, remedy);
}

function checksOf(command: Command, config: Config): readonly Check[] {
  const clock = systemClock();
  const account = accountOrAll(command, config);
  const names = account === undefined ? config.accounts.map(({ name }) => name) : [account];
  const asked = names.slice(0, MOST_ASKED);
  const othersLeft = names.length - asked.length;
  const left = `the keys of ${othersLeft} more accounts were not checked: use --account NAME`;
  const baseUrls = new Set(asked.flatMap((name) => exchangeByAccount(config)(name).baseUrl ?? []));
  // On PostgreSQL, checks that ask the daemon read its address from the database.
  const needsDatabase = config.database.kind === 'postgres';
  const daemon = async () => (await askDaemon(command, config, account))?.daemon ?? undefined;
  const inStore = <Result>(read: (store: Store) => Promise<Result>) => withStore(command, 'any', read, config);
  const accounts = async () => {
    const status = await askDaemon(command, config, undefined);
    return await inStore((store) => checkAccounts(store, config, status?.overview));
  };
  const newSettings = async () =>
    settingsProblems((await daemon())?.changedSettings).map((one) => ofProblem('settings', one));
  const driver = () => inStore((store) => store.driverOf(asked)).catch(() => undefined);
  const { endpoints } = webhooksSettings.of(config).webhooks;
  const keyOf = async (name: string) => {
    const result = await machine.checkKey(command, configOf(config, name));
    return [names.length === 1 ? result : { ...result, found: `${name}: ${result.found}` }];
  };
  return [
    ['permissions', async () => machine.checkFiles(config)],
    ['database', () => inStore((store) => checkDatabase(config, store))],
    ['accounts', accounts, true],
    ['disk', () => machine.checkDisk(config)],
    ['clock', () => inStore((store) => checkClock(store, asked, clock)), true],
    ...[...baseUrls].map((url): Check => ['address', (signal) => machine.checkAddress('address', url, signal)]),
    ...(baseUrls.size === 0 ? [] : asked.map((name): Check => ['key', () => keyOf(name), needsDatabase])),
    ...(othersLeft === 0 ? [] : [['key', async () => [ok('key', left)]] as const]),
    ...endpoints.map(({ url, allowPrivate }): Check => {
      return ['webhook', (signal) => machine.checkAddress('webhook', url, signal, !allowPrivate)];
    }),
    ['service', async () => [machine.checkService((await daemon())?.pid, (await driver())?.name)], needsDatabase],
    ['settings', newSettings, needsDatabase],
    ['ops', async (signal) => [await machine.checkOps(config, await daemon(), signal)], needsDatabase],
    ['api', async (signal) => machine.checkApi(config, await daemon(), signal), needsDatabase],
  ];
}

async function checkSettings(command: Command): Promise<readonly CheckResult[]> {
  try {
    const { config, warnings } = rightSettings(await configOptions(command), false);
    if (warnings.length > 0) return warnings.map((text) => warning('settings', text, 'order-sync config show'));
    const accounts = config.accounts.length;
    return [ok('settings', `the settings are valid; accounts: ${accounts}`, { accounts })];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ problem }) => fault('settings', EXIT.config, problem, 'order-sync config check'));
  }
}

function lineOf({ check, level, found, remedy }: CheckResult): string {
  const screen = screenOf();
  const indent = LEVEL_WIDTH + NAME_WIDTH;
  const head = `${toned(TONES[level], level.padEnd(LEVEL_WIDTH), screen)}${check.padEnd(NAME_WIDTH)}`;
  const textOf = (text: string) => wrapped(printable(text), screen.width, indent);
  const help = remedy === null ? '' : `\n${' '.repeat(indent)}${styled('dim', textOf(remedy), screen)}`;
  return `${head}${textOf(found)}${help}\n`;
}

/** Writes the support file, mode 0600. Throws `CommandError` if the file exists or cannot be written. */
async function writeBundle(command: Command, results: readonly CheckResult[], file: string): Promise<CheckResult> {
  // No person can reverse the pseudonyms, because the key is not stored.
  const key = randomBytes(32);
  const pseudonym: Pseudonym = (kind, id) =>
    `${kind}-${createHmac('sha256', key).update(`${kind}\0${id}`).digest('hex').slice(0, 12)}`;
  const content = {
    madeAt: systemClock().now().toISOString(),
    version: programVersion(),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    // `found` and `remedy` are omitted, because their texts may name hosts, files and accounts.
    findings: results.map(({ check, level, exitCode, facts = {} }) => ({ check, level, exitCode, facts })),
    ...(await contentOf(command, pseudonym)),
  };
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const message = isThere ? `${file} exists already; name a new file` : `${file} cannot be written`;
    throw new CommandError(isThere ? EXIT.usage : EXIT.disk, message, { cause: error });
  }
  return ok('bundle', `${file} is written: look through it before you send it`);
}

async function contentOf(command: Command, pseudonym: Pseudonym): Promise<object> {
  try {
    const config = await plainConfig(command);
    const settings = configSources(await configOptions(command)).map((one) => bundledSetting(one, pseudonym));
    const daemon = (await askDaemon(command, config, undefined))?.daemon ?? null;
    const content = async ({ db }: Store) => {
      const overview = await overviewFor(db, config, undefined, systemClock().now());
      const events = await newestEvents(db, undefined, 100);
      return {
        database: config.database.kind,
        settings,
        daemon: daemon && bundledDaemon(daemon, pseudonym),
        overview: bundledOverview(overview, pseudonym),
        events: events.map((one) => bundledEvent(one, pseudonym)),
      };
    };
    return await withStore(command, 'current', content, config);
  } catch {
    return { database: null, settings: null, daemon: null, overview: null, events: null };
  }
}
