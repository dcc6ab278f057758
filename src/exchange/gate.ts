import PQueue from 'p-queue';
import type { Clock } from '../clock.ts';
import { CLOSED, nextBreaker, type BreakerState, type Health } from './breaker.ts';
import { RateWindow, type RateLimit } from './rate-window.ts';

/** The purpose of a request. Creates go ahead of look-ups; what a person waits for goes ahead of both. */
export type Lane = 'person' | 'create' | 'lookup';

/** Share of the turns while all lanes are full: a lane with weight 4 gets four turns for one of weight 1. */
const WEIGHT: Readonly<Record<Lane, number>> = { person: 16, create: 4, lookup: 1 };

/** The turn came while the probe of its lane was in flight. */
const BEHIND_PROBE = Symbol('behind a probe');

/** The end of a turn's request. */
export interface TurnReport {
  /** False where it is proved that nothing left: then the turn does not count against the rate. */
  readonly wasSent: boolean;
  readonly health: Health;
  /** The time that the exchange asked to wait (Retry-After), in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The right to send one request. It must be ended, or disposed of, which is the same. */
export class Turn implements Disposable {
  readonly lane: Lane;
  /** Set by whoever sends; a turn in which nothing was sent counts for nothing. */
  report: TurnReport = { wasSent: false, health: 'nothing' };
  readonly #onEnd: (report: TurnReport) => void;
  #isOver = false;

  constructor(lane: Lane, onEnd: (report: TurnReport) => void) {
    this.lane = lane;
    this.#onEnd = onEnd;
  }

  end(): void {
    if (!this.#isOver) this.#onEnd(this.report);
    this.#isOver = true;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/** Settings of the gate. */
export interface GateOptions {
  readonly concurrency: number;
  readonly rate: RateLimit;
  /** No turn is given for this long: what an earlier owner of the account sent may still count. */
  readonly openAfterMs?: number;
  /** The time for which the account's requests of a lane are held, in milliseconds. */
  readonly heldForMs?: (lane: 'create' | 'lookup') => number;
}

/** A lane's circuit breaker as its users see it: it is open while the account's requests are held, too. */
export interface BreakerView {
  readonly isOpen: boolean;
  /** The time for which it is still open; 0 when it is closed or half-open. */
  readonly openForMs: number;
  /** The number of times that it opened since it was last closed. */
  readonly openings: number;
  /** The number of times that it ever opened. */
  readonly openingsEver: number;
}

/**
 * Gives out turns: bounded concurrency, weighted lanes, the rate limit, and a circuit breaker for creates and one for
 * look-ups. The queue holds only what is about to go; the backlog is in the database.
 *
 * p-queue runs its tasks in order of priority; a task here is the time between the beginning of a turn and its end.
 * p-queue's own interval reads the wall clock (a step back stalls it, a step forward breaks the limit) and counts only
 * starts, so the sliding window is ours, on the monotonic clock, and pauses the queue.
 */
export class Gate {
  readonly #queue: PQueue;
  readonly #window: RateWindow;
  readonly #clock: Clock;
  readonly #breakers: Record<Lane, BreakerState> = { person: CLOSED, create: CLOSED, lookup: CLOSED };
  /** The probe of a lane that is in flight; resolves when it has ended. */
  readonly #probes: Partial<Record<Lane, Promise<void>>> = {};
  readonly #places: Record<Lane, number> = { person: 0, create: 0, lookup: 0 };
  readonly #closing = new AbortController();
  readonly #notBefore: number;
  readonly #heldForMs: (lane: 'create' | 'lookup') => number;
  #latestPlace = 0;
  #isWaking = false;

  constructor({ concurrency, rate, openAfterMs = 0, heldForMs = () => 0 }: GateOptions, clock: Clock) {
    this.#queue = new PQueue({ concurrency });
    this.#window = new RateWindow(rate);
    this.#clock = clock;
    this.#notBefore = clock.monotonic() + openAfterMs;
    this.#heldForMs = heldForMs;
    this.#pauseWhileFull();
  }

  breaker(lane: Lane): BreakerView {
    const { openUntil, openings, openingsEver } = this.#breakers[lane];
    const heldForMs = lane === 'person' ? 0 : this.#heldForMs(lane);
    const openForMs = Math.max(0, openUntil - this.#clock.monotonic(), heldForMs);
    return { isOpen: openForMs > 0, openForMs, openings, openingsEver };
  }

  /**
   * The next turn of the lane; while a probe is in flight, when that has ended. Undefined when the breaker of the lane is
   * open or `signal` aborts first. Whoever takes a turn ends it, or no other comes.
   */
  async turn(lane: Lane, signal?: AbortSignal): Promise<Turn | undefined> {
    for (;;) {
      await this.#probes[lane];
      const turn = await this.#queueUp(lane, signal);
      if (turn !== BEHIND_PROBE) return turn;
    }
  }

  /** Ends waits; no further turn is given. */
  close(): void {
    this.#closing.abort();
    this.#queue.start();
  }

  /**
   * Resolves as soon as `signal` aborts, however long the turn would take. The signal is not given to p-queue, which would
   * free the place of a turn that is in use.
   */
  #queueUp(lane: Lane, signal?: AbortSignal): Promise<Turn | undefined | typeof BEHIND_PROBE> {
    const place = this.#nextPlace(lane);
    return new Promise((resolve) => {
      const leave = () => resolve(undefined);
      if (signal?.aborted === true) return leave();
      signal?.addEventListener('abort', leave, { once: true });
      const takeTurn = async () => {
        signal?.removeEventListener('abort', leave);
        this.#latestPlace = Math.max(this.#latestPlace, place);
        if (this.#isRefused(lane, signal)) return leave();
        if (this.#probes[lane] !== undefined) return resolve(BEHIND_PROBE);
        await new Promise<void>((onEnd) => resolve(this.#begin(lane, onEnd)));
      };
      void this.#queue.add(takeTurn, { priority: -place });
    });
  }

  /** Weighted fair queueing: each request takes the next place of its lane, and an idle lane saves up none. */
  #nextPlace(lane: Lane): number {
    const place = Math.max(this.#places[lane], this.#latestPlace) + 1 / WEIGHT[lane];
    this.#places[lane] = place;
    return place;
  }

  #isRefused(lane: Lane, signal?: AbortSignal): boolean {
    if (signal?.aborted === true || this.#closing.signal.aborted) return true;
    return lane !== 'person' && this.breaker(lane).isOpen;
  }

  #begin(lane: Lane, onEnd: () => void): Turn {
    const isProbe = lane !== 'person' && this.#breakers[lane].openUntil > 0;
    const probe = isProbe ? Promise.withResolvers<void>() : undefined;
    if (probe !== undefined) this.#probes[lane] = probe.promise;
    this.#window.start();
    this.#pauseWhileFull();
    return new Turn(lane, (report) => {
      this.#window.end(this.#clock.monotonic(), report.wasSent);
      if (probe !== undefined) delete this.#probes[lane];
      this.#feedBreakers(lane, report);
      probe?.resolve();
      this.#pauseWhileFull();
      onEnd();
    });
  }

  /** "Not now" is about the account or the network, so it is about both lanes; a failure is about its own. */
  #feedBreakers(lane: Lane, { health, retryAfterMs }: TurnReport): void {
    if (health === 'nothing') return;
    const now = this.#clock.monotonic();
    const lanes: readonly Lane[] = health === 'refused-for-now' ? ['create', 'lookup'] : [lane];
    for (const one of lanes) {
      const random = health === 'answered' ? 0 : this.#clock.random();
      this.#breakers[one] = nextBreaker(this.#breakers[one], health, now, random, retryAfterMs);
    }
  }

  #waitMs(): number | undefined {
    const now = this.#clock.monotonic();
    return now < this.#notBefore ? this.#notBefore - now : this.#window.waitMs(now);
  }

  /** Pauses the queue while no request may start, and starts it again at the moment when one may. */
  #pauseWhileFull(): void {
    const waitMs = this.#waitMs();
    if (waitMs === 0 || this.#closing.signal.aborted) {
      this.#queue.start();
      return;
    }
    this.#queue.pause();
    if (waitMs === undefined || this.#isWaking) return;
    this.#isWaking = true;
    void this.#clock
      .sleep(Math.ceil(waitMs), this.#closing.signal)
      .catch(() => undefined)
      .then(() => {
        this.#isWaking = false;
        this.#pauseWhileFull();
      });
  }
}
