import type { Clock } from '../../clock.ts';
import type { Hold } from '../../domain/accounts/holds.ts';
import type { Overdue } from '../../domain/orders/pace/overdue.ts';
import type { ExchangeClient } from '../../exchange/client.ts';
import type { Lane } from '../../exchange/gate.ts';
import type { RequestWatch, WatchedRequest } from '../../exchange/watch.ts';
import type { AccountLease } from '../../store/port.ts';
import type { KeptBack, OverdueStatus } from '../../reports/status/status.ts';
import { NewestTimes } from './newest-times.ts';

/** What drives an account now. */
export interface LiveAccount {
  readonly exchange: Pick<ExchangeClient, 'breaker' | 'isSilent'>;
  readonly holds: { readonly all: readonly Hold[]; readonly isKeyWrong: boolean };
  readonly accountLease: Pick<AccountLease, 'isTrusted'>;
}

/** One kind of pass of an account. */
export interface PassActivity {
  /** It was woken then, and none has ended well since. */
  readonly wantedSince: Date | undefined;
  /** The one that runs began then. */
  readonly runningSince: Date | undefined;
  /** The last one that the database did not break off ended then. */
  readonly goodAt: Date | undefined;
}

/** Hears of what all accounts of a process do. It must be quick: they wait for it. */
export interface ActivityListener {
  onRequest?(account: string, request: WatchedRequest): void;
  onTurn?(account: string, lane: Lane, waitedMs: number): void;
  onPass?(account: string, pass: string, tookMs: number, isGood: boolean): void;
  onChange?(account: string, lateMs: number): void;
}

/** Requests are counted over so many seconds. */
export const RECENT_SECONDS = 10;
type ActivityClock = Pick<Clock, 'now' | 'monotonic'>;

/** The orders that cannot be written of which an account remembers the newest, and for how long after their last try. */
const MOST_KEPT_BACK = 20;
const KEPT_BACK_MS = 15 * 60_000;

const NEVER: PassActivity = { wantedSince: undefined, runningSince: undefined, goodAt: undefined };

/** What an account does in this process, for who watches it. Nothing goes by it. */
export class Activity implements RequestWatch {
  readonly account: string;
  /** What drives it; undefined where it rests. */
  live: LiveAccount | undefined;
  readonly #clock: ActivityClock;
  readonly #listeners: readonly ActivityListener[];
  readonly #seconds = new Float64Array(RECENT_SECONDS);
  readonly #requests = new Float64Array(RECENT_SECONDS);
  readonly #passes = new Map<string, PassActivity>();
  /** The orders that waited for a look-up which was due, when the followed ones were last read. */
  overdue: Overdue | undefined;
  /** How late the newest changes were seen, in milliseconds. */
  readonly seenLate = new NewestTimes();
  readonly #keptBack = new Map<string, { readonly since: Date; readonly triedAt: Date; readonly cause: string }>();
  #inFlight = 0;
  #answeredAt: Date | undefined;
  #last: WatchedRequest | undefined;

  constructor(account: string, clock: ActivityClock, listeners: readonly ActivityListener[] = []) {
    this.account = account;
    this.#clock = clock;
    this.#listeners = listeners;
  }

  /** Requests that have left and have not ended. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** When the exchange last answered anything but a 5xx. */
  get answeredAt(): Date | undefined {
    return this.#answeredAt;
  }

  /** The request that ended last. */
  get lastRequest(): WatchedRequest | undefined {
    return this.#last;
  }

  /** Requests that ended in the last `RECENT_SECONDS`. */
  get recentRequests(): number {
    const before = this.#second() - RECENT_SECONDS;
    return this.#requests.reduce(
      (sum, requests, place) => sum + ((this.#seconds[place] ?? 0) > before ? requests : 0),
      0,
    );
  }

  #second(): number {
    return Math.floor(this.#clock.monotonic() / 1_000);
  }

  #count(): void {
    const second = this.#second();
    const place = second % RECENT_SECONDS;
    const isSame = this.#seconds[place] === second;
    this.#seconds[place] = second;
    this.#requests[place] = isSame ? (this.#requests[place] ?? 0) + 1 : 1;
  }

  get passes(): ReadonlyMap<string, PassActivity> {
    return this.#passes;
  }

  turned(lane: Lane, waitedMs: number): void {
    for (const listener of this.#listeners) listener.onTurn?.(this.account, lane, waitedMs);
  }

  left(): void {
    this.#inFlight += 1;
  }

  ended(request: WatchedRequest): void {
    this.#inFlight -= 1;
    this.#last = request;
    this.#count();
    if (request.isAnswered) this.#answeredAt = this.#clock.now();
    for (const listener of this.#listeners) listener.onRequest?.(this.account, request);
  }

  /** A look-up saw a change so many milliseconds after it was made. */
  changeSeen(lateMs: number): void {
    this.seenLate.add(lateMs);
    for (const listener of this.#listeners) listener.onChange?.(this.account, lateMs);
  }

  /** The database does not let an order be written. */
  orderRefused(externalOrderId: string, cause: string): void {
    const triedAt = this.#clock.now();
    const since = this.#keptBack.get(externalOrderId)?.since ?? triedAt;
    this.#keptBack.delete(externalOrderId);
    this.#keptBack.set(externalOrderId, { since, triedAt, cause });
    const [oldest] = this.#keptBack.keys();
    if (this.#keptBack.size > MOST_KEPT_BACK && oldest !== undefined) this.#keptBack.delete(oldest);
  }

  /** Work on an order ended well. */
  orderTaken(externalOrderId: string): void {
    this.#keptBack.delete(externalOrderId);
  }

  /** Lists orders that the database did not let be written; one that was not tried for long may be gone. */
  keptBack(now: Date): readonly KeptBack[] {
    return [...this.#keptBack]
      .filter(([, { triedAt }]) => now.getTime() - triedAt.getTime() < KEPT_BACK_MS)
      .map(([externalOrderId, { since, cause }]) => ({ externalOrderId, since: since.toISOString(), cause }));
  }

  /** There is work for a pass. */
  passWanted(pass: string): void {
    const before = this.#passes.get(pass) ?? NEVER;
    if (before.wantedSince === undefined) this.#passes.set(pass, { ...before, wantedSince: this.#clock.now() });
  }

  /** A pass begins; call what it gives when the pass has ended. */
  passBegins(pass: string): (isGood: boolean) => void {
    const runningSince = this.#clock.now();
    this.#passes.set(pass, { ...(this.#passes.get(pass) ?? NEVER), runningSince });
    return (isGood) => {
      const now = this.#clock.now();
      const before = this.#passes.get(pass) ?? NEVER;
      this.#passes.set(pass, isGood ? { ...NEVER, goodAt: now } : { ...before, runningSince: undefined });
      const tookMs = now.getTime() - runningSince.getTime();
      for (const listener of this.#listeners) listener.onPass?.(this.account, pass, tookMs, isGood);
    };
  }

  /** Nothing drives it any more. */
  rests(): void {
    this.live = undefined;
    this.overdue = undefined;
    for (const [pass, { goodAt }] of this.#passes) this.#passes.set(pass, { ...NEVER, goodAt });
  }
}

/** What the accounts of this process do; of each that it has driven. */
export class Activities {
  readonly #clock: ActivityClock;
  readonly #listeners: ActivityListener[] = [];
  readonly #byAccount = new Map<string, Activity>();

  constructor(clock: ActivityClock) {
    this.#clock = clock;
  }

  get all(): Iterable<Activity> {
    return this.#byAccount.values();
  }

  /** Undefined where this process has not driven the account. */
  find(account: string): Activity | undefined {
    return this.#byAccount.get(account);
  }

  of(account: string): Activity {
    const known = this.find(account);
    if (known !== undefined) return known;
    const made = new Activity(account, this.#clock, this.#listeners);
    this.#byAccount.set(account, made);
    return made;
  }

  listen(listener: ActivityListener): void {
    this.#listeners.push(listener);
  }
}

/** The orders of several accounts that wait for a look-up which was due; null where none does. */
export function overdueOf(activities: readonly Pick<Activity, 'overdue'>[]): OverdueStatus | null {
  const waiting = activities.flatMap(({ overdue }) => overdue ?? []);
  if (waiting.length === 0) return null;
  const sinceMs = Math.min(...waiting.map(({ since }) => since.getTime()));
  return { orders: waiting.reduce((sum, { orders }) => sum + orders, 0), since: new Date(sinceMs).toISOString() };
}
