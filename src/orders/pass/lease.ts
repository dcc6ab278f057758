import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/instant.ts';
import {
  type RateLimit,
  type RateWindow,
  type SpentRequests,
  SharedWindow,
} from '../../exchange/transport/rate-window.ts';
import { assertNewestOwner, leaseRequests, readLease, type Lease } from '../../store/tables/accounts.ts';
import { OwnedError, StoreError } from '../../store/errors.ts';
import type { AccountLease, Store, Transaction } from '../../store/port.ts';
import type { PaceMaker } from './pace.ts';

/** How long a lease lasts. While requests leave, each lease costs one small write. */
export const LEASE_MS = 2_000;
/** No request leaves in this last part of a lease. */
const UNUSED_MS = 500;
const RENEW_BEFORE_MS = 1_000;
/** The most requests that a lease grants, unless the rate limit allows more in the time of two leases. */
const MOST_GRANTED = 32;
/** How long a request waits for the database to confirm again that this process owns the account. */
const TRUST_WAIT_MS = 3_000;
const TRUST_LOOK_MS = 100;
/** The most times that one request writes a lease. A lease that is written slowly may end before it is durable. */
const MOST_WRITES = 5;

interface LeaseDeps {
  readonly account: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly accountLease: Pick<AccountLease, 'generation' | 'isTrusted' | 'ending' | 'now'>;
  readonly window: RateWindow;
  /** The most requests in flight at a time, each for at most `timeoutMs`. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly gracePeriodOver: AbortSignal;
}

/** A durable grant to send a number of requests until a time. The next owner counts all of these requests as sent. */
export class RequestLease {
  readonly #deps: LeaseDeps;
  readonly #granted: number;
  #until = Number.NEGATIVE_INFINITY;
  #started = 0;
  #mostStarted = 0;
  #renewing: Promise<void> | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    this.#granted = requestsOfLease(deps.window.limit);
  }

  /** Resolves when one request may leave. Rejects with `StoreError` (too slow) or `OwnedError` (not the owner). */
  async ensure(): Promise<void> {
    // Other requests may have used the grant during these waits, so the grant is checked last.
    do {
      await this.#untilTrusted();
      await this.#untilItLasts();
    } while (!this.isTrusted() || !this.#hasLeft(UNUSED_MS, 1));
    this.#started += 1;
    // Renews early, so that no request waits. If this write fails, the next request writes the lease again.
    if (this.#isRunningOut()) this.#renew().catch(() => undefined);
  }

  /** True as long as no other process can own the account. */
  isTrusted(): boolean {
    return this.#deps.accountLease.isTrusted();
  }

  /** Renews the lease if it soon runs out. When the transaction is durable, call the result, then `ensure`. */
  async renewWithin(tx: Transaction): Promise<() => void> {
    if (this.#isRunningOut()) return await this.#writeWithin(tx, LEASE_MS, this.#granted);
    await this.assertOwned(tx);
    return () => {};
  }

  async assertOwned(tx: Transaction): Promise<void> {
    await assertNewestOwner(tx, this.#deps.account, this.#deps.accountLease.generation);
  }

  async release(): Promise<void> {
    if (this.#until !== Number.NEGATIVE_INFINITY) await this.#write(0, 0);
  }

  /** Writes the lease if it has run out, and again if a slow write became durable only after the lease had ended. */
  async #untilItLasts(): Promise<void> {
    for (let writes = 0; !this.#hasLeft(UNUSED_MS, 1); writes += 1) {
      if (writes === MOST_WRITES || this.#deps.gracePeriodOver.aborted) {
        throw new StoreError('busy', 'the database takes longer to write the lease of requests than the lease lasts');
      }
      await this.#renew();
    }
  }

  async #untilTrusted(): Promise<void> {
    const { accountLease, clock, account } = this.#deps;
    const until = clock.monotonic() + TRUST_WAIT_MS;
    while (!accountLease.isTrusted()) {
      if (accountLease.ending.aborted) throw new OwnedError(`this process no longer drives the account ${account}`);
      if (clock.monotonic() >= until) {
        const unconfirmed = `the database does not say whether this process still drives the account ${account}`;
        throw new StoreError('busy', unconfirmed);
      }
      await clock.sleep(TRUST_LOOK_MS, accountLease.ending).catch(() => undefined);
    }
  }

  #isRunningOut(): boolean {
    return !this.#hasLeft(RENEW_BEFORE_MS, Math.ceil(this.#granted / 2));
  }

  #hasLeft(ms: number, requests: number): boolean {
    const isInTime = this.#deps.clock.monotonic() < this.#until - ms;
    return isInTime && this.#started + requests <= this.#mostStarted;
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#write(LEASE_MS, this.#granted).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #write(ms: number, requests: number): Promise<void> {
    (await this.#deps.store.writer.write((tx) => this.#writeWithin(tx, ms, requests)))();
  }

  async #writeWithin(tx: Transaction, ms: number, requests: number): Promise<() => void> {
    const { account, clock, accountLease, window, concurrency, timeoutMs } = this.#deps;
    await this.assertOwned(tx);
    const [now, monotonic] = [accountLease.now(), clock.monotonic()];
    const { running, ended } = window.spent(monotonic);
    const mostStarted = this.#started + requests;
    await leaseRequests(tx, account, {
      until: after(now, ms),
      boot: clock.boot ?? null,
      bootMs: Math.ceil(monotonic + ms),
      requests: running + requests,
      intervalMs: window.limit.intervalMs,
      spent: ended.map((spent) => ({ at: after(now, spent.at - monotonic), requests: spent.requests })),
      concurrency,
      timeoutMs,
    });
    return () => {
      this.#until = monotonic + ms;
      this.#mostStarted = mostStarted;
    };
  }
}

/** Returns how many requests a lease grants. After a kill the next owner counts all as sent, so a lease grants few. */
function requestsOfLease({ requests, intervalMs }: RateLimit): number {
  const inTime = Math.ceil((requests * 2 * LEASE_MS) / intervalMs);
  return Math.max(inTime, Math.min(MOST_GRANTED, Math.ceil(requests / MOST_GRANTED)));
}

type StoreAndClock = Pick<LeaseDeps, 'store' | 'clock'>;
type LastOwnerDeps = Pick<LeaseDeps, 'store' | 'account' | 'clock'> & {
  readonly accountLease: Pick<AccountLease, 'now' | 'lastOwnerUntil'>;
};

/** Returns the requests that the last owner may have sent. The end of another boot's lease is known only in UTC. */
export async function spentByLastOwner({ store, account, clock, accountLease }: LastOwnerDeps, limit: RateLimit) {
  const lease = await readLease(store.db, account);
  if (lease === undefined) return { spent: [], clockWentBack: false };
  const [now, monotonic] = [accountLease.now().getTime(), clock.monotonic()];
  const clockWentBack = lease.until.getTime() - now > LEASE_MS;
  const isOfThisBoot = lease.boot !== null && lease.boot === clock.boot;
  const until = (isOfThisBoot ? lease.bootMs : null) ?? monotonic + lease.until.getTime() - now;
  const latest = Math.min(until, monotonic + LEASE_MS);
  const laterMs = latest - lease.until.getTime();
  const spent = lease.spent.map(({ at, requests }) => ({ at: laterMs + at.getTime(), requests }));
  return { spent: [...spent, ...granted(lease, latest, accountLease.lastOwnerUntil, limit)], clockWentBack };
}

/** If the last owner crashed (`lastOwnerUntil`), its requests in flight also count until their timeout. */
function granted(lease: Lease, until: number, lastOwnerUntil: number | undefined, limit: RateLimit): SpentRequests[] {
  // The last owner stored only requests of its own interval. If ours is longer, older requests may fill our limit.
  const requests = lease.intervalMs < limit.intervalMs ? limit.requests : lease.requests;
  if (lastOwnerUntil === undefined) return [{ at: until, requests }];
  const begun = Math.min(lease.concurrency, lease.requests);
  return [
    // `until` is too early if the clock that dates leases was set forward.
    { at: Math.max(until, lastOwnerUntil), requests: Math.max(0, requests - begun) },
    { at: until, requests: begun },
    { at: Math.min(until, lastOwnerUntil) + lease.timeoutMs, requests: begun },
  ];
}

/** Accounts of this process that share a rate limit, so that a request of one account counts for all of them. */
export class RateGroup {
  readonly paceOf: ReturnType<PaceMaker> | undefined;
  readonly #leases: readonly AccountLease[];
  #window: Promise<SharedWindow> | undefined;

  constructor(accountLeases: readonly AccountLease[], makePaces?: PaceMaker) {
    this.#leases = accountLeases;
    this.paceOf = makePaces?.(accountLeases.length);
  }

  /** `lost`: requests that earlier owners may have sent, and that no lease names. */
  async windowOf(deps: StoreAndClock, limit: RateLimit, spent: SpentRequests[], lost: SpentRequests[] = []) {
    this.#window ??= this.#open(deps, limit).catch((error: unknown) => {
      this.#window = undefined;
      throw error;
    });
    return (await this.#window).member(spent, lost);
  }

  async #open({ store, clock }: StoreAndClock, limit: RateLimit): Promise<SharedWindow> {
    const last = await Array.fromAsync(this.#leases, (accountLease) =>
      spentByLastOwner({ store, clock, accountLease, account: accountLease.account }, limit),
    );
    const spent = last.flatMap((one) => one.spent);
    return new SharedWindow(limit, spent, clock);
  }
}
