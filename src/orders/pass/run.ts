import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/text.ts';
import { isPassing } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';

const GRACE_PERIOD_MS = 16_000;
const REMINDER_MS = 60_000;
/** An outage that comes back within this time has not ended. */
const SETTLING_MS = 5_000;

/** Times are monotonic, in ms. */
interface Outage {
  readonly since: number;
  loggedAt: number;
  failures: number;
  failuresLogged: number;
  overAt: number | undefined;
}

interface PatienceDeps {
  readonly store: Pick<Store, 'isInPlace'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/**
 * Keeps a reader alive while the database cannot be read. All readers of a process share one `Patience`, so that not
 * each reader logs the same outage.
 */
export class Patience {
  readonly #deps: PatienceDeps;
  #outage: Outage | undefined;

  constructor(deps: PatienceDeps) {
    this.#deps = deps;
  }

  /**
   * Does the work once. A passing error of the database is only logged, as long as the database is in place. Any other
   * error rejects.
   */
  async with(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#succeeded();
    } catch (error) {
      if (!isPassing(error) || !this.#deps.store.isInPlace()) throw error;
      this.#failed(messageOf(error));
    }
  }

  #failed(cause: string): void {
    const { clock, log } = this.#deps;
    const now = clock.monotonic();
    if (this.#outage === undefined) log.error({ cause }, 'the database cannot be read; it is tried again');
    this.#outage ??= { since: now, loggedAt: now, failures: 0, failuresLogged: 0, overAt: undefined };
    const { since, loggedAt, failures, failuresLogged } = this.#outage;
    if (now - loggedAt >= REMINDER_MS) {
      const facts = { failures: failures - failuresLogged, lastedMs: Math.round(now - since), cause };
      log.error(facts, 'the database still cannot be read; it is tried again');
      this.#outage.loggedAt = now;
      this.#outage.failuresLogged = failures;
    }
    this.#outage.failures += 1;
    this.#outage.overAt = undefined;
  }

  #succeeded(): void {
    const { clock, log } = this.#deps;
    if (this.#outage === undefined) return;
    this.#outage.overAt ??= clock.monotonic();
    const { since, overAt, failures } = this.#outage;
    if (clock.monotonic() - overAt < SETTLING_MS) return;
    log.info({ failures, lastedMs: Math.round(overAt - since) }, 'the database can be read again');
    this.#outage = undefined;
  }
}

type Sleeper = Pick<Clock, 'sleep'>;

export async function repeatEvery(clock: Sleeper, ms: number, stop: AbortSignal, work: () => void | Promise<void>) {
  while (!stop.aborted) {
    await clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}

/** Does the work. If the work has not ended 16 s after `signal` aborts, `endGracePeriod` breaks it off. */
export async function withGracePeriod<Result>(
  { clock, endGracePeriod }: { readonly clock: Pick<Clock, 'sleep'>; readonly endGracePeriod: () => void },
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

/** Works on at most `limit` items at a time. After an error, begins no item, and rejects when those in flight end. */
export async function forEachConcurrently<Item>(
  items: AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let hasFailed = false;
  const workers = Array.from({ length: limit }, async () => {
    try {
      while (!hasFailed) {
        const next = await iterator.next();
        if (next.done === true) return;
        await work(next.value);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  const results = await Promise.allSettled(workers);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
