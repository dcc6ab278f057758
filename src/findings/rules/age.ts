import type { OrderState } from '../../orders/rules/states.ts';
import type { Tracking } from '../../orders/rules/tracking.ts';
import { amountField, type AmountSettings } from '../../base/decimal.ts';
import type { FindingClassName } from './classes.ts';
import type { Finding } from './finding.ts';
import type { Difference, RecordView } from '../../orders/rules/record.ts';

export interface OrderAge extends Pick<
  Tracking,
  'state' | 'sentAt' | 'changedAt' | 'lastLookupAt' | 'resends' | 'failOver' | 'staleDate'
> {
  readonly assetPosition: string | null;
  /** The fields of the newest record that a comparison needs; null if there is no record. */
  readonly record: Pick<RecordView, 'inputAsset' | 'outputAsset' | 'fromCurrency' | 'toCurrency'> | null;
}

/** The limits of ages, in milliseconds. */
export interface OverdueSettings extends Pick<AmountSettings, 'outputPosition'> {
  readonly orderMissingAfter: number;
  readonly freshFor: number;
  readonly stuckAfter: number;
}

type FreshSettings = Pick<OverdueSettings, 'freshFor' | 'outputPosition'>;

const CHECKED_STATES: readonly OrderState[] = ['accepted', 'open', 'unknown', 'held', 'final'];

export const OVERDUE_CLASSES = ['CREATE_UNKNOWN', 'ORDER_MISSING', 'STUCK', 'UNCHECKED'] as const;

/** Returns the classes that can be judged in a state. A disputed order does not show the outcome of our create. */
export function judgedIn<Name extends FindingClassName>(state: OrderState, classes: readonly Name[]): readonly Name[] {
  return state === 'disputed' ? classes.filter((name) => name !== 'CREATE_UNKNOWN') : classes;
}

export function findOverdue(order: OrderAge, now: Date, settings: OverdueSettings): readonly Finding[] {
  return [
    ...findUnknownOutcome(order),
    ...orderMissing(order, now, settings),
    ...stuck(order, now, settings),
    ...unchecked(order, now, settings),
  ];
}

export function isUnchecked(order: OrderAge, now: Date, settings: FreshSettings): boolean {
  return whyUnchecked(order, now, settings) !== undefined;
}

/** An open order is stuck after this time without a change, unless `follow.pace: learned` learned a longer time. */
export const STUCK_AFTER_MS = 24 * 60 * 60_000;

/** Finds a create without a known outcome. A second create does not show the outcome of the first. */
export function findUnknownOutcome(
  order: Pick<OrderAge, 'state' | 'sentAt' | 'resends' | 'failOver'>,
): readonly Finding[] {
  const { state, sentAt, resends, failOver } = order;
  // One finding of the class `FAIL_OVER` covers all orders that a fail-over left in doubt.
  if (failOver !== null) return [];
  const isSentAgain = resends > 0 && (state === 'pending' || state === 'sending');
  if (state !== 'unknown' && state !== 'held' && !isSentAgain) return [];
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

function unchecked(order: OrderAge, now: Date, settings: OverdueSettings): readonly Finding[] {
  const { lastLookupAt, sentAt, staleDate } = order;
  // An order that was sent within `freshFor` needs no look-up yet.
  const isJustSent = lastLookupAt === null && sentAt !== null && now.getTime() - sentAt.getTime() <= settings.freshFor;
  const why = isJustSent && staleDate === null ? undefined : whyUnchecked(order, now, settings);
  return why === undefined ? [] : [{ class: 'UNCHECKED', ...why }];
}

function whyUnchecked(order: OrderAge, now: Date, settings: FreshSettings): Difference | undefined {
  const { state, lastLookupAt, staleDate } = order;
  if (!CHECKED_STATES.includes(state)) return undefined;
  if (staleDate !== null) {
    const actual = `the exchange answers with a record that contradicts ours, of ${staleDate}`;
    return { expected: 'the newest record', actual };
  }
  if (isReadable(lastLookupAt)) {
    const missing = beyondCompare(order, settings);
    if (missing !== undefined) return { expected: 'a record that can be compared', actual: missing };
    // The last look-up of a final order stays fresh, because the planned look-ups of final orders end.
    if (state === 'final' || now.getTime() - lastLookupAt.getTime() <= settings.freshFor) return undefined;
  }
  return { expected: 'a look-up that is fresh', actual: iso(lastLookupAt) };
}

/** Returns why even a fresh record cannot be compared with the order; undefined if it can be compared. */
function beyondCompare({ state, assetPosition, record }: OrderAge, settings: FreshSettings) {
  if (state !== 'open' && state !== 'final') return undefined;
  const field = amountField(assetPosition, settings);
  if (field === undefined) return `the amount of position ${assetPosition}`;
  if (record === null || record[field] === null) return `no ${field}`;
  return record.fromCurrency === null || record.toCurrency === null ? 'no currencyPair' : undefined;
}

/** Another program may have written an invalid time. */
function isReadable(time: Date | null): time is Date {
  return time !== null && !Number.isNaN(time.getTime());
}

function iso(time: Date | null): string {
  if (time === null) return 'never';
  return isReadable(time) ? time.toISOString() : 'a time that cannot be read';
}
