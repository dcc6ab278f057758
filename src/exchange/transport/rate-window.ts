import type { Clock } from '../../base/clock.ts';

/** At most `requests` requests in any window of `intervalMs` milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly intervalMs: number;
  /** `proved` (default): requests count for an interval after they end. `paced`: after they leave, evenly spaced. */
  readonly mode?: 'proved' | 'paced';
}

/** Requests that ended by `at`, in ms of the monotonic clock. If `at` is in the future, some may still leave. */
export interface SpentRequests {
  readonly at: number;
  readonly requests: number;
}

/** The used part of a paced limit. The rest stays free, because the network may bring requests closer together. */
const USED = 0.95;
/** If a start is late by at most this, later starts make up for it, because timers and commits delay single starts. */
const MOST_LATE_MS = 50;
/** The same bound as a part of the interval. It is below the unused 1 - `USED`, so no window exceeds the limit. */
const MOST_LATE_PART = 1 / 25;
const SLOW_MS = 60_000;
const SLOWER = 2;

/** Requests that end within a thousandth of the interval form a group, which counts as if all ended with the last. */
const PARTS = 1_000;
/** Each group in the request lease, which the next owner reads, spans a 32nd of the interval. */
const REMEMBERED_PARTS = 32;

/** The sliding window. A running request counts too, because the exchange sees it between its start and its end. */
export class RateWindow {
  readonly limit: RateLimit;
  /** Requests of earlier owners. Some may still leave, so requests that ended here join none of these groups. */
  readonly #earlier: Group[] = [];
  readonly #ended: Group[] = [];
  readonly #spacing: Spacing | undefined;
  #counted = 0;
  #running = 0;

  constructor(limit: RateLimit, spent: readonly SpentRequests[] = []) {
    this.limit = limit;
    if (limit.mode === 'paced') this.#spacing = new Spacing(limit);
    this.add(spent);
  }

  /** Counts requests of earlier owners. */
  add(spent: readonly SpentRequests[]): void {
    for (const { at, requests } of spent) {
      this.#earlier.push({ from: at, at, requests });
      this.#counted += requests;
    }
    this.#earlier.sort((one, other) => one.at - other.at);
  }

  /** A shared window calls `onChange` when its room may have changed. The window of a single account never does. */
  watch(_onChange: () => void): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  roomCame(): void {}

  /** Milliseconds until one more request may start: 0 for now, undefined if a running request must end first. */
  waitMs(now: number): number | undefined {
    this.#forget(now);
    const spacedMs = this.#spacing?.waitMs(now) ?? 0;
    if (this.#running + this.#counted < this.limit.requests) return spacedMs;
    const oldest = Math.min(this.#ended[0]?.at ?? Infinity, this.#earlier[0]?.at ?? Infinity);
    return oldest === Infinity ? undefined : Math.max(oldest + this.limit.intervalMs - now, spacedMs);
  }

  start(now: number): void {
    this.#running += 1;
    this.#spacing?.start(now);
  }

  /** Halves a paced rate for a minute, because the exchange answered 429, or 503 with Retry-After, at `now`. */
  slowDown(now: number): void {
    this.#spacing?.slowDown(now);
  }

  /** Notes that a request ended or, with a paced limit, left at `now`. A request that was not sent counts no longer. */
  end(now: number, wasSent: boolean): void {
    this.#running -= 1;
    if (!wasSent) return;
    this.#counted += 1;
    addTo(this.#ended, { from: now, at: now, requests: 1 }, this.limit.intervalMs / PARTS);
  }

  /** Returns the number of running requests, and the ended requests that still count, in about 33 groups at most. */
  spent(now: number): { readonly running: number; readonly ended: readonly SpentRequests[] } {
    this.#forget(now);
    const ended: Group[] = [];
    const groups = [...this.#earlier, ...this.#ended].toSorted((one, other) => one.at - other.at);
    for (const group of groups) addTo(ended, group, this.limit.intervalMs / REMEMBERED_PARTS);
    return { running: this.#running, ended: ended.map(({ at, requests }) => ({ at, requests })) };
  }

  #forget(now: number): void {
    for (const groups of [this.#earlier, this.#ended]) {
      while (groups[0] !== undefined && groups[0].at + this.limit.intervalMs <= now) {
        this.#counted -= groups.shift()?.requests ?? 0;
      }
    }
  }
}

interface Group {
  readonly from: number;
  at: number;
  requests: number;
}

function addTo(groups: Group[], { from, at, requests }: Group, mostMs: number): void {
  const last = groups.at(-1);
  if (last === undefined || at - last.from >= mostMs) groups.push({ from, at, requests });
  else {
    last.at = Math.max(last.at, at);
    last.requests += requests;
  }
}

/** Keeps starts at equal distances on the monotonic clock, twice as far apart for a minute after `slowDown`. */
export class Spacing {
  readonly #gapMs: number;
  readonly #mostLateMs: number;
  #nextAt = Number.NEGATIVE_INFINITY;
  #slowUntil = Number.NEGATIVE_INFINITY;

  constructor({ requests, intervalMs }: RateLimit) {
    this.#gapMs = intervalMs / (USED * requests);
    this.#mostLateMs = Math.min(MOST_LATE_MS, intervalMs * MOST_LATE_PART);
  }

  waitMs(now: number): number {
    return Math.max(0, this.#nextAt - now);
  }

  /** Notes a start. After a pause the next start still waits for a whole gap, so that a pause saves up no starts. */
  start(now: number): void {
    const isLate = now - this.#nextAt <= this.#mostLateMs;
    const gapMs = now < this.#slowUntil ? this.#gapMs * SLOWER : this.#gapMs;
    this.#nextAt = (isLate ? this.#nextAt : now) + gapMs;
  }

  slowDown(now: number): void {
    this.#slowUntil = now + SLOW_MS;
  }
}

/**
 * The sliding window of accounts that share one limit: each request counts for all. The accounts get room in turn, one
 * request each, so that no account waits for the backlog of another.
 */
export class SharedWindow {
  readonly window: RateWindow;
  readonly #clock: Clock;
  /** The members with a gate, in the order of their turns. A member whose request starts goes to the end. */
  #members: Member[] = [];
  /** The only member that may start a request while `deal` runs. */
  #turnOf: Member | undefined;
  #isDealing = false;

  /** `spent`: the requests of earlier owners of all the accounts. */
  constructor(limit: RateLimit, spent: readonly SpentRequests[], clock: Clock) {
    this.window = new RateWindow(limit, spent);
    this.#clock = clock;
  }

  /** Returns the window of one account. `spent`: requests of its earlier owners. `others` are not counted here yet. */
  member(spent: readonly SpentRequests[], others: readonly SpentRequests[] = []): RateWindow {
    this.window.add(others);
    this.deal();
    return new Member(this, [...spent, ...others]);
  }

  join(member: Member): Disposable {
    this.#members.unshift(member);
    return { [Symbol.dispose]: () => (this.#members = this.#members.filter((one) => one !== member)) };
  }

  waitMs(member: Member, now: number): number | undefined {
    return this.#isDealing && this.#turnOf !== member ? undefined : this.window.waitMs(now);
  }

  started(member: Member, now: number): void {
    this.window.start(now);
    if (this.#turnOf === member) this.#turnOf = undefined;
    const others = this.#members.filter((one) => one !== member);
    if (others.length < this.#members.length) this.#members = [...others, member];
    // The other members pause their queues if this start took the last room.
    if (!this.#isDealing) for (const other of others) other.changed();
  }

  deal(): void {
    if (this.#isDealing) return;
    this.#isDealing = true;
    for (let isAnyStarted = true; isAnyStarted;) {
      isAnyStarted = false;
      for (const member of this.#members) {
        if (this.window.waitMs(this.#clock.monotonic()) !== 0) break;
        this.#turnOf = member;
        member.changed();
        isAnyStarted ||= this.#turnOf === undefined;
      }
    }
    this.#turnOf = undefined;
    this.#isDealing = false;
    for (const member of this.#members) member.changed();
  }
}

/** Counts the requests of one account for its request lease. The shared window decides if a request may start. */
class Member extends RateWindow {
  readonly #shared: SharedWindow;
  changed = (): void => {};

  constructor(shared: SharedWindow, spent: readonly SpentRequests[]) {
    super(shared.window.limit, spent);
    this.#shared = shared;
  }

  override watch(onChange: () => void): Disposable {
    this.changed = onChange;
    return this.#shared.join(this);
  }

  override roomCame(): void {
    this.#shared.deal();
  }

  override waitMs(now: number): number | undefined {
    return this.#shared.waitMs(this, now);
  }

  override start(now: number): void {
    super.start(now);
    this.#shared.started(this, now);
  }

  override slowDown(now: number): void {
    this.#shared.window.slowDown(now);
  }

  override end(now: number, wasSent: boolean): void {
    super.end(now, wasSent);
    this.#shared.window.end(now, wasSent);
    this.#shared.deal();
  }
}
