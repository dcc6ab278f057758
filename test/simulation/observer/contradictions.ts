import Big from 'big.js';
import { SKEW_LIMIT_MS, type ContradictionKind } from '../../../src/orders/rules/contradictions.ts';
import type { PlannedOrder } from '../plan/orders.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedSettings } from '../plan/settings.ts';
import type { Known } from './known.ts';

type Comparison = Pick<PlannedSettings, 'outputPosition' | 'disputedBy'>;

/**
 * In what a record contradicts its row, as far as it makes the order disputed: the program's own comparison may be what is
 * wrong. Which merchant an account belongs to is not known beforehand, so that kind may be there or not.
 */
export function contradictionsIn(body: string, order: PlannedOrder, asset: string | null, settings: Comparison) {
  const text = (name: string) => textIn(body, name);
  const amount = amountIn(body, order, settings);
  const found: readonly [ContradictionKind, boolean][] = [
    ['id', JSON.stringify(order.id) !== `"${text('externalOrderId')}"`],
    ['age', (text('creationDate') ?? '9') < '2039'],
    ['pair', text('toCurrency') !== 'EUR' || text('fromCurrency') !== 'BTC'],
    ['type', text('orderType') !== 'DEPOSIT'],
    ['amount', amount !== undefined && !isSameAmount(amount, asset)],
  ];
  return found.filter(([kind, isThere]) => isThere && settings.disputedBy.includes(kind)).map(([kind]) => kind);
}

/** Tells whether a record has the fields of a comparison; if it has not, earlier findings stay as they are. */
export function canBeCompared(
  kind: ContradictionKind,
  body: string,
  order: PlannedOrder,
  settings: Comparison,
): boolean {
  if (kind === 'age') return textIn(body, 'creationDate') !== undefined;
  return kind !== 'amount' || amountIn(body, order, settings) !== undefined;
}

function textIn(body: string, name: string): string | undefined {
  return new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)"`).exec(body)?.[1];
}

function amountIn(body: string, order: PlannedOrder, settings: Comparison): string | undefined {
  const field = order.position === 'INPUT' ? 'inputAsset' : settings.outputPosition;
  return field === undefined ? undefined : new RegExp(`"${field}":([^,}]+)`).exec(body)?.[1];
}

/**
 * Tells whether it can be said that an order is older than its first request: not if an older copy has lost the time of that,
 * and not by a clock that was set back since then.
 */
export function isAgeKnown({ isTakenForSent }: Known, { clockSet }: Pick<Plan, 'clockSet'>): boolean {
  return !isTakenForSent && clockSet.every(({ ms }) => ms >= -SKEW_LIMIT_MS);
}

/** Tells whether every sound record of the order contradicts its row. */
export function isForeign({ id, position, scenario: { answers } }: PlannedOrder, settings: Comparison): boolean {
  const { disputedBy, outputPosition } = settings;
  const isCompared = position === 'INPUT' || outputPosition !== undefined;
  const kinds: readonly [ContradictionKind, boolean][] = [
    ['age', answers === 'foreign'],
    ['amount', (answers === 'foreign' && isCompared) || (position === 'OUTPUT' && outputPosition === 'outputAsset')],
    ['id', answers === 'normalising' && id.trim().toUpperCase() !== id],
  ];
  return kinds.some(([kind, isThere]) => isThere && disputedBy.includes(kind));
}

function isSameAmount(amount: string, asset: string | null): boolean {
  try {
    return new Big(amount).eq(new Big(asset ?? ''));
  } catch {
    return false;
  }
}
