import { fstatSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Option, type Command } from 'commander';
import { createLog } from '../base/log.ts';
import { loadConfig } from '../settings/config.ts';
import { explainError, stopSignal } from './shared/exit.ts';
import { extensionsOf, partsOf, servicesOf } from './shared/extensions.ts';
import { configOptions, wholeNumber } from './shared/options.ts';

const EXAMPLE = `
Examples:
  ORDER_SYNC_EXCHANGE_API_KEY_FILE=/etc/order-sync/key order-sync run`;
const DRY_RUN = `
--dry-run reads the database, asks the exchange nothing, and prints the orders
that would be sent, the invalid ones with the reason, the time that this takes
at the rate limit, and each obstacle. The exit code is 1 if an order is invalid
or would be stopped.
${EXAMPLE}
  order-sync run --dry-run --rows 3`;

export function define(command: Command): void {
  const [dryRun] = extensionsOf(command).flatMap((extension) => extension.dryRun ?? []);
  command.description(
    'runs the daemon: sends pending orders and follows them to their end, with one line per event on stdout: JSON, or text for people on a terminal',
  );
  if (dryRun !== undefined) {
    command
      .option('--dry-run', 'send nothing and write nothing: show what would be sent, and end')
      .addOption(
        new Option('--rows <number>', 'with --dry-run: how many orders of each account to show').argParser(
          wholeNumber(0, 1_000),
        ),
      )
      .option('--json', 'with --dry-run: print JSON');
  }
  command
    .addHelpText('after', dryRun === undefined ? EXAMPLE : DRY_RUN)
    .action(async ({ dryRun: isDry, rows, json }: { dryRun?: boolean; rows?: number; json?: boolean }) => {
      if (isDry === true) return await (await dryRun?.())?.(command, { rows: rows ?? 10, isJson: json === true });
      if (rows !== undefined || json === true) command.error('error: --rows and --json are for --dry-run');
      await run(command);
    });
}

async function run(command: Command): Promise<void> {
  growYoungGeneration(1);
  let log: ReturnType<typeof createLog> | undefined;
  try {
    const { runDaemon } = await import('../daemon.ts');
    const config = loadConfig({ ...(await configOptions(command)), requireExchange: true });
    log = createLog(config.log.level);
    const extensions = extensionsOf(command);
    const [services, parts] = await Promise.all([servicesOf(extensions), partsOf(extensions)]);
    const onReady = () => {
      growYoungGeneration(2);
      process.send?.('ready');
    };
    await runDaemon(config, stopSignal(), onReady, { ...parts, log, services });
  } catch (error) {
    const isInOnePlace = isSameFile(process.stdout.fd, process.stderr.fd);
    log ??= createLog('info');
    // The text on stderr suffices on a terminal, and is necessary if the log is silent.
    if (isInOnePlace && (process.stdout.isTTY || !log.isLevelEnabled('fatal'))) throw error;
    const { code: exitCode, message: cause } = explainError(error);
    log.fatal({ cause, exitCode }, 'order-sync cannot continue');
    if (!isInOnePlace) throw error;
    process.exitCode = exitCode;
  }
}

/** True if both file descriptors lead to one place: a terminal, the journal, or `2>&1`. */
function isSameFile(one: number, other: number): boolean {
  const [{ dev, ino }, second] = [fstatSync(one), fstatSync(other)];
  return dev === second.dev && ino === second.ino;
}

/** Loading modules grows V8's memory for young objects by 30 MB for good, so growth waits until the daemon is ready. */
function growYoungGeneration(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
