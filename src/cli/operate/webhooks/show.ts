import type { Command } from 'commander';
import type { Delivery } from '../../../domain/events/delivery.ts';
import { listDeliveries } from '../../../store/webhooks/deliveries.ts';
import { addListOptions, listText, type ListColumn, type ListOptions } from '../../shared/list.ts';
import { screenOf } from '../../shared/screen.ts';
import { withStore } from '../../shared/store.ts';
import { endpointOf } from './endpoint.ts';

/** `order-sync webhooks show`. */
export function define(command: Command): void {
  command.description(
    'shows the events that an endpoint has refused and that are retried, and its dead letters, the oldest first',
  );
  addListOptions(command.argument('<name>', 'the endpoint'))
    .addHelpText('after', '\nExample:\n  order-sync webhooks show https://shop.example/events')
    .action(async (name: string, options: ListOptions) => {
      const { retrying, deadLetters } = await withStore(command, 'current', async ({ db }, config) => {
        const query = { endpoint: endpointOf(config, name).name, limit: options.limit };
        return {
          retrying: await listDeliveries(db, { ...query, status: 'retrying' }),
          deadLetters: await listDeliveries(db, { ...query, status: 'dead' }),
        };
      });
      if (options.json === true) {
        process.stdout.write(`${JSON.stringify({ retrying, deadLetters }, null, 2)}\n`);
        return;
      }
      const about: readonly ListColumn<Delivery>[] = [
        { label: 'account', of: (row) => row.account },
        { label: 'about', of: (row) => row.kind },
        { label: 'id', of: (row) => row.subject },
        { label: 'status', of: ({ answer }) => (answer === 0 ? 'no answer' : answer) },
      ];
      const ofRetrying: readonly ListColumn<Delivery>[] = [
        { label: 'retrying', of: (row) => row.event_id },
        ...about,
        { label: 'attempts', kind: 'count', of: (row) => row.attempts },
        { label: 'next attempt', kind: 'time', of: (row) => row.next_attempt_at },
      ];
      const ofLetters: readonly ListColumn<Delivery>[] = [
        { label: 'dead letter', of: (row) => row.event_id },
        ...about,
        { label: 'since', kind: 'time', of: (row) => row.since },
      ];
      const text = [
        retrying.length === 0 ? 'nothing is retried\n' : listText(retrying, ofRetrying, screenOf()),
        deadLetters.length === 0 ? 'there is no dead letter\n' : listText(deadLetters, ofLetters, screenOf()),
      ];
      process.stdout.write(text.join('\n'));
    });
}
