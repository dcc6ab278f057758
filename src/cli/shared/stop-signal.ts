import { systemClock, type Clock } from '../../clock.ts';
import { EXIT } from './exit.ts';

/** A signal to the whole process group comes twice through the launcher: within this time it is the first. */
const SAME_SIGNAL_MS = 2_000;

/** Aborts at the first SIGINT or SIGTERM; a second one, 2 s later or more, ends the process at once. */
export function stopSignal(clock: Pick<Clock, 'monotonic'> = systemClock()): AbortSignal {
  const stopping = new AbortController();
  let firstAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    if (clock.monotonic() - firstAt >= SAME_SIGNAL_MS) process.exit(EXIT.killed);
    firstAt = Math.min(firstAt, clock.monotonic());
    stopping.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stopping.signal;
}
