import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Time and chance. Code that decides by time or chance takes a `Clock`, so that tests can set both. */
export interface Clock {
  /** UTC. If the system's clock is set back by up to 1 s, `now` advances with the monotonic clock instead. */
  now(): Date;
  /** Makes `now` follow the database's clock, which showed `time` between the monotonic times `from` and `to`. */
  follow?(time: Date, from: number, to: number): void;
  /** By how many ms the database's clock is ahead of the machine's; undefined before the first `follow`. */
  readonly databaseAheadMs?: number | undefined;
  monotonic(): number;
  /** The id of the machine's last start, from which `monotonic` counts ms in all processes; undefined if unknown. */
  readonly boot?: string | undefined;
  /** Resolves after `ms`, at most 2^31 - 1. Rejects if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the next turn of the event loop, after the callbacks of input that is ready now. */
  turn(): Promise<void>;
  random(): number;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Returns a signal that aborts after `ms` of real time, for functions that take a signal but no `Clock`. */
export function deadline(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS));
}

export function repeatedly(ms: number, work: () => void): Disposable {
  const timer = setInterval(work, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Time synchronization often sets a clock back by up to this much. Such a step does not set `now` back. */
const SET_BACK_MS = 1_000;

/** A UTC clock that advances by `monotonic`, and shows `wall` if `wall` is ahead or over `SET_BACK_MS` behind. */
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

/** From this difference on, a person should check the clocks of the database and the machine. */
export const CLOCKS_APART_MS = 2_000;

/** All clocks of this process follow one database's clock, because a process uses one database. */
const followed: { aheadMs?: number } = {};

/** Returns the machine's clock. After `follow`, `now` is the database's time, by which due times are written. */
export function systemClock(wall: () => number = () => Date.now()): Clock {
  // All processes of the machine share `hrtime`. `performance` is faster, but counts from the start of the process.
  const startedAt = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const monotonic = () => startedAt + performance.now();
  return {
    now: steadyTime(() => wall() + Math.round(followed.aheadMs ?? 0), monotonic),
    follow(time, from, to) {
      const aheadMs = time.getTime() - (wall() - (monotonic() - (from + to) / 2));
      // A change of up to half the time that the answer took, plus 1 ms of rounding, may be an error of measurement.
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
