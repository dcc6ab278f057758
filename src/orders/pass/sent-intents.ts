import type { Clock } from '../../base/clock.ts';
import { MOST_ROWS_READ_PER_REQUEST } from '../../accounts/rules/fail-over.ts';
import { RateWindow, type RateLimit } from '../../exchange/transport/rate-window.ts';
import type { DueKey } from '../../store/find-orders.ts';
import type { AccountLease } from '../../store/port.ts';

/** `sentAt` is the `sent_at` of the row. */
type SentIntent = Readonly<Record<'account' | 'externalOrderId' | 'sentAt', string>>;

/** The most intents that are kept: about 20 minutes at 8 a second. */
const MOST_KEPT = 10_000;

/** This process's newest intents, in all accounts. After a fail-over they show the creates that the database lost. */
export class SentIntents {
  /** By account: when, and with which generation, this process last became the owner. */
  readonly owned = new Map<string, { readonly generation: number; readonly at: Date }>();
  /** By account and order; the oldest first. */
  readonly #kept = new Map<string, SentIntent>();

  add(intent: SentIntent): void {
    // The name of an account has no space, so the key is unique.
    const key = `${intent.account} ${intent.externalOrderId}`;
    this.#kept.delete(key);
    this.#kept.set(key, intent);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  of(account: string): readonly SentIntent[] {
    return [...this.#kept.values()].filter((intent) => intent.account === account);
  }
}

/** Records how far create passes have read, and limits how fast they read. So a fail-over puts few orders in doubt. */
export class ReadProgress {
  readonly #accountLease: Pick<AccountLease, 'walked'>;
  readonly #clock: Clock;
  readonly #window: RateWindow;
  /** By order id: each order that a pass works on, with the place before it in the due orders; the oldest first. */
  readonly #underWay = new Map<string, string>();
  #isWoken = false;
  #changed = Promise.withResolvers<void>();

  constructor(accountLease: Pick<AccountLease, 'walked'>, clock: Clock, { requests, intervalMs }: RateLimit) {
    this.#accountLease = accountLease;
    this.#clock = clock;
    this.#window = new RateWindow({ requests: requests * MOST_ROWS_READ_PER_REQUEST, intervalMs });
  }

  /** Call when a pass comes to an order. The next commit writes the place before the oldest order under way. */
  begin(externalOrderId: string, { nextActionAt, externalOrderId: before }: DueKey): void {
    this.#underWay.set(externalOrderId, JSON.stringify([nextActionAt, before]));
    const [oldest] = this.#underWay.values();
    if (oldest !== undefined) this.#accountLease.walked = oldest;
  }

  end(externalOrderId: string): void {
    this.#underWay.delete(externalOrderId);
    if (this.#underWay.size === 0) this.#changed.resolve();
  }

  has(externalOrderId: string): boolean {
    return this.#underWay.has(externalOrderId);
  }

  /** Makes a pass read again that waits for its last creates, because one of them may hang. */
  wake(): void {
    this.#isWoken = true;
    this.#changed.resolve();
  }

  /** Waits while orders are under way. Returns true as soon as the pass is woken. Only one pass may wait. */
  async readAgain(): Promise<boolean> {
    while (this.#underWay.size > 0 && !this.#isWoken) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    const isWoken = this.#isWoken && this.#underWay.size > 0;
    this.#isWoken = false;
    return isWoken;
  }

  /** Waits until the pass may read one more row. */
  async next(signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.monotonic();
      const waitMs = this.#window.waitMs(now) ?? 0;
      if (waitMs <= 0 || signal.aborted) {
        this.#window.start(now);
        return this.#window.end(now, true);
      }
      await this.#clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }
}
