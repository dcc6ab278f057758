import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Time and chance as an argument: nothing else reads a clock or a random number, so that tests decide both. */
export interface Clock {
  /** UTC. It follows the system's clock, except while that clock is behind by a second or less: then it follows the monotonic clock. */
  now(): Date;
  /** Has `now` follow the clock of the database, which showed `time` between two moments of the monotonic clock. */
  follow?(time: Date, from: number, to: number): void;
  /** How far the clock of the database is ahead of the machine's, in ms; undefined while no clock of a database is known. */
  readonly databaseAheadMs?: number | undefined;
  monotonic(): number;
  /** An id of this start of the machine. All processes with the same id count `monotonic` from that start. Undefined if the id is not known. */
  readonly boot?: string | undefined;
  /** Resolves after `ms`. Rejects when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the next turn of the event loop, after the input that is ready now. */
  turn(): Promise<void>;
  random(): number;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Returns a signal that aborts after `ms` of real time. It is for a wait that takes a signal but no `Clock`. */
export function deadline(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS));
}

export function repeatedly(ms: number, work: () => void): Disposable {
  const timer = setInterval(work, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A clock that is behind by less was corrected by a little, as happens all the time: time then does not go back. */
const SET_BACK_MS = 1_000;

/** Returns UTC that advances with `monotonic`. It jumps to `wall` if `wall` is ahead, or is behind by more than `SET_BACK_MS`. Both arguments return ms. */
export function steadyTime(wall: () => number, monotonic: () => number): () => Date {
  let anchor = { wall: wall(), monotonic: monotonic() };
  return () => {
    const shown = { wall: wall(), monotonic: monotonic() };
    const steady = Math.floor(anchor.wall + (shown.monotonic - anchor.monotonic));
    if (shown.wall <= steady && shown.wall >= steady - SET_BACK_MS) return new Date(steady);
    anchor = shown;
    return new Date(shown.wall);
  };
}

/** From this difference on, in ms, a person should check the clocks of database and machine. */
export const CLOCKS_APART_MS = 2_000;

/** A process uses one database, so all its clocks follow that database's clock. */
const followed: { aheadMs?: number } = {};

/** The clock of the machine, or of the database once its time was read: due times are the database's. */
export function systemClock(wall: () => number = () => Date.now()): Clock {
  // `hrtime` is the same clock in all processes of the machine. `performance` counts from the start of the process and is read faster.
  const startedAt = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const monotonic = () => startedAt + performance.now();
  return {
    now: steadyTime(() => wall() + Math.round(followed.aheadMs ?? 0), monotonic),
    follow(time, from, to) {
      const aheadMs = time.getTime() - (wall() - (monotonic() - (from + to) / 2));
      // A difference within half the time of the answer, and 1 ms of rounding, proves nothing.
      const isOff = Math.abs(aheadMs - (followed.aheadMs ?? 0)) > (to - from) / 2 + 1;
      followed.aheadMs = isOff ? aheadMs : (followed.aheadMs ?? 0);
    },
    get databaseAheadMs() {
      return followed.aheadMs;
    },
    monotonic,
    boot: readBoot(),
    sleep: (ms, signal) => delay(Math.min(Math.max(ms, 0), LONGEST_TIMER_MS), undefined, { signal }),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    random: () => Math.random(),
  };
}

function readBoot(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}
