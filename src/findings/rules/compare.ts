import { isSameCurrency, readDecimal, sameDecimal } from '../../base/decimal.ts';
import type { EchoDifference, MerchantOrder, PreOrderView } from '../../orders/rules/record.ts';
import { OTHER_TOKEN } from '../../orders/rules/contradictions.ts';
import type { FindingClassName } from './classes.ts';
import type { Finding, ReconcileSettings, RecordContext } from './finding.ts';
import { RULES, type Rule } from './rules.ts';

/** Returns the findings of a record, and the classes that cannot be judged. Ignored classes have no findings. */
export function compareRecord(context: RecordContext, settings: ReconcileSettings) {
  const judged = (Object.entries(RULES) as [FindingClassName, Rule][]).map(([name, rule]) => ({
    name,
    shown: settings.ignore.includes(name) ? [] : rule(context, settings),
  }));
  return {
    found: judged.flatMap(({ name, shown = [] }): Finding[] => shown.map((one) => ({ class: name, ...one }))),
    unjudged: judged.filter(({ shown }) => shown === undefined).map(({ name }) => name),
  };
}

/** Finds the differences between a pre-order (§2.6) and its order. A field that was not sent may come back filled. */
export function comparePreOrder(order: MerchantOrder, preOrder: PreOrderView, exchangeType?: unknown) {
  const texts = ['assetPosition', 'orderType', 'providerType', 'cryptoAddress'] as const;
  const decimals = ['asset', 'limit', 'bonus'] as const;
  const currencies = ['fromCurrency', 'toCurrency'] as const;
  const differing = [
    ...currencies.filter((field) => !isSameCurrency(order[field], preOrder[field])),
    ...texts.filter((field) => order[field] !== null && order[field] !== preOrder[field]),
    ...decimals.filter((field) => order[field] !== null && !sameDecimal(order[field], preOrder[field])),
  ].map((field) => {
    const echoed = preOrder[field];
    return echo(`${field} ${order[field]}`, echoed === null ? `no ${field}` : `${field} ${echoed}`);
  });
  const isOtherToken = order.paymentToken !== null && order.paymentToken !== preOrder.paymentToken;
  const otherToken = { class: 'PREORDER_TOKEN_MISMATCH', ...OTHER_TOKEN } as const;
  return [...differing, ...bonusOf(order, exchangeType), ...(isOtherToken ? [otherToken] : [])];
}

/** Compares the bonus with the crypto amount (§8). Only in a SELL is the input amount known to be crypto. */
function bonusOf(order: MerchantOrder, exchangeType: unknown): readonly EchoDifference[] {
  const isCrypto = exchangeType === 'SELL' && order.assetPosition === 'INPUT';
  if (!isCrypto) return [];
  const [bonus, asset] = [readDecimal(order.bonus), readDecimal(order.asset)];
  if (!bonus.ok || !asset.ok || bonus.value.lt(asset.value)) return [];
  return [echo(`bonus less than the crypto amount ${order.asset}`, `bonus ${order.bonus}`)];
}

function echo(expected: string, actual: string): EchoDifference {
  return { class: 'PREORDER_ECHO_MISMATCH', expected, actual };
}
