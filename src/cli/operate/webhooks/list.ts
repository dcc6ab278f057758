import type { Command } from 'commander';
import type { ReceiverState } from '../../../reports/status/status.ts';
import { readWebhooks } from '../../../store/webhooks/endpoints.ts';
import { addListOptions, printList, type ListColumn, type ListOptions } from '../../shared/list.ts';
import { withStore } from '../../shared/store.ts';

/** `order-sync webhooks list`. */
export function define(command: Command): void {
  command.description('lists the endpoints of the settings, with what waits for each');
  addListOptions(command)
    .addHelpText('after', '\nExample:\n  order-sync webhooks list')
    .action(async (options: ListOptions) => {
      const states = await withStore(command, 'current', async ({ db }, { webhooks }) => {
        return await readWebhooks(db, webhooks.endpoints);
      });
      const columns: readonly ListColumn<ReceiverState>[] = [
        { label: 'endpoint', of: (row) => row.name },
        { label: 'last taken', kind: 'time', rank: 1, of: (row) => row.takenAt },
        { label: 'waiting since', kind: 'time', of: (row) => row.oldestWaiting },
        { label: 'retrying', kind: 'count', of: (row) => row.parked },
        { label: 'dead letters', kind: 'count', of: (row) => row.deadLetters },
        { label: 'failing since', kind: 'time', of: (row) => row.failingSince },
        { label: 'next try', kind: 'time', rank: 2, of: (row) => row.nextTryAt },
        { label: 'cause', of: (row) => row.cause },
      ];
      printList(states, options, columns, 'webhooks.endpoints names no endpoint');
    });
}
