import type { OrderState } from './order.ts';
import { COMPARED_POSITION, type Finding } from './reconcile.ts';

/** What decides whether an order waits for too long. */
export interface OrderAge {
  readonly state: OrderState;
  readonly assetPosition: string;
  /** When the newest create was sent; null when none was. */
  readonly sentAt: Date | null;
  /** When something of the order last changed. */
  readonly changedAt: Date | null;
  /** The last look-up that brought evidence. */
  readonly lastLookupAt: Date | null;
}

/** Times in milliseconds. */
export interface OverdueSettings {
  readonly orderMissingAfter: number;
  readonly freshFor: number;
  /** Longer than this without a change is unusual: at least a day. */
  readonly stuckAfter: number;
}

/** States whose orders the exchange has, or may have. */
const CHECKED_STATES: readonly OrderState[] = ['accepted', 'open', 'unknown', 'held', 'final'];

/** What the time alone shows of an order at `now`. */
export function findOverdue(order: OrderAge, now: Date, settings: OverdueSettings): readonly Finding[] {
  return [
    ...createUnknown(order),
    ...orderMissing(order, now, settings),
    ...stuck(order, now, settings),
    ...unchecked(order, now, settings),
  ];
}

/** Whether a report may count the order as compared with the exchange. */
export function isUnchecked(order: OrderAge, now: Date, freshFor: number): boolean {
  const { state, lastLookupAt } = order;
  if (!CHECKED_STATES.includes(state)) return false;
  if (lastLookupAt === null || isBeyondCompare(order)) return true;
  // A final order is not asked about any more: what it was looked up as when it became final stands.
  return state !== 'final' && now.getTime() - lastLookupAt.getTime() > freshFor;
}

function createUnknown({ state, sentAt }: OrderAge): readonly Finding[] {
  if (state !== 'unknown' && state !== 'held') return [];
  return [{ class: 'CREATE_UNKNOWN', expected: 'a known outcome', actual: `sent ${iso(sentAt)}, ${state}` }];
}

function orderMissing({ state, sentAt }: OrderAge, now: Date, settings: OverdueSettings): readonly Finding[] {
  if (state !== 'accepted' || sentAt === null || now.getTime() - sentAt.getTime() < settings.orderMissingAfter)
    return [];
  return [{ class: 'ORDER_MISSING', expected: 'an order', actual: `none since ${iso(sentAt)}` }];
}

function stuck({ state, changedAt }: OrderAge, now: Date, { stuckAfter }: OverdueSettings): readonly Finding[] {
  if (state !== 'open' || changedAt === null || now.getTime() - changedAt.getTime() <= stuckAfter) return [];
  return [{ class: 'STUCK', expected: 'a change', actual: `none since ${iso(changedAt)}` }];
}

function unchecked(order: OrderAge, now: Date, { freshFor }: OverdueSettings): readonly Finding[] {
  if (!isUnchecked(order, now, freshFor)) return [];
  if (order.lastLookupAt !== null && isBeyondCompare(order)) {
    const actual = `the amount of position ${order.assetPosition}`;
    return [{ class: 'UNCHECKED', expected: 'an amount that can be compared', actual }];
  }
  return [{ class: 'UNCHECKED', expected: 'a look-up that is fresh', actual: iso(order.lastLookupAt) }];
}

function isBeyondCompare({ state, assetPosition }: OrderAge): boolean {
  return (state === 'open' || state === 'final') && assetPosition !== COMPARED_POSITION;
}

function iso(time: Date | null): string {
  return time === null ? 'never' : time.toISOString();
}
