import type { Clock } from '../../clock.ts';

/** What is in flight at a stop has this long to finish. */
const DRAIN_MS = 16_000;

/** What is given up at the end. */
interface Draining {
  readonly clock: Clock;
  giveUp(): void;
}

/** Does the work. What is in flight when `signal` aborts has a while to finish, then it is given up. */
export async function drain<Result>(app: Draining, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  const isOver = new AbortController();
  const giveUp = () =>
    void app.clock.sleep(DRAIN_MS, isOver.signal).then(
      () => app.giveUp(),
      () => undefined,
    );
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true, signal: isOver.signal });
  try {
    return await work();
  } finally {
    isOver.abort();
  }
}
