import { instantMs } from '../../instant.ts';
import type { FollowedOrder } from './pace.ts';
import { isPaced } from './status.ts';

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
