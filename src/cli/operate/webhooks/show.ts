import type { Command } from 'commander';
import { listDeadLetters, listParked } from '../../../store/webhooks/parked.ts';
import { addListOptions, listText, type ListColumn, type ListOptions } from '../../shared/list.ts';
import { screenOf } from '../../shared/screen.ts';
import { withStore } from '../../shared/store.ts';
import { endpointOf } from './endpoint.ts';

/** `order-sync webhooks show`. */
export function define(command: Command): void {
  command.description('shows the orders that an endpoint has parked, and its dead letters, the oldest first');
  addListOptions(command.argument('<name>', 'the endpoint'))
    .addHelpText('after', '\nExample:\n  order-sync webhooks show https://shop.example/events')
    .action(async (name: string, options: ListOptions) => {
      const { parked, deadLetters } = await withStore(command, 'current', async ({ db }, config) => {
        const query = { endpoint: endpointOf(config, name).name, limit: options.limit };
        return { parked: await listParked(db, query), deadLetters: await listDeadLetters(db, query) };
      });
      if (options.json === true) {
        process.stdout.write(`${JSON.stringify({ parked, deadLetters }, null, 2)}\n`);
        return;
      }
      const ofParked: readonly ListColumn<(typeof parked)[number]>[] = [
        { label: 'account', of: (row) => row.account },
        { label: 'about', of: (row) => row.kind },
        { label: 'id', of: (row) => row.subject },
        { label: 'from event', of: (row) => row.from_event_id },
        { label: 'status', of: ({ status }) => (status === 0 ? 'no answer' : status) },
        { label: 'tries', kind: 'count', of: (row) => row.tries },
        { label: 'next try', kind: 'time', of: (row) => row.next_try_at },
      ];
      const ofLetters: readonly ListColumn<(typeof deadLetters)[number]>[] = [
        { label: 'dead letter', of: (row) => row.event_id },
        { label: 'account', of: (row) => row.account },
        { label: 'status', of: ({ status }) => (status === 0 ? 'no answer' : status) },
        { label: 'since', kind: 'time', of: (row) => row.at },
      ];
      const text = [
        parked.length === 0 ? 'nothing is parked\n' : listText(parked, ofParked, screenOf()),
        deadLetters.length === 0 ? 'there is no dead letter\n' : listText(deadLetters, ofLetters, screenOf()),
      ];
      process.stdout.write(text.join('\n'));
    });
}
