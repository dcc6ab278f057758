import type { Clock } from '../../clock.ts';
import { assertNewestOwner, leaseRequests, requestsUntil } from '../../store/accounts.ts';
import type { Store, Transaction } from '../../store/port.ts';

/** A lease lasts this long: one small write in this time while requests go out. */
const LEASE_MS = 2_000;
const RENEW_BEFORE_MS = 500;

/**
 * The durable trace of when this owner may have sent requests. The next owner, which knows nothing of what is in the
 * rate limit's window, waits until the window after it has passed.
 */
export class RequestLease {
  readonly #store: Store;
  readonly #account: string;
  readonly #clock: Clock;
  readonly #generation: number;
  #until = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;

  constructor(store: Store, account: string, clock: Clock, generation: number) {
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#generation = generation;
  }

  /**
   * Resolves once requests may go out. Rejects when that cannot be made durable, or with `OwnedError` when another owner
   * has taken over: then nothing may be sent.
   */
  async ensure(): Promise<void> {
    // A write that waits for the database may be durable only when what it asked for is over.
    while (!this.#isFresh()) {
      this.#renewing ??= this.#write(LEASE_MS).finally(() => {
        this.#renewing = undefined;
      });
      await this.#renewing;
    }
  }

  /**
   * Renews the lease as part of the transaction that records an intent. Call the function it returns once the
   * transaction is durable, and then `ensure`, which costs nothing unless that took long.
   */
  async renewWithin(tx: Transaction): Promise<() => void> {
    if (!this.#isFresh()) return await this.#writeWithin(tx, LEASE_MS);
    await assertNewestOwner(tx, this.#account, this.#generation);
    return () => {};
  }

  /** Throws `OwnedError` when another owner has taken over. */
  async assertOwned(tx: Transaction): Promise<void> {
    await assertNewestOwner(tx, this.#account, this.#generation);
  }

  /** Ends the lease: this owner sends nothing more. */
  async release(): Promise<void> {
    if (this.#until !== Number.NEGATIVE_INFINITY) await this.#write(0);
  }

  #isFresh(): boolean {
    return this.#clock.monotonic() < this.#until - RENEW_BEFORE_MS;
  }

  async #write(ms: number): Promise<void> {
    const onDurable = await this.#store.writer.write((tx) => this.#writeWithin(tx, ms));
    onDurable();
  }

  async #writeWithin(tx: Transaction, ms: number): Promise<() => void> {
    await assertNewestOwner(tx, this.#account, this.#generation);
    const until = this.#clock.monotonic() + ms;
    await leaseRequests(tx, this.#account, new Date(this.#clock.now().getTime() + ms));
    return () => {
      this.#until = until;
    };
  }
}

/**
 * Says how long a new owner sends nothing, so that its requests and the last owner's together keep the limit. A lease that
 * ends later than any lease can was written under another clock; it is not waited for longer than a lease lasts.
 */
export async function waitAfterLastOwner(
  store: Store,
  account: string,
  now: Date,
  intervalMs: number,
): Promise<{ waitMs: number; clockWentBack: boolean }> {
  const until = await requestsUntil(store.db, account);
  if (until === undefined) return { waitMs: 0, clockWentBack: false };
  const aheadMs = until.getTime() - now.getTime();
  const waitMs = Math.max(0, Math.min(aheadMs, LEASE_MS) + intervalMs);
  return { waitMs, clockWentBack: aheadMs > LEASE_MS };
}
