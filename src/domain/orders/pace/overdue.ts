import { instantMs } from '../../instant.ts';
import { MOST_STATUSES, OTHERS, type FollowedOrder } from './pace.ts';
import { isPaced, statusKey } from './status.ts';

/** Followed orders whose look-up was due before the last tick. */
export interface Overdue {
  readonly orders: number;
  /** When the first of them was due. */
  readonly since: Date;
  /** No order was looked up for as long, so it is not others that they wait for. */
  readonly isSilent: boolean;
  /** Their number by the key of their status. */
  readonly byStatus: ReadonlyMap<string, number>;
}

/** Counts the orders that wait for their look-up, while the followed ones are read. Its memory is bounded. */
export class OverdueOrders {
  readonly #afterMs: number;
  readonly #byStatus = new Map<string, number>();
  #orders = 0;
  #sinceMs = Number.POSITIVE_INFINITY;
  #lookedUpMs = Number.NEGATIVE_INFINITY;
  #readMs = 0;

  /** An order counts that was due longer than `afterMs` ago. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** Adds those of some orders that are looked up at a pace. */
  addAll(orders: readonly FollowedOrder[], now: Date): void {
    for (const order of orders) if (isPaced(order.state)) this.#add(order, now);
  }

  /** What was counted; undefined where no order waits. */
  get all(): Overdue | undefined {
    if (this.#orders === 0) return undefined;
    return {
      orders: this.#orders,
      since: new Date(this.#sinceMs),
      isSilent: this.#readMs - this.#lookedUpMs > this.#afterMs,
      byStatus: this.#byStatus,
    };
  }

  #add(order: FollowedOrder, now: Date): void {
    this.#lookedUpMs = Math.max(this.#lookedUpMs, order.lastLookupAt?.getTime() || Number.NEGATIVE_INFINITY);
    this.#readMs = now.getTime();
    const dueMs = instantMs(order.nextActionAt);
    if (dueMs === undefined || now.getTime() - dueMs <= this.#afterMs) return;
    const key = statusKey(order);
    const counted = this.#byStatus.has(key) || this.#byStatus.size < MOST_STATUSES ? key : OTHERS;
    this.#byStatus.set(counted, (this.#byStatus.get(counted) ?? 0) + 1);
    this.#orders += 1;
    this.#sinceMs = Math.min(this.#sinceMs, dueMs);
  }
}
