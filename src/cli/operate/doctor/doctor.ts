import type { Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { ConfigError, configOf, exchangeByAccount, type Config } from '../../../config/config.ts';
import { programVersion } from '../../../config/version.ts';
import type { Tone } from '../../../reports/formats/document.ts';
import { styled, toned, wrapped } from '../../../reports/formats/terminal/screen.ts';
import { printable } from '../../../reports/formats/text.ts';
import { driverOf, openStore } from '../../../store/open.ts';
import type { Store } from '../../../store/port.ts';
import { accountOrAll } from '../../shared/account.ts';
import { EXIT } from '../../shared/exit.ts';
import { configOptions, plainConfig } from '../../shared/options.ts';
import { screenOf } from '../../shared/screen.ts';
import { rightSettings } from '../config/check.ts';
import { askDaemon } from '../status.ts';
import { writeBundle } from './bundle.ts';
import { checkAccounts, checkClock, checkDatabase } from './database.ts';
import { checkAddress, checkKey, checkWebhook } from './exchange.ts';
import { exitCodeOf, fault, ok, runCheck, warning, type Check, type CheckResult } from './check.ts';
import { checkDisk, checkFiles, checkOps, checkRuntime, checkService } from './machine.ts';

const HELP = `
Looks at the runtime, the settings, the permissions of files, the database and
its mark, free space, the clock, the address of the exchange and its
certificate, the key (one look-up of an id that no order has), receivers of
events (nothing is sent to them), the service manager and the ops endpoint.
Each line says what was found, and what to do. One check that fails stops no
other.

Ends with 0 when all is well, with 1 when a person should look, or with the code
of the gravest fault.

--bundle writes a file for whoever helps you: versions, findings, settings,
counts and the newest events. Ids stand in it as pseudonyms that mean nothing
elsewhere; it holds no keys, addresses, names, reasons or answers of the
exchange.

Examples:
  order-sync doctor
  order-sync doctor --bundle support.json`;

const TONES: Readonly<Record<CheckResult['level'], Tone>> = { ok: 'good', warning: 'warning', fault: 'error' };
/** The most accounts whose keys are tried. */
const MOST_ASKED = 20;
const NAME_WIDTH = 13;
const LEVEL_WIDTH = 9;

interface DoctorOptions {
  readonly json?: boolean;
  readonly bundle?: string;
}

/** `order-sync doctor`. */
export function define(command: Command): void {
  command
    .option('--json', 'print JSON')
    .option('--bundle <file>', 'also write a support file, without secrets; it must be new')
    .addHelpText('after', HELP)
    .action(async ({ json, bundle }: DoctorOptions) => {
      const show = (result: CheckResult) => {
        if (json !== true) process.stdout.write(lineOf(result));
      };
      const results: CheckResult[] = [];
      for await (const result of examine(command)) {
        results.push(result);
        show(result);
      }
      if (bundle !== undefined) {
        const written = await runCheck({
          name: 'bundle',
          run: async () => [await writeBundle(command, results, bundle)],
        });
        results.push(...written);
        for (const result of written) show(result);
      }
      const exitCode = exitCodeOf(results);
      if (json === true) process.stdout.write(`${JSON.stringify({ exitCode, findings: results })}\n`);
      process.exitCode = exitCode;
    });
}

/** Runs every check in its order, and gives what each found. */
async function* examine(command: Command): AsyncGenerator<CheckResult> {
  yield checkRuntime(programVersion());
  yield* await runCheck({ name: 'settings', run: async () => checkSettings(command) });
  const config = readable(command);
  if (config === undefined) return;
  for (const check of checksOf(command, config)) yield* await runCheck(check);
}

function checksOf(command: Command, config: Config): readonly Check[] {
  const clock = systemClock();
  const account = accountOrAll(command, config);
  const names = account === undefined ? config.accounts.map(({ name }) => name) : [account];
  const asked = names.slice(0, MOST_ASKED);
  const baseUrls = new Set(asked.flatMap((name) => exchangeByAccount(config)(name).baseUrl ?? []));
  const daemon = async () => (await askDaemon(config, account))?.daemon ?? undefined;
  // The check `database` reports a database that fails.
  const driver = () => withStore(config, (store) => driverOf(config.database, store, asked)).catch(() => undefined);
  const keyOf = async (name: string) => {
    const result = await checkKey(command, configOf(config, name));
    return [names.length === 1 ? result : { ...result, found: `${name}: ${result.found}` }];
  };
  return [
    { name: 'permissions', run: async () => checkFiles(config) },
    { name: 'database', run: () => withStore(config, (store) => checkDatabase(config, store)) },
    { name: 'accounts', run: () => withStore(config, checkAccounts) },
    { name: 'disk', run: () => checkDisk(config) },
    { name: 'clock', run: () => withStore(config, (store) => checkClock(store, asked, clock)) },
    ...[...baseUrls].map((url): Check => ({ name: 'address', run: (signal) => checkAddress(url, clock, signal) })),
    ...(baseUrls.size === 0 ? [] : asked.map((name): Check => ({ name: 'key', run: () => keyOf(name) }))),
    ...(names.length === asked.length ? [] : [{ name: 'key', run: async () => [othersLeft(names, asked)] }]),
    ...config.webhooks.endpoints.map((endpoint): Check => ({
      name: 'webhook',
      run: (signal) => checkWebhook(endpoint, clock, signal),
    })),
    { name: 'service', run: async () => [checkService((await daemon())?.pid, await driver())] },
    { name: 'ops', run: async (signal) => [await checkOps(config, await daemon(), signal)] },
  ];
}

function othersLeft(names: readonly string[], asked: readonly string[]): CheckResult {
  return ok('key', `${names.length - asked.length} more accounts are not asked: give --account NAME`);
}

async function withStore<Result>(config: Config, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(config.database, systemClock(), { expect: 'any' });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The settings as far as they can be read; undefined where they cannot. */
function readable(command: Command): Config | undefined {
  try {
    return plainConfig(command);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return undefined;
  }
}

function checkSettings(command: Command): readonly CheckResult[] {
  try {
    const { config, warnings } = rightSettings(configOptions(command), false);
    if (warnings.length > 0) return warnings.map((text) => warning('settings', text, 'order-sync config show'));
    return [
      ok('settings', `they are right; accounts: ${config.accounts.length}`, { accounts: config.accounts.length }),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ problem }) => fault('settings', EXIT.config, problem, 'order-sync config check'));
  }
}

function lineOf({ check, level, found, remedy }: CheckResult): string {
  const screen = screenOf();
  const indent = LEVEL_WIDTH + NAME_WIDTH;
  const head = `${toned(TONES[level], level.padEnd(LEVEL_WIDTH), screen)}${check.padEnd(NAME_WIDTH)}`;
  const help =
    remedy === null
      ? ''
      : `\n${' '.repeat(indent)}${styled('dim', wrapped(printable(remedy), screen.width, indent), screen)}`;
  return `${head}${wrapped(printable(found), screen.width, indent)}${help}\n`;
}
