import { Option, type Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import { createLog } from '../../log.ts';
import { runDaemon } from '../../daemon.ts';
import { explainError, stopSignal } from '../shared/exit.ts';
import { configOptions, wholeNumber } from '../shared/options.ts';

const HELP = `
--dry-run reads the database and asks the exchange nothing: what would be sent,
what is invalid and why, how long it takes at the limit of the rate, and what
would stop it. It ends with 1 where something is invalid or would be stopped.

Examples:
  ORDER_SYNC_EXCHANGE_API_KEY_FILE=/etc/order-sync/key order-sync run
  order-sync run --dry-run --rows 3`;

export function define(command: Command): void {
  command
    .description(
      'runs the daemon: sends pending orders and follows them to their end, with one line per event on stdout: JSON, or text for people on a terminal',
    )
    .option('--dry-run', 'send nothing and write nothing: show what would be sent, and end')
    .addOption(
      new Option('--rows <number>', 'with --dry-run: show so many orders of each account').argParser(
        wholeNumber(0, 1_000),
      ),
    )
    .option('--json', 'with --dry-run: print JSON')
    .addHelpText('after', HELP)
    .action(async ({ dryRun, rows, json }: { dryRun?: boolean; rows?: number; json?: boolean }) => {
      if (dryRun === true) {
        const { showDryRun } = await import('./dry-run.ts');
        return await showDryRun(command, rows ?? 10, json === true);
      }
      if (rows !== undefined || json === true) command.error('error: --rows and --json are for --dry-run');
      let log: ReturnType<typeof createLog> | undefined;
      try {
        const config = loadConfig({ ...configOptions(command), requireExchange: true });
        log = createLog(config);
        await runDaemon(config, stopSignal(), () => process.send?.('ready'), { log });
      } catch (error) {
        // On a terminal the line on stderr is enough; who reads the log alone has this one.
        if (!process.stdout.isTTY || !process.stderr.isTTY) {
          const { code: exitCode, message: cause } = explainError(error);
          (log ?? createLog({ log: { level: 'info' } })).fatal({ cause, exitCode }, 'order-sync cannot go on');
        }
        throw error;
      }
    });
}
