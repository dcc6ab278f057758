import { STRAY_ORDER, TAMPERINGS, tamperingNamedIn, type Tampering } from '../../../sandbox/tampering.ts';

/** The stories that the demonstration can tell. */
export const DEMO_SCENARIOS = ['clean', 'mismatch'] as const;
export type DemoScenario = (typeof DEMO_SCENARIOS)[number];

/** A row as the shop inserts it. */
export interface DemoOrder {
  readonly external_order_id: string;
  readonly asset: string;
  readonly from_currency: string;
  readonly to_currency: string;
  readonly crypto_address: string;
  readonly payment_token: string;
  readonly provider_type: string;
}

/** Most orders: so many are settled well within the time of a demonstration. */
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
    const id = `${named ?? 'shop'}-${FIRST_NUMBER + index}`;
    return orderOf(id, index);
  });
}

/** An order that comes after all of them. */
export function laterOrder(index: number): DemoOrder {
  return orderOf(`later-${FIRST_NUMBER + index}`, index * 3);
}

function orderOf(id: string, index: number): DemoOrder {
  const [from, to, asset] = PAIRS[Math.floor(index / 3) % PAIRS.length] ?? PAIRS[0];
  return {
    external_order_id: id,
    ...(isStray({ external_order_id: id })
      ? {
          asset: STRAY_ORDER.asset,
          from_currency: STRAY_ORDER.currencyPair.fromCurrency,
          to_currency: STRAY_ORDER.currencyPair.toCurrency,
        }
      : { asset, from_currency: from, to_currency: to }),
    crypto_address: `address-of-client-${index % 20}`,
    payment_token: `token-of-client-${index % 20}`,
    provider_type: 'CARDPROV',
  };
}

/** Tells an order that the shop cancels before it is sent, and that the exchange has all the same. */
export function isStray({ external_order_id: id }: Pick<DemoOrder, 'external_order_id'>): boolean {
  return tamperingNamedIn(id)?.isStray === true;
}

/** The findings that a report has to list, and no others, as `CLASS id`. */
export function expectedFindings(orders: readonly DemoOrder[]): readonly string[] {
  return orders.flatMap(({ external_order_id: id }) => {
    const tampering = tamperingNamedIn(id);
    return tampering === undefined ? [] : [`${tampering.finding} ${id}`];
  });
}
