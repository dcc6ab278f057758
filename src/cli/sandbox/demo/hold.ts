import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { Clock } from '../../../clock.ts';
import type { Store } from '../../../store/port.ts';
import { laterOrder, type DemoOrder } from './orders.ts';
import { insertOrders, type Shop } from './shops.ts';

/** A shop inserts an order so often while somebody looks. */
const INSERT_EACH_MS = 2_000;

/** An address of this machine on which nobody listens. */
export async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return `127.0.0.1:${port}`;
}

/** What shops go on with. */
export interface Held {
  readonly shops: readonly Shop[];
  readonly store: Store;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Has the shops insert an order now and then, in turn, until the person stops it; gives how many orders those were. */
export async function keepInserting({ shops, store, clock, signal }: Held): Promise<number> {
  for (let inserted = 0; ; inserted += 1) {
    const shop = shops[inserted % shops.length];
    await clock.sleep(INSERT_EACH_MS, signal).catch(() => undefined);
    if (shop === undefined || signal.aborted) return inserted;
    const order: DemoOrder = laterOrder(inserted);
    await insertOrders(store.forAccount(shop.account), shop, [order]);
  }
}
