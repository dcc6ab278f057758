import PQueue from 'p-queue';
import type { Clock } from '../clock.ts';
import { CLOSED, nextBreaker, type BreakerState, type Health } from './breaker.ts';
import { RateWindow, type RateLimit } from './rate-window.ts';

/** What a request is for. Creates go ahead of look-ups; what a person waits for goes ahead of both. */
export type Lane = 'person' | 'create' | 'lookup';

/** Share of the queue's turns while all lanes are full: a lane with weight 4 gets four turns for one of weight 1. */
const WEIGHT: Readonly<Record<Lane, number>> = { person: 16, create: 4, lookup: 1 };

/** The turn of a task came while its lane's probe was out. */
const BEHIND_PROBE = Symbol('behind a probe');

/** How a request that went through the gate ended. */
export interface Passage {
  readonly wasSent: boolean;
  readonly health: Health;
  /** A hold that the exchange asked for (Retry-After), in milliseconds. */
  readonly holdMs?: number;
}

/** Settings of the gate. */
export interface GateOptions {
  readonly concurrency: number;
  readonly rate: RateLimit;
}

/**
 * Everything that goes to the exchange goes through here: bounded concurrency, lanes, the rate limit, and holds while
 * the exchange cannot serve. The queue holds only what is about to go; the backlog is in the database.
 *
 * p-queue runs the tasks in order of priority. Its own interval reads the wall clock (a step back stalls it, a step
 * forward breaks the limit) and counts only starts, so the sliding window is ours, on the monotonic clock, and pauses
 * the queue.
 */
export class Gate {
  readonly #queue: PQueue;
  readonly #window: RateWindow;
  readonly #clock: Clock;
  readonly #breakers: Record<Lane, BreakerState> = { person: CLOSED, create: CLOSED, lookup: CLOSED };
  /** The probe of a lane that is out; resolves when it is back. */
  readonly #probes: Partial<Record<Lane, Promise<void>>> = {};
  readonly #holdsEver: Record<Lane, number> = { person: 0, create: 0, lookup: 0 };
  readonly #turns: Record<Lane, number> = { person: 0, create: 0, lookup: 0 };
  readonly #closing = new AbortController();
  #notBefore = 0;
  #latestTurn = 0;
  #isWaking = false;

  constructor(options: GateOptions, clock: Clock) {
    this.#queue = new PQueue({ concurrency: options.concurrency });
    this.#window = new RateWindow(options.rate);
    this.#clock = clock;
  }

  /** Nothing goes out for this long: what an earlier owner of the account sent may still count. */
  waitFirst(ms: number): void {
    this.#notBefore = this.#clock.monotonic() + ms;
    this.#pauseWhileFull();
  }

  /**
   * How much longer a lane is held because the exchange cannot serve it, how many holds that makes in a row, and how many
   * there ever were.
   */
  holdOf(lane: Lane): { heldMs: number; holds: number; holdsEver: number } {
    const { heldUntil, holds } = this.#breakers[lane];
    return {
      heldMs: Math.max(0, heldUntil - this.#clock.monotonic()),
      holds,
      holdsEver: this.#holdsEver[lane],
    };
  }

  /** Whether a pass should stop handing in tasks: the lane is held. */
  isHeld(lane: Lane): boolean {
    return this.holdOf(lane).heldMs > 0;
  }

  /**
   * Runs the task when its turn has come; while a probe is out, when that is back. Undefined, with the task not run, when
   * the lane is held or `signal` aborted while it waited: the pass leaves the order as it is, still due.
   */
  async pass<Result>(
    lane: Lane,
    task: () => Promise<{ result: Result; passage: Passage }>,
    signal?: AbortSignal,
  ): Promise<Result | undefined> {
    for (;;) {
      await this.#probes[lane];
      const turn = this.#turn(lane);
      const run = () => {
        this.#latestTurn = Math.max(this.#latestTurn, turn);
        return this.#run(lane, task, signal);
      };
      const done = await this.#queueUp(run, -turn, signal);
      if (done !== BEHIND_PROBE) return done;
    }
  }

  /** Ends waits; tasks that have not started are not run any more. */
  close(): void {
    this.#closing.abort();
    this.#queue.start();
  }

  /** Runs when the turn has come; undefined at once where `signal` aborts before that, however long the turn would take. */
  async #queueUp<Result>(
    run: () => Promise<Result>,
    priority: number,
    signal?: AbortSignal,
  ): Promise<Result | undefined> {
    if (signal === undefined) return await this.#queue.add(run, { priority });
    if (signal.aborted) return undefined;
    const left = Promise.withResolvers<undefined>();
    let hasLeft = false;
    const leave = () => {
      hasLeft = true;
      left.resolve(undefined);
    };
    signal.addEventListener('abort', leave);
    const task = () => {
      // Only what waits may leave: a task that runs is finished.
      signal.removeEventListener('abort', leave);
      return hasLeft ? Promise.resolve(undefined) : run();
    };
    return await Promise.race([this.#queue.add(task, { priority }), left.promise]);
  }

  /** Weighted fair queueing: each task takes the next turn of its lane, and an idle lane saves up none. */
  #turn(lane: Lane): number {
    const turn = Math.max(this.#turns[lane], this.#latestTurn) + 1 / WEIGHT[lane];
    this.#turns[lane] = turn;
    return turn;
  }

  async #run<Result>(
    lane: Lane,
    task: () => Promise<{ result: Result; passage: Passage }>,
    signal?: AbortSignal,
  ): Promise<Result | undefined | typeof BEHIND_PROBE> {
    if (this.#isRefused(lane, signal)) return undefined;
    if (this.#probes[lane] !== undefined) return BEHIND_PROBE;
    const probe = lane !== 'person' && this.#breakers[lane].heldUntil > 0 ? Promise.withResolvers<void>() : undefined;
    if (probe !== undefined) this.#probes[lane] = probe.promise;
    this.#window.start();
    this.#pauseWhileFull();
    let passage: Passage = { wasSent: true, health: 'none' };
    try {
      const done = await task();
      passage = done.passage;
      return done.result;
    } finally {
      this.#window.end(this.#clock.monotonic(), passage.wasSent);
      if (probe !== undefined) delete this.#probes[lane];
      this.#note(lane, passage);
      probe?.resolve();
      this.#pauseWhileFull();
    }
  }

  #isRefused(lane: Lane, signal?: AbortSignal): boolean {
    if (signal?.aborted === true || this.#closing.signal.aborted) return true;
    return lane !== 'person' && this.isHeld(lane);
  }

  /** "Not now" is about the account or the network, so it holds both lanes; a failure is about its own. */
  #note(lane: Lane, passage: Passage): void {
    if (passage.health === 'none') return;
    const lanes: readonly Lane[] = passage.health === 'refused-for-now' ? ['create', 'lookup'] : [lane];
    for (const one of lanes) {
      const random = passage.health === 'answered' ? 0 : this.#clock.random();
      const now = this.#clock.monotonic();
      const next = nextBreaker(this.#breakers[one], passage.health, now, random, passage.holdMs);
      if (next.holds > this.#breakers[one].holds) this.#holdsEver[one] += 1;
      this.#breakers[one] = next;
    }
  }

  #waitMs(): number | undefined {
    const now = this.#clock.monotonic();
    const firstMs = this.#notBefore - now;
    return firstMs > 0 ? firstMs : this.#window.waitMs(now);
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
