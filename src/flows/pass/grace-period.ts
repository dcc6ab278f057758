import type { Clock } from '../../clock.ts';

const GRACE_PERIOD_MS = 16_000;

interface Stopping {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly endGracePeriod: () => void;
}

/**
 * Does the work. When `signal` aborts, what is in flight has 16 s to finish; after that `endGracePeriod` breaks it off.
 */
export async function withGracePeriod<Result>(
  { clock, endGracePeriod }: Stopping,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const isDone = new AbortController();
  const begin = () => void clock.sleep(GRACE_PERIOD_MS, isDone.signal).then(endGracePeriod, () => undefined);
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true, signal: isDone.signal });
  try {
    return await work();
  } finally {
    isDone.abort();
  }
}
