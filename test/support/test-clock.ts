import type { Clock } from '../../src/base/clock.ts';

/** A clock that stands still until it is moved; sleeps end when it is moved past them. */
export interface TestClock extends Clock {
  /** Moves the time on and ends the sleeps that are due, oldest first. */
  advance(ms: number): void;
}

/** A clock that begins at `start`, for tests with a real network and a real database. */
export function testClock(start = new Date('2026-01-05T12:00:00.000Z')): TestClock {
  let elapsed = 0;
  let sleeps: { at: number; wake: () => void }[] = [];
  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonic: () => elapsed,
    random: () => 0.5,
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error);
        sleeps.push({ at: elapsed + ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    },
    advance(ms) {
      elapsed += ms;
      const due = sleeps.filter(({ at }) => at <= elapsed).toSorted((a, b) => a.at - b.at);
      sleeps = sleeps.filter(({ at }) => at > elapsed);
      for (const { wake } of due) wake();
    },
  };
}

/** A test clock that moves on by itself whenever somebody sleeps: for passes that wait out what the exchange cannot serve. */
export function hastyClock(): TestClock {
  const clock = testClock();
  return {
    ...clock,
    sleep(ms, signal) {
      const slept = clock.sleep(ms, signal);
      setImmediate(() => clock.advance(ms));
      return slept;
    },
  };
}
