import { isPaced, type OrderState } from '../../orders/rules/states.ts';
import { lateMs } from '../../orders/rules/tracking.ts';
import type { PacedOrder } from '../../orders/rules/lookup.ts';
import type { OverdueLookups } from '../../orders/pass/process-events.ts';
import type { AgedOrder } from '../../store/orders/orders-with-records.ts';
import { STUCK_AFTER_MS } from '../../findings/rules/age.ts';
import { instantMs } from '../../base/instant.ts';
import type { EndedStay } from './stay-times.ts';

export type FollowedOrder = PacedOrder & Pick<AgedOrder, 'changedAt' | 'lastLookupAt' | 'nextActionAt'>;

/** Returns the same key for orders of one status. An accepted pre-order has no record, so its state is the key. */
export function statusKey({ state, orderStatus, cryptoStatus, fiatStatus }: PacedOrder): string {
  return state === 'accepted' ? state : JSON.stringify([state, orderStatus, cryptoStatus, fiatStatus]);
}

export function isAccepted(key: string): boolean {
  return key === ('accepted' satisfies OrderState);
}

export function withOverdue(known: OverdueLookups | undefined, orders: readonly FollowedOrder[], before: Date) {
  const due = orders
    .filter(({ state }) => isPaced(state))
    .map(({ nextActionAt }) => instantMs(nextActionAt) ?? Number.POSITIVE_INFINITY)
    .filter((ms) => ms < before.getTime());
  if (due.length === 0) return known;
  const sinceMs = Math.min(known?.since.getTime() ?? Number.POSITIVE_INFINITY, ...due);
  return { orders: (known?.orders ?? 0) + due.length, since: new Date(sinceMs) };
}

/** A change of an order's state or status. Times are Unix ms. An unreadable time is null, or NaN in `observedAt`. */
export interface StatusEvent {
  readonly id: number;
  readonly field: ChangeField;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly observedAt: number;
  readonly lookedUpBefore: number | null;
  readonly exchangeTime: number | null;
  readonly source: string;
}

export interface Stay extends EndedStay {
  readonly key: string;
  readonly state: OrderState;
  readonly isByExchange: boolean;
  readonly lateMs: number | undefined;
}

const COLUMNS = {
  state: 'state',
  'order.status': 'orderStatus',
  'cryptoTransaction.status': 'cryptoStatus',
  'fiatTransaction.status': 'fiatStatus',
} as const satisfies Record<string, keyof PacedOrder>;
type ChangeField = keyof typeof COLUMNS;

export const CHANGE_FIELDS = Object.keys(COLUMNS) as ChangeField[];

/** Returns an order's stays that ended at event `fromId` or later. `events` are the order's changes, oldest first. */
export function staysOf(events: readonly StatusEvent[], fromId: number): Stay[] {
  const stays: Stay[] = [];
  const changes = [...Map.groupBy(events, ({ observedAt }) => observedAt).values()] as Change[];
  // `events` may lack the beginning of a long history.
  const isWhole = changes[0]?.some(({ field, oldValue }) => field === 'state' && oldValue === 'pending') === true;
  const known: Known = isWhole ? { orderStatus: null, cryptoStatus: null, fiatStatus: null } : {};
  let enteredAt: number | undefined;
  for (const change of changes) {
    for (const { field, oldValue } of change) known[COLUMNS[field]] ??= oldValue;
    const [{ id, observedAt }] = change;
    const order = pacedOrder(known);
    if (enteredAt !== undefined && id >= fromId && order !== undefined) stays.push(stayOf(order, change, enteredAt));
    for (const { field, newValue } of change) known[COLUMNS[field]] = newValue;
    enteredAt = observedAt;
  }
  return stays;
}

type Change = [StatusEvent, ...StatusEvent[]];
type Known = { -readonly [Column in keyof PacedOrder]?: string | null };

/** Returns undefined if a status of the order is not known, or if orders in its state have no pace. */
function pacedOrder({ state, orderStatus, cryptoStatus, fiatStatus }: Known): PacedOrder | undefined {
  if (state === 'accepted') return { state, orderStatus: null, cryptoStatus: null, fiatStatus: null };
  const isKnown = orderStatus !== undefined && cryptoStatus !== undefined && fiatStatus !== undefined;
  if (!isKnown || !isPaced(state ?? '')) return undefined;
  return { state: state as OrderState, orderStatus, cryptoStatus, fiatStatus };
}

function stayOf(order: PacedOrder, change: Change, enteredAt: number): Stay {
  const { observedAt, lookedUpBefore, exchangeTime } = change[0];
  return {
    key: statusKey(order),
    state: order.state,
    from: (lookedUpBefore ?? enteredAt) - enteredAt,
    to: observedAt - enteredAt,
    isByExchange: change.every(isByExchange),
    lateMs: lateMs(exchangeTime, Math.max(lookedUpBefore ?? enteredAt, enteredAt), observedAt),
  };
}

/** The program itself sets the state `abandoned`. A status of the exchange with that name has another `field`. */
function isByExchange({ field, newValue, source }: StatusEvent): boolean {
  return source === 'lookup' && !(field === 'state' && newValue === 'abandoned');
}

const ENOUGH_GAPS = 100;

/** Returns the ms after which an unchanged order is stuck: 99 of 100 changes came within this time; a day at least. */
export function learnStuckAfter(gapsMs: readonly number[]): number {
  if (gapsMs.length < ENOUGH_GAPS) return STUCK_AFTER_MS;
  const sorted = gapsMs.toSorted((left, right) => left - right);
  return Math.max(STUCK_AFTER_MS, sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0);
}

export function latenessOf(times: readonly number[]) {
  if (times.length === 0) return undefined;
  const sorted = Float64Array.from(times).toSorted();
  const meanMs = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
  return { changes: sorted.length, meanMs, p95Ms: sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN };
}
