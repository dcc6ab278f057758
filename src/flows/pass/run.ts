import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { IncidentStory } from '../../domain/accounts/incidents.ts';
import { messageOf } from '../../domain/text.ts';
import { KeyRefusedError } from '../../exchange/reply.ts';
import { isPassing } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';
import type { FlowDeps } from './deps.ts';

/** A pass that the database broke off runs again after this time. */
const TRY_AGAIN_MS = 1_000;
const GRACE_PERIOD_MS = 16_000;

type RepeatDeps = Pick<FlowDeps, 'holds' | 'store' | 'clock' | 'observers'>;

/**
 * Runs a pass when it is woken, and once more if it is woken while it runs, until `stop` aborts. A full disk or a locked
 * database is waited out. `onFailure` is called with any other error, and with `KeyRefusedError` when the exchange has never
 * taken a key.
 */
export class RepeatedPass {
  readonly #deps: RepeatDeps;
  readonly #stop: AbortSignal;
  readonly #pass: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #isWoken = false;
  #isRunning = false;
  #isToTryAgain = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(deps: RepeatDeps, stop: AbortSignal, pass: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#deps = deps;
    this.#stop = stop;
    this.#pass = pass;
    this.#onFailure = onFailure;
  }

  get isBusy(): boolean {
    return this.#isRunning;
  }

  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Resolves when the pass has ended and is not woken. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  wake(): void {
    this.#isWoken = true;
    if (!this.#isRunning) this.#ended = this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#isWoken && !this.#stop.aborted) {
        this.#isWoken = false;
        await this.#pass().catch((error: unknown) => this.#waitOut(error));
        if (this.#deps.holds.isKeyWrong) {
          throw new KeyRefusedError('the exchange refuses the key (401); set exchange.apiKey and start again');
        }
      }
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #waitOut(error: unknown): void {
    const { store, observers } = this.#deps;
    if (!isPassing(error) || !store.isInPlace()) throw error;
    observers.incidents.failed({
      level: 'error',
      message: 'a pass was broken off by the database',
      cause: error.message,
      kind: 'database',
    });
    // One timer at a time: the other wakes of the pass must not add to them.
    if (!this.#isToTryAgain) void this.#tryAgain();
  }

  async #tryAgain(): Promise<void> {
    this.#isToTryAgain = true;
    await this.#deps.clock.sleep(TRY_AGAIN_MS, this.#stop).catch(() => undefined);
    this.#isToTryAgain = false;
    this.wake();
  }
}

interface PatienceDeps {
  readonly store: Pick<Store, 'isInPlace'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/**
 * Waits out a database that cannot be read for a while, where what was to be read is read again anyway. All readers of a process
 * share one: so its log says once that it cannot, each minute that it still cannot, and once that all of them could for some
 * seconds.
 */
export class Patience {
  readonly #deps: PatienceDeps;
  readonly #story = new IncidentStory();

  constructor(deps: PatienceDeps) {
    this.#deps = deps;
  }

  /** Does the work. Rejects with an error that is not waited out. */
  async with(work: () => Promise<void>, isWaitedOut: (error: unknown) => boolean = isPassing): Promise<void> {
    try {
      await work();
      this.#observe();
    } catch (error) {
      if (!isWaitedOut(error) || !this.#deps.store.isInPlace()) throw error;
      this.#observe(messageOf(error));
    }
  }

  #observe(cause?: string): void {
    const { clock, log } = this.#deps;
    const conditions = cause === undefined ? [] : [{ kind: 'database', cause } as const];
    for (const { stage, failures, lastedMs } of this.#story.observe(conditions, clock.monotonic())) {
      const facts = { failures, lastedMs: Math.round(lastedMs), cause };
      if (stage === 'begun') log.error({ cause }, 'the database cannot be read; it is tried again');
      if (stage === 'lasting') log.error(facts, 'the database still cannot be read; it is tried again');
      if (stage === 'ended') log.info(facts, 'the database can be read again');
    }
    if (cause !== undefined) this.#story.explain('database');
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

/**
 * Does the work. When `signal` aborts, what is in flight has 16 s to finish; after that `endGracePeriod` breaks it off.
 */
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

/**
 * Does the work for each item of a stream, at most `limit` at a time, until the stream ends. Rejects with the first
 * error, once the items in flight are done.
 */
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
