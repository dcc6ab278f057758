import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { takesType } from '../../../domain/events/delivery.ts';
import { feedEventOf, type EventRow } from '../../../domain/events/feed.ts';
import type { WebhookEndpoint } from '../../../config/webhooks.ts';
import { readFeed } from '../../../store/feed.ts';
import { newestEventId } from '../../../store/events.ts';
import type { Store } from '../../../store/port.ts';
import { deliverDeadLetter, listDeliveries } from '../../../store/webhooks/deliveries.ts';
import { accountOf } from '../../shared/account.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { withStore } from '../../shared/store.ts';
import { endpointOf, outcomeText, senderTo } from './endpoint.ts';

/** Dead letters of one call. */
const MOST_AT_ONCE = 10_000;
const PAGE = 100;

interface ResendOptions {
  readonly deadLetter?: readonly number[];
  readonly all?: boolean;
  readonly from?: number;
  readonly json?: boolean;
}

/** `order-sync webhooks resend`. */
export function define(command: Command): void {
  command
    .description('sends dead letters, or the events of an account from one on, once more, with the ids that they had')
    .argument('<name>', 'the endpoint')
    .option('--dead-letter <id...>', 'these dead letters of the account', ids)
    .option('--all', 'all its dead letters, of all accounts')
    .option('--from <id>', 'the events of the account from this one to the newest', (text) => idOf(text))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync webhooks resend https://shop.example/events --all')
    .action(async (name: string, options: ResendOptions) => {
      const ways = [options.deadLetter, options.all, options.from].filter((way) => way !== undefined);
      if (ways.length !== 1) command.error('error: give one of --dead-letter, --all and --from');
      const counts = await withStore(command, 'current', async (store, config) => {
        const endpoint = endpointOf(config, name);
        const rows = wantedRows(store, endpoint, accountOf(command, config), options);
        return await resend(store, endpoint, rows);
      });
      process.stdout.write(`${options.json === true ? JSON.stringify(counts) : countsText(counts)}\n`);
      if (counts.left > 0) process.exitCode = EXIT.look;
    });
}

async function* wantedRows(
  { db }: Store,
  { name: endpoint, events }: WebhookEndpoint,
  account: string,
  { deadLetter, all, from = 0 }: ResendOptions,
): AsyncGenerator<EventRow> {
  if (deadLetter !== undefined || all === true) {
    const letters = await listDeliveries(db, { endpoint, status: 'dead', limit: MOST_AT_ONCE });
    const wanted = letters.filter(
      (one) => all === true || (one.account === account && deadLetter?.includes(one.event_id)),
    );
    const missing = deadLetter?.filter((id) => !wanted.some((one) => one.event_id === id)) ?? [];
    if (missing.length > 0) throw new CommandError(EXIT.absent, `${endpoint} has no dead letter ${missing.join(', ')}`);
    for (const letter of wanted) {
      yield* await readFeed(db, { account: letter.account, afterId: letter.event_id - 1, limit: 1 });
    }
    return;
  }
  const newest = await newestEventId(db, account);
  for (let afterId = from - 1; afterId < newest;) {
    const rows = await readFeed(db, { account, afterId, limit: PAGE });
    yield* rows.filter((row) => row.id <= newest && takesType(events, feedEventOf(row).type));
    afterId = rows.at(-1)?.id ?? newest;
  }
}

function countsText({ taken, left, notTried }: Awaited<ReturnType<typeof resend>>): string {
  const others = notTried < MOST_AT_ONCE ? String(notTried) : `${MOST_AT_ONCE} or more`;
  return `${taken} taken, ${left} not taken${notTried > 0 ? `, ${others} not tried` : ''}`;
}

/** Sends one after the other; where the endpoint takes nothing for now, the others are counted and not tried. */
async function resend(store: Store, endpoint: WebhookEndpoint, rows: AsyncIterable<EventRow>) {
  const clock = systemClock();
  using sender = await senderTo(endpoint);
  const counts = { taken: 0, left: 0, notTried: 0 };
  let isOpen = true;
  for await (const row of rows) {
    if (!isOpen) {
      counts.notTried += 1;
      if (counts.notTried === MOST_AT_ONCE) break;
      continue;
    }
    const outcome = await sender.send(feedEventOf(row));
    if (outcome.kind !== 'taken') {
      counts.left += 1;
      process.stderr.write(`event ${row.id} of ${row.account}: ${outcomeText(outcome)}\n`);
      isOpen = outcome.kind !== 'unavailable';
      continue;
    }
    counts.taken += 1;
    const letter = { endpoint: endpoint.name, account: row.account, eventId: row.id };
    await store
      .forAccount(row.account)
      .writer.write(async (tx) => await deliverDeadLetter(tx, { ...letter, now: clock.now() }));
  }
  return counts;
}

function ids(given: string, before: readonly number[] = []): readonly number[] {
  return [...before, idOf(given)];
}

function idOf(given: string): number {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new InvalidArgumentError('The id of an event is a whole number.');
  return Number(given);
}
