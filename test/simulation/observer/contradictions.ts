import Big from 'big.js';
import type { ContradictionKind } from '../../../src/domain/contradictions.ts';
import type { PlannedOrder } from '../plan/orders.ts';
import type { PlannedSettings } from '../plan/settings.ts';

type Comparison = Pick<PlannedSettings, 'outputPosition' | 'disputedBy'>;

/**
 * In what a record contradicts its row, as far as it makes the order disputed: the program's own comparison may be what is
 * wrong. Which merchant an account belongs to is not known beforehand, so that kind may be there or not.
 */
export function contradictionsIn(body: string, order: PlannedOrder, asset: string | null, settings: Comparison) {
  const text = (name: string) => new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)"`).exec(body)?.[1];
  const field = order.position === 'INPUT' ? 'inputAsset' : settings.outputPosition;
  const amount = field === undefined ? undefined : new RegExp(`"${field}":([^,}]+)`).exec(body)?.[1];
  const found: readonly [ContradictionKind, boolean][] = [
    ['id', JSON.stringify(order.id) !== `"${text('externalOrderId')}"`],
    ['age', (text('creationDate') ?? '9') < '2039'],
    ['pair', text('toCurrency') !== 'EUR' || text('fromCurrency') !== 'BTC'],
    ['type', text('orderType') !== 'DEPOSIT'],
    ['amount', amount !== undefined && !isSameAmount(amount, asset)],
  ];
  return found.filter(([kind, isThere]) => isThere && settings.disputedBy.includes(kind)).map(([kind]) => kind);
}

/** Whether every sound record of the order contradicts its row. */
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
