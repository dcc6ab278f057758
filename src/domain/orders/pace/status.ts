import type { OrderState } from '../states.ts';
import type { Tracking } from '../tracking.ts';
import { instantMs } from '../../instant.ts';

/** What decides how soon an order may change: its state, and the statuses of its record (§2.7). */
export type PacedOrder = Pick<Tracking, 'state' | 'orderStatus' | 'cryptoStatus' | 'fiatStatus'>;

/** An order that is followed: its look-ups so far, and the next one. */
export interface FollowedOrder extends PacedOrder {
  readonly changedAt: Date | null;
  readonly lastLookupAt: Date | null;
  /** UTC, empty where there is none. */
  readonly nextActionAt: string;
}

/** States whose orders are looked up at a pace; those of other states have times of their own. */
export const PACED_STATES = ['accepted', 'open', 'disputed'] as const satisfies readonly OrderState[];

/** Tells whether the orders of a state are looked up at a pace. */
export function isPaced(state: string): boolean {
  return (PACED_STATES as readonly string[]).includes(state);
}

/** The text by which orders that wait for the same are known. An accepted pre-order has no record yet. */
export function statusKey({ state, orderStatus, cryptoStatus, fiatStatus }: PacedOrder): string {
  return state === 'accepted' ? state : JSON.stringify([state, orderStatus, cryptoStatus, fiatStatus]);
}

/** Tells whether a key is that of the accepted pre-orders. */
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

/** Counts the orders that wait for their look-up, while the followed ones are read. */
export class OverdueOrders {
  readonly #afterMs: number;
  #orders = 0;
  #sinceMs = Number.POSITIVE_INFINITY;

  /** An order counts that was due longer than `afterMs` ago. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** Adds those of some orders that are looked up at a pace. */
  addAll(orders: readonly FollowedOrder[], now: Date): void {
    for (const { state, nextActionAt } of orders) {
      const dueMs = instantMs(nextActionAt);
      if (!isPaced(state) || dueMs === undefined || now.getTime() - dueMs <= this.#afterMs) continue;
      this.#orders += 1;
      this.#sinceMs = Math.min(this.#sinceMs, dueMs);
    }
  }

  /** Undefined where no order waits. */
  get all(): Overdue | undefined {
    return this.#orders === 0 ? undefined : { orders: this.#orders, since: new Date(this.#sinceMs) };
  }
}
