import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { feedEventOf, type FeedEvent } from '../../../src/extensions/feed/event.ts';
import { readFeed } from '../../../src/extensions/feed/tables/events.ts';
import { accountsBehind } from '../../../src/extensions/webhooks/tables/endpoints.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { placeOf } from '../../support/postgres-store.ts';
import { testProcesses } from '../../support/program-processes.ts';
import { echo, record, scriptedExchange } from '../../support/scripted-exchange.ts';
import { endpointAt, webhookReceiver, type Receiver } from '../../support/webhooks.ts';

const ACCOUNTS = ['one', 'two', 'three', 'four'];
/** Few enough that the events of all accounts are under way at the same time. */
const ORDERS = ['a', 'b'];
const LONG = { timeout: 60_000 };

/** Real workers on a database of PostgreSQL that share four accounts and send their events to one receiver. */
async function workers(receiver: Receiver) {
  const database = await newPostgresDatabase();
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  exchange.answer = (request) =>
    request.method === 'POST'
      ? echo(request, { id: `p-${String(request.headers['x-api-key'])}-${request.externalOrderId}` })
      : record(request.externalOrderId, {
          id: `o-${String(request.headers['x-api-key'])}-${request.externalOrderId}`,
        });
  const file = join(temporaryFolder(), 'accounts.yaml');
  const accounts = ACCOUNTS.map((name) => `  ${name}: {exchange: {apiKey: ${name}-key}}\n`).join('');
  writeFileSync(file, `accounts:\n${accounts}`, { mode: 0o600 });
  const on = await testProcesses(
    {},
    {
      ORDER_SYNC_CONFIG: file,
      ORDER_SYNC_DATABASE_URL: database.url,
      ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
      ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify([endpointAt(receiver)]),
    },
  );
  const store = await openStore(placeOf(database.url), systemClock(), { expect: 'current' });
  onTestFinished(() => store.close());
  const merchant = openMerchant(database);
  const insert = merchant.prepare(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency) values (?, ?, '1.5', 'BTC', 'EUR')`,
  );
  return {
    store,
    start: () => on.start(['run']),
    insert(when: string) {
      for (const account of ACCOUNTS) for (const order of ORDERS) insert.run(account, `${order}-${when}`);
    },
    /** The accounts that have events after the cursor of the receiver. */
    behind: async () => await accountsBehind(store.db, { endpoint: 'shop', from: '', to: '~' }),
    /** How many accounts each worker drives. */
    async shares() {
      const { rows } = await sql<{ held: string }>`
        select count(*) as held from account_owners where holder is not null group by holder order by 1`.execute(
        store.db,
      );
      return rows.map(({ held }) => Number(held));
    },
  };
}

/** All events of the feeds, each by its id, with what it is about. */
async function committed({ store }: Pick<Awaited<ReturnType<typeof workers>>, 'store'>): Promise<readonly FeedEvent[]> {
  const pages = await Promise.all(
    ACCOUNTS.map((account) => readFeed(store.db, { account, afterId: 0, limit: 10_000 })),
  );
  return pages.flat().map(feedEventOf);
}

/** The events of each order, link or account, each at its first delivery. */
function byOrder(events: readonly FeedEvent[]): Map<string, readonly FeedEvent[]> {
  const seen = new Set<string>();
  const found = new Map<string, FeedEvent[]>();
  for (const event of events) {
    if (seen.has(event.id)) continue;
    seen.add(event.id);
    const about = 'externalOrderId' in event.data ? event.data.externalOrderId : '';
    const key = `${event.account} ${about}`;
    found.set(key, [...(found.get(key) ?? []), event]);
  }
  return found;
}

it('every event arrives, in order per order, when one of two workers is killed while it sends and another follows it', async () => {
  const waiting: ServerResponse[] = [];
  const receiver = await webhookReceiver();
  const on = await workers(receiver);
  const [first] = [await on.start(), await on.start()];
  await vi.waitFor(async () => expect(await on.shares()).toEqual([2, 2]), LONG);
  on.insert('before');
  await receiver.came(ACCOUNTS.length * ORDERS.length);
  // Events of each account are under way when the first worker dies, and no receiver answers them.
  const hanging = new Set<string>();
  receiver.answer = ({ account }) => {
    hanging.add(account);
    return (response) => waiting.push(response);
  };
  on.insert('meanwhile');
  await vi.waitFor(() => expect(hanging.size).toBe(ACCOUNTS.length), LONG);
  first.process.kill('SIGKILL');
  receiver.answer = () => 204;
  for (const response of waiting) response.destroy();
  await vi.waitFor(async () => expect(await on.shares()).toEqual([4]), LONG);
  on.insert('after');
  await vi.waitFor(async () => {
    const events = byOrder(await committed(on));
    expect(events.size).toBe(3 * ACCOUNTS.length * ORDERS.length);
    expect(byOrder(receiver.taken)).toEqual(events);
  }, LONG);
  await vi.waitFor(async () => expect(await on.behind()).toEqual([]), LONG);
});
