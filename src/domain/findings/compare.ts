import { isSameCurrency } from '../amounts.ts';
import { readDecimal, sameDecimal } from '../decimal.ts';
import type { Difference, MerchantOrder, PreOrderView } from '../record.ts';
import type { FindingClassName } from './classes.ts';
import type { Finding, ReconcileSettings, RecordContext } from './finding.ts';
import { RULES } from './rules.ts';

/** The findings of a record in the order of the rules, and the classes that could not be judged. */
export interface Comparison {
  readonly found: readonly Finding[];
  readonly unjudged: readonly FindingClassName[];
}

/** Finds everything that a new order record (§2.7) shows. */
export function compareRecord(context: RecordContext, settings: ReconcileSettings): Comparison {
  const judged = RULES.map(([name, rule]) => ({ name, shown: rule(context, settings) }));
  return {
    found: judged.flatMap(({ shown }) => shown ?? []),
    unjudged: judged.filter(({ shown }) => shown === undefined).map(({ name }) => name),
  };
}

/** Finds where a pre-order (§2.6) differs from its order. A field that was not sent may come back filled. */
export function comparePreOrder(
  order: MerchantOrder,
  preOrder: PreOrderView,
  exchangeType?: unknown,
): readonly Difference[] {
  const texts = ['assetPosition', 'orderType', 'providerType', 'cryptoAddress'] as const;
  const decimals = ['asset', 'limit', 'bonus'] as const;
  const currencies = ['fromCurrency', 'toCurrency'] as const;
  const differing = [
    ...currencies.filter((field) => !isSameCurrency(order[field], preOrder[field])),
    ...texts.filter((field) => order[field] !== null && order[field] !== preOrder[field]),
    ...decimals.filter((field) => order[field] !== null && !sameDecimal(order[field], preOrder[field])),
  ].map((field) => {
    const echoed = preOrder[field];
    return { expected: `${field} ${order[field]}`, actual: echoed === null ? `no ${field}` : `${field} ${echoed}` };
  });
  const isOtherToken = order.paymentToken !== null && order.paymentToken !== preOrder.paymentToken;
  // A payment token is a secret.
  const otherToken = { expected: 'paymentToken (not shown)', actual: 'another paymentToken' };
  return [...differing, ...bonusOf(order, exchangeType), ...(isOtherToken ? [otherToken] : [])];
}

/** Compares the bonus with the crypto amount (§8). Only a SELL says that the amount that goes in is crypto. */
function bonusOf(order: MerchantOrder, exchangeType: unknown): readonly Difference[] {
  const [bonus, asset] = [readDecimal(order.bonus), readDecimal(order.asset)];
  const isCrypto = exchangeType === 'SELL' && order.assetPosition === 'INPUT';
  if (!isCrypto || !bonus.ok || !asset.ok || bonus.value.lt(asset.value)) return [];
  return [{ expected: `bonus less than the crypto amount ${order.asset}`, actual: `bonus ${order.bonus}` }];
}

/** Gives the findings of a pre-order that differs from its order. */
export function echoFindings(differences: readonly Difference[]): readonly Finding[] {
  return differences.map((difference) => ({ class: 'PREORDER_ECHO_MISMATCH', ...difference }));
}
