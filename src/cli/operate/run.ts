import type { Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import { createLog } from '../../log.ts';
import { runDaemon } from '../../daemon.ts';
import { explainError } from '../shared/exit.ts';
import { configOptions } from '../shared/options.ts';
import { stopSignal } from '../shared/stop-signal.ts';

/** `order-sync run`: the daemon. */
export function define(command: Command): void {
  command
    .description(
      'runs the daemon: sends pending orders and follows them to their end, with one line per event on stdout: JSON, or text for people on a terminal',
    )
    .addHelpText('after', '\nExample:\n  ORDER_SYNC_EXCHANGE_API_KEY_FILE=/etc/order-sync/key order-sync run')
    .action(async () => {
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
