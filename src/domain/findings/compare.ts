import { sameDecimal } from '../decimal.ts';
import type { FindingClassName } from './classes.ts';
import type { MerchantOrder } from '../orders/states.ts';
import { RULES } from './rules.ts';
import { found, type Finding, type PreOrderView, type ReconcileSettings, type RecordContext } from './record.ts';

/** What a record shows, in the order of the rules, and the classes that it says nothing of. */
export interface Comparison {
  readonly found: readonly Finding[];
  readonly unjudged: readonly FindingClassName[];
}

/** Everything that a new order record shows. */
export function compareRecord(context: RecordContext, settings: ReconcileSettings): Comparison {
  const judged = RULES.map(([name, rule]) => ({ name, shown: rule(context, settings) }));
  return {
    found: judged.flatMap(({ shown }) => shown ?? []),
    unjudged: judged.filter(({ shown }) => shown === undefined).map(({ name }) => name),
  };
}

/** How the returned pre-order differs from the order; a field that was not sent may come back filled. */
export function comparePreOrder(order: MerchantOrder, preOrder: PreOrderView): readonly Finding[] {
  const texts = ['assetPosition', 'fromCurrency', 'toCurrency', 'orderType', 'providerType', 'cryptoAddress'] as const;
  const decimals = ['asset', 'limit', 'bonus'] as const;
  const differing = [
    ...texts.filter((field) => order[field] !== null && order[field] !== preOrder[field]),
    ...decimals.filter((field) => order[field] !== null && !sameDecimal(order[field], preOrder[field] ?? '')),
  ].map((field) => {
    const echoed = preOrder[field];
    return found(
      'PREORDER_ECHO_MISMATCH',
      `${field} ${order[field]}`,
      echoed === null ? `no ${field}` : `${field} ${echoed}`,
    );
  });
  const isOtherToken = order.paymentToken !== null && order.paymentToken !== preOrder.paymentToken;
  // A payment token is a secret.
  return isOtherToken
    ? [...differing, found('PREORDER_ECHO_MISMATCH', 'paymentToken (not shown)', 'another paymentToken')]
    : differing;
}
