import { setTimeout as delay } from 'node:timers/promises';

/**
 * Time and chance, as an argument. Nothing else in the program reads a clock or a random number, so that a test or a
 * simulation can decide both.
 */
export interface Clock {
  /**
   * UTC time for due times and records. Within one process it never goes back: when the system's clock is set back it
   * goes on with the monotonic clock, so that what is due stays due.
   */
  now(): Date;
  /** Milliseconds that only grow; for intervals and deadlines. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the next turn of the event loop, after the input that is ready now. */
  turn(): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A signal that aborts after `ms`, which ends a wait for something that has no clock of its own. */
export function deadline(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS));
}

/** Does the work every `ms` until it is disposed of. */
export function repeatedly(ms: number, work: () => void): Disposable {
  const timer = setInterval(work, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** UTC that follows `wall` where that is set forward, and goes on with `monotonic` where it is set back; both in ms. */
export function steadyTime(wall: () => number, monotonic: () => number): () => Date {
  const anchorWall = wall();
  const anchorMonotonic = monotonic();
  let latest = anchorWall;
  return () => {
    const steady = anchorWall + (monotonic() - anchorMonotonic);
    latest = Math.max(latest, wall(), Math.floor(steady));
    return new Date(latest);
  };
}

/** The clock of the machine. */
export function systemClock(): Clock {
  const monotonic = () => performance.now();
  return {
    now: steadyTime(() => Date.now(), monotonic),
    monotonic,
    sleep: (ms, signal) => delay(Math.min(Math.max(ms, 0), LONGEST_TIMER_MS), undefined, { signal }),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    random: () => Math.random(),
  };
}
