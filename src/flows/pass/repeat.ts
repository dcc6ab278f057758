import type { Clock } from '../../clock.ts';
import { KeyRefusedError } from '../../exchange/refusals.ts';
import { isPassing } from '../../store/errors.ts';
import type { FlowDeps } from './deps.ts';
import type { Waker } from './waker.ts';

/** A pass that the database broke off runs again after this time, woken or not. */
const TRY_AGAIN_MS = 1_000;

/**
 * Runs a pass, and again each time it is woken, until `stop` aborts. A full disk or a locked database is waited out;
 * rejects with any other error, and with `KeyRefusedError` when the exchange has never taken a key.
 */
export async function repeatPass(
  { holds, store, clock, incidents }: Pick<FlowDeps, 'holds' | 'store' | 'clock' | 'incidents'>,
  waker: Waker,
  stop: AbortSignal,
  pass: () => Promise<void>,
): Promise<void> {
  let isToTryAgain = false;
  const tryAgain = () => {
    // One at a time: whatever else wakes the pass meanwhile must not add to them.
    if (isToTryAgain) return;
    isToTryAgain = true;
    void clock
      .sleep(TRY_AGAIN_MS, stop)
      .catch(() => undefined)
      .then(() => {
        isToTryAgain = false;
        waker.wake();
      });
  };
  while (!stop.aborted) {
    try {
      await pass();
    } catch (error) {
      if (!isPassing(error) || !store.isInPlace()) throw error;
      incidents.failed({
        level: 'error',
        message: 'a pass was broken off by the database',
        cause: error.message,
        kind: 'database',
      });
      tryAgain();
    }
    if (holds.isKeyWrong) {
      throw new KeyRefusedError('the exchange refuses the key (401); set exchange.apiKey and start again');
    }
    await waker.next(stop);
  }
}

/** Does the work every `ms` until `stop` aborts. Rejects with what the work throws. */
export async function repeatEvery(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  stop: AbortSignal,
  work: () => void | Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}
