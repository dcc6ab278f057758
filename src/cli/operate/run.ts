import type { Command } from 'commander';
import { createLog } from '../../log.ts';
import { runDaemon } from '../../daemon.ts';
import { exchangeConfig } from '../shared/options.ts';
import { stopSignal } from '../shared/stop-signal.ts';

/** `order-sync run`: the daemon. */
export function define(command: Command): void {
  command
    .description(
      'runs the daemon: sends pending orders and follows them to their end, with one JSON log line per event on stdout',
    )
    .addHelpText('after', '\nExample:\n  ORDER_SYNC_EXCHANGE_API_KEY_FILE=/etc/order-sync/key order-sync run')
    .action(async () => {
      const config = exchangeConfig(command);
      const log = createLog(config);
      const stopping = stopSignal();
      try {
        await runDaemon(config, stopping, () => process.send?.('ready'), { log });
      } catch (error) {
        log.fatal({ problem: error instanceof Error ? error.message : String(error) }, 'order-sync cannot go on');
        throw error;
      }
    });
}
