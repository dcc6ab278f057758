import type { Clock } from '../../clock.ts';
import { MOST_WALKED_PER_REQUEST } from '../../domain/accounts/fail-over.ts';
import { RateWindow, type RateLimit } from '../../exchange/rate-window.ts';
import type { DueKey } from '../../store/find-orders.ts';
import type { AccountLease } from '../../store/port.ts';

/**
 * Bounds how fast create passes walk by due rows, sent or not: after a fail-over the next owner computes from this bound
 * which orders this owner may have sent.
 */
export class Walk {
  readonly #accountLease: Pick<AccountLease, 'walked'>;
  readonly #clock: Clock;
  readonly #window: RateWindow;
  /** The place before each order that a pass is working on, by the order's id; the oldest first. */
  readonly #under = new Map<string, string>();

  constructor(accountLease: Pick<AccountLease, 'walked'>, clock: Clock, { requests, intervalMs }: RateLimit) {
    this.#accountLease = accountLease;
    this.#clock = clock;
    this.#window = new RateWindow({ requests: requests * MOST_WALKED_PER_REQUEST, intervalMs });
  }

  /** A pass comes to an order. The next commit writes the place before the oldest order that is not done. */
  begin(externalOrderId: string, { nextActionAt, externalOrderId: before }: DueKey): void {
    this.#under.set(externalOrderId, JSON.stringify([nextActionAt, before]));
    const [oldest] = this.#under.values();
    if (oldest !== undefined) this.#accountLease.walked = oldest;
  }

  /** The pass is done with the order. */
  end(externalOrderId: string): void {
    this.#under.delete(externalOrderId);
  }

  /** Waits until the pass may walk by one row more. */
  async next(signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.monotonic();
      const waitMs = this.#window.waitMs(now) ?? 0;
      if (waitMs > 0 && !signal.aborted) {
        await this.#clock.sleep(waitMs, signal).catch(() => undefined);
        continue;
      }
      this.#window.start(now);
      return this.#window.end(now, true);
    }
  }
}
