import { steadyTime, type Clock } from '../../src/base/clock.ts';
import type { Chance } from './plan/chance.ts';
import type { Life, Scheduler } from './scheduler.ts';

interface Time {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  /** The time of the machine's clock. */
  readonly wallMs: number;
}

/** The clock of a process: what it waits for does not come once the process has died. */
export function clockOf(time: Time, life: Life): Clock {
  const { scheduler, chance } = time;
  return {
    now: steadyTime(
      () => time.wallMs,
      () => scheduler.now,
    ),
    monotonic: () => scheduler.now,
    boot: 'machine',
    random: chance.next,
    turn: () => new Promise((resolve) => scheduler.after(0, 'turn', resolve, life)),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error);
        const abort = () => {
          cancel();
          reject(signal?.reason as Error);
        };
        const end = () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const cancel = scheduler.after(ms, 'sleep', end, life);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}
