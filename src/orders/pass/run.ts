import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/text.ts';
import { isPassing } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';

const GRACE_PERIOD_MS = 16_000;
const REMINDER_MS = 60_000;
/** An outage that comes back within this time has not ended. */
const SETTLING_MS = 5_000;

interface PatienceDeps {
  readonly store: Pick<Store, 'isInPlace'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/** Runs work that reads the database. Logs an error after which a retry may succeed. Rejects with any other error. */
export type Patiently = (work: () => Promise<void>) => Promise<void>;

/** All readers of a process share the result, so that an outage is logged once. */
export function patientlyWith({ store, clock, log }: PatienceDeps): Patiently {
  // Times are monotonic, in ms.
  let outage: { since: number; loggedAt: number; failures: number; unlogged: number; overAt?: number } | undefined;
  const failed = (cause: string) => {
    const now = clock.monotonic();
    if (outage === undefined) log.error({ cause }, 'the database cannot be read; it is tried again');
    const { since, loggedAt, failures, unlogged } = outage ?? { since: now, loggedAt: now, failures: 0, unlogged: 0 };
    const isReminder = now - loggedAt >= REMINDER_MS;
    if (isReminder) {
      const facts = { failures: unlogged, lastedMs: Math.round(now - since), cause };
      log.error(facts, 'the database still cannot be read; it is tried again');
    }
    const counted = isReminder ? { loggedAt: now, unlogged: 1 } : { loggedAt, unlogged: unlogged + 1 };
    outage = { since, failures: failures + 1, ...counted };
  };
  const succeeded = () => {
    if (outage === undefined) return;
    outage.overAt ??= clock.monotonic();
    const { since, overAt, failures } = outage;
    if (clock.monotonic() - overAt < SETTLING_MS) return;
    log.info({ failures, lastedMs: Math.round(overAt - since) }, 'the database can be read again');
    outage = undefined;
  };
  return async (work) => {
    try {
      await work();
      succeeded();
    } catch (error) {
      if (!isPassing(error) || !store.isInPlace()) throw error;
      failed(messageOf(error));
    }
  };
}

type Sleeper = Pick<Clock, 'sleep'>;

export async function repeatEvery(clock: Sleeper, ms: number, stop: AbortSignal, work: () => void | Promise<void>) {
  while (!stop.aborted) {
    await clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}

/** Does the work. Calls `endGracePeriod` if the work has not ended 16 s after `signal` aborts. */
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

/** Works on at most `limit` items at a time. After an error, begins no more items, and rejects when the others end. */
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
