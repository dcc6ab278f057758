import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import type { SandboxExchange } from '../../../sandbox/exchange.ts';
import { seededRandom } from '../../../sandbox/random.ts';
import type { Clock } from '../../../clock.ts';
import { addOrder } from '../../../flows/orders/add.ts';
import { decideOrders } from '../../../flows/orders/operator-decisions.ts';
import { flowSettings } from '../../../flows/pass/follow-pace.ts';
import type { Config } from '../../../config/config.ts';
import type { Store } from '../../../store/port.ts';
import { STRAY_ORDER, TAMPERINGS, tamperingNamedIn, type Tampering } from '../../../sandbox/tampering.ts';

const SPEED = 4;

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

export function shopsOf(accounts: readonly string[], all: readonly DemoOrder[]): readonly Shop[] {
  return accounts.map((account, place) => {
    const own = all.filter((_order, index) => index % accounts.length === place);
    return {
      account,
      key: `key-of-${account}`,
      orders: own.filter((order) => !isStray(order.external_order_id)),
      strays: own.filter((order) => isStray(order.external_order_id)),
      expected: expectedFindings(own),
    };
  });
}

export async function openExchange(shops: readonly Shop[], clock: Clock): Promise<Sandbox> {
  const [apiKey = '', ...otherKeys] = shops.map(({ key }) => key);
  return await startSandbox({ apiKey, otherKeys, clock, random: seededRandom(7), speed: SPEED });
}

export function censusOf({ exchanges }: Sandbox, { key }: Shop): ReturnType<SandboxExchange['census']> {
  return exchanges.get(key)?.census() ?? { preOrders: 0, duplicated: [] };
}

/** Has the shop insert orders, as a merchant's application does. */
export async function insertOrders(store: Store, { account }: Shop, orders: readonly DemoOrder[]): Promise<void> {
  await Promise.all(orders.map((order) => addOrder({ store, account }, { ...order })));
}

/** Cancels orders before they are sent: an order of the exchange for one of them is one that no merchant asked for. */
export async function cancelStrays(
  { store, clock, config }: { readonly store: Store; readonly clock: Clock; readonly config: Config },
  shop: Shop,
  print: (line: string) => void,
): Promise<void> {
  await insertOrders(store, shop, shop.strays);
  const deciding = { account: shop.account, store, clock, settings: flowSettings(config) };
  const targets = shop.strays.map(({ external_order_id: externalOrderId }) => ({ externalOrderId }));
  const action = { judgement: { kind: 'cancel' }, actor: 'shop', reason: 'the client changed their mind' } as const;
  for await (const result of decideOrders(deciding, targets, action))
    print(`${result.externalOrderId} is cancelled, unsent.`);
}

export const DEMO_SCENARIOS = ['clean', 'mismatch'] as const;
export type DemoScenario = (typeof DEMO_SCENARIOS)[number];
type DemoOrder = ReturnType<typeof orderOf>;

/** Most orders: they are settled well within the time of a demonstration. */
export const MOST_ORDERS = 200;
const FIRST_NUMBER = 1_000;
const PAIRS = [
  ['BTC', 'EUR', '0.0125'],
  ['ETH', 'EUR', '1.503'],
  ['USDT', 'USD', '250.00'],
  ['BTC', 'USD', '0.000000012345678901'],
  ['EUR', 'BTC', '150.00'],
  ['USD', 'ETH', '99.99'],
] as const;
/** Answers that are lost although the exchange took the order: each is looked up, and none is sent again. */
const LOST = ['fault-reset-after', 'fault-error-taken', 'fault-truncated', 'fault-wrong-json', 'fault-html'];
/** Nothing but asking for each pre-order finds this one. */
const NOT_FOLLOWED = 'PREORDER_MISSING';

/** The orders of the shop: `count`, or as many as the story needs. */
export function demoOrders(scenario: DemoScenario, count: number = MOST_ORDERS): readonly DemoOrder[] {
  const tampered = Object.entries<Tampering>(TAMPERINGS).filter(([, { finding }]) => finding !== NOT_FOLLOWED);
  const names = [...LOST, ...(scenario === 'mismatch' ? tampered.map(([name]) => `tamper-${name}`) : [])];
  // They are spread among the others: one in so many.
  const spread = Math.max(1, Math.floor(count / names.length));
  return Array.from({ length: Math.max(count, names.length) }, (_, index) => {
    const named = index % spread === spread - 1 ? names[Math.floor(index / spread)] : undefined;
    return orderOf(`${named ?? 'shop'}-${FIRST_NUMBER + index}`, index);
  });
}

export function laterOrder(index: number): DemoOrder {
  return orderOf(`later-${FIRST_NUMBER + index}`, index * 3);
}

function orderOf(id: string, index: number) {
  const { currencyPair } = STRAY_ORDER;
  const [from, to, asset] = isStray(id)
    ? [currencyPair.fromCurrency, currencyPair.toCurrency, STRAY_ORDER.asset]
    : (PAIRS[Math.floor(index / 3) % PAIRS.length] ?? PAIRS[0]);
  return {
    external_order_id: id,
    asset,
    from_currency: from,
    to_currency: to,
    crypto_address: `address-of-client-${index % 20}`,
    payment_token: `token-of-client-${index % 20}`,
    provider_type: 'CARDPROV',
  };
}

/** Tells an order that the shop cancels before it is sent, and that the exchange has all the same. */
function isStray(id: string): boolean {
  return tamperingNamedIn(id)?.isStray === true;
}

export function expectedFindings(orders: readonly DemoOrder[]): readonly string[] {
  return orders.flatMap(({ external_order_id: id }) => {
    const tampering = tamperingNamedIn(id);
    return tampering === undefined ? [] : [`${tampering.finding} ${id}`];
  });
}
