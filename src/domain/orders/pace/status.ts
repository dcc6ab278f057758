import type { OrderState } from '../states.ts';
import type { Tracking } from '../tracking.ts';
import { instantMs } from '../../instant.ts';

/** What decides how soon an order may change: its state, and the statuses of its record (§2.7). */
export type PacedOrder = Pick<Tracking, 'state' | 'orderStatus' | 'cryptoStatus' | 'fiatStatus'>;

/** An order that is followed: its look-ups so far, and the next one. */
export interface FollowedOrder extends PacedOrder {
  readonly changedAt: Date | null;
  readonly lastLookupAt: Date | null;
  /** UTC, empty if there is none. */
  readonly nextActionAt: string;
}

/** States whose orders are looked up at a pace; those of other states have times of their own. */
export const PACED_STATES = ['accepted', 'open', 'disputed'] as const satisfies readonly OrderState[];

export function isPaced(state: string): boolean {
  return (PACED_STATES as readonly string[]).includes(state);
}

/** The text by which orders that wait for the same are known. An accepted pre-order has no record yet. */
export function statusKey({ state, orderStatus, cryptoStatus, fiatStatus }: PacedOrder): string {
  return state === 'accepted' ? state : JSON.stringify([state, orderStatus, cryptoStatus, fiatStatus]);
}

export function isAccepted(key: string): boolean {
  return key === ('accepted' satisfies OrderState);
}

/** The name of what an order waits for, for people: its three statuses, or its state where it has none. */
export function statusName({ state, orderStatus, cryptoStatus, fiatStatus }: PacedOrder): string {
  const statuses = [orderStatus, cryptoStatus, fiatStatus];
  if (state === 'accepted' || statuses.every((status) => status === null)) return state;
  const name = statuses.map((status) => status ?? 'none').join(' / ');
  return state === 'open' ? name : `${name}, ${state}`;
}

/** Followed orders whose look-up was due before the last tick. */
export interface Overdue {
  readonly orders: number;
  /** When the first of them was due. */
  readonly since: Date;
}

/** Adds the orders of a page that were due before a time; undefined while no order was. */
export function withOverdue(known: Overdue | undefined, orders: readonly FollowedOrder[], before: Date) {
  const due = orders
    .filter(({ state }) => isPaced(state))
    .map(({ nextActionAt }) => instantMs(nextActionAt) ?? Number.POSITIVE_INFINITY)
    .filter((ms) => ms < before.getTime());
  if (due.length === 0) return known;
  const sinceMs = Math.min(known?.since.getTime() ?? Number.POSITIVE_INFINITY, ...due);
  return { orders: (known?.orders ?? 0) + due.length, since: new Date(sinceMs) };
}
