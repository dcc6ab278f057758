import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import type { SandboxExchange } from '../../../sandbox/exchange.ts';
import { seededRandom } from '../../../sandbox/random.ts';
import type { Clock } from '../../../clock.ts';
import { addOrder } from '../../../flows/orders/add.ts';
import { decideOrders } from '../../../flows/orders/operator-decisions.ts';
import { flowSettings } from '../../../flows/pass/follow-pace.ts';
import type { Config } from '../../../config/config.ts';
import type { Store } from '../../../store/port.ts';
import { expectedFindings, isStray, type DemoOrder } from './orders.ts';

const SPEED = 4;

/** A shop of the demonstration: an account with orders of its own, and a key of the exchange. */
export interface Shop {
  readonly account: string;
  readonly key: string;
  /** The orders that it inserts, but for those that it cancels. */
  readonly orders: readonly DemoOrder[];
  /** The orders that it cancels before they are sent. */
  readonly strays: readonly DemoOrder[];
  /** The findings that a report has to list, and no others, as `CLASS id`. */
  readonly expected: readonly string[];
}

/** Deals the orders out to the accounts. */
export function shopsOf(accounts: readonly string[], all: readonly DemoOrder[]): readonly Shop[] {
  return accounts.map((account, place) => {
    const own = all.filter((_order, index) => index % accounts.length === place);
    return {
      account,
      key: `key-of-${account}`,
      orders: own.filter((order) => !isStray(order)),
      strays: own.filter(isStray),
      expected: expectedFindings(own),
    };
  });
}

/** Starts an exchange that has every shop as a merchant. */
export async function openExchange(shops: readonly Shop[], clock: Clock): Promise<Sandbox> {
  const [apiKey = '', ...otherKeys] = shops.map(({ key }) => key);
  return await startSandbox({ apiKey, otherKeys, clock, random: seededRandom(7), speed: SPEED });
}

/** What the exchange has of a shop. */
export function censusOf({ exchanges }: Sandbox, { key }: Shop): ReturnType<SandboxExchange['census']> {
  return exchanges.get(key)?.census() ?? { preOrders: 0, duplicated: [] };
}

/** Has the shop insert orders, as a merchant's application does. */
export async function insertOrders(store: Store, { account }: Shop, orders: readonly DemoOrder[]): Promise<void> {
  await Promise.all(orders.map((order) => addOrder({ store, account }, { ...order })));
}

/** Cancels orders before they are sent: an order of the exchange for one of them is one that nobody asked for. */
export async function cancelStrays(
  deps: { readonly store: Store; readonly clock: Clock; readonly config: Config },
  shop: Shop,
  print: (line: string) => void,
): Promise<void> {
  const { store, clock, config } = deps;
  await insertOrders(store, shop, shop.strays);
  const deciding = { account: shop.account, store, clock, settings: flowSettings(config) };
  const targets = shop.strays.map(({ external_order_id: externalOrderId }) => ({ externalOrderId }));
  const action = { judgement: { kind: 'cancel' }, actor: 'shop', reason: 'the client changed their mind' } as const;
  for await (const result of decideOrders(deciding, targets, action))
    print(`${result.externalOrderId} is cancelled, unsent.`);
}
