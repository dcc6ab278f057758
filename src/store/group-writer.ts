import type { Clock } from '../base/clock.ts';
import { isPassing, isUnlisted, RowLockedError, type StoreError } from './errors.ts';
import { endChains, writeEvents } from './tables/chain.ts';
import { assertIntents } from './orders/intents.ts';
import type { EventHead, NewEvents, Transaction, Work, Writer } from './port.ts';
import { together } from './statement.ts';

export interface Transactions {
  /** Commits durably or throws. Retries for some seconds. Asks about unanswered commits until `signal` aborts. */
  run<Result>(work: Work<Result>, signal: AbortSignal, onFailure: (failure: StoreError) => void): Promise<Result>;
  /** Returns false if the database file was moved or replaced, so that no retry can succeed. */
  isInPlace(): boolean;
  /** Runs the deferred triggers of an open transaction; absent if the database has none. */
  runDeferred?(tx: Transaction): Promise<void>;
  /** As `Writer.isReplicated`; absent if no standbys are required. */
  isReplicated?(signal: AbortSignal): true | Promise<boolean>;
  readonly failure?: StoreError | undefined;
}

export interface FollowingMark {
  /** Called in each transaction. Throws `StoreError` if the database may be an older copy. */
  assertNotOlder(tx: Transaction): Promise<void>;
  committed(): void;
}

interface Waiting {
  readonly work: Work<unknown>;
  readonly about: readonly string[] | undefined;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const MAX_GROUP = 200;
const MOST_TURNS = 5;
/** How often work is tried if the database fails with an unlisted code. */
const MOST_TRIES = 3;
const FULL_DISK_WAIT_MS = 1_000;

/** Commits works in groups, with one sync for each group. If one work fails, the works are committed one by one. */
export class GroupWriter implements Writer {
  readonly #transactions: Transactions;
  readonly #clock: Clock;
  readonly #mark: FollowingMark | undefined;
  readonly #newEvents: NewEvents | undefined;
  #waiting: Waiting[] = [];
  #isRunning = false;
  #failure: StoreError | undefined;
  readonly #gracePeriodOver = new AbortController();

  /** Without a mark, the writer does not notice that the database was put back to an older state. */
  constructor(transactions: Transactions, clock: Clock, mark?: FollowingMark, newEvents?: NewEvents) {
    this.#transactions = transactions;
    this.#clock = clock;
    this.#mark = mark;
    this.#newEvents = newEvents;
  }

  write<Result>(work: Work<Result>, about?: readonly string[]): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ work, about, resolve, reject });
      if (!this.#isRunning) {
        this.#isRunning = true;
        void this.#run();
      }
    });
  }

  get failure(): StoreError | undefined {
    return this.#failure ?? this.#transactions.failure;
  }

  isReplicated(signal: AbortSignal): true | Promise<boolean> {
    return this.#transactions.isReplicated?.(signal) ?? true;
  }

  endGracePeriod(): void {
    this.#gracePeriodOver.abort();
  }

  async writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
    about?: readonly string[],
  ): Promise<Result> {
    for (;;) {
      try {
        return await this.write(work, about);
      } catch (error) {
        if (!isPassing(error) || signal.aborted || !this.#transactions.isInPlace()) throw error;
        onFailure(error);
        await this.#clock.sleep(FULL_DISK_WAIT_MS, signal).catch(() => undefined);
      }
    }
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#waiting.splice(0, MAX_GROUP);
      const failure = await this.#commit(group);
      if (failure !== undefined) await this.#commitEach(group, failure);
    }
    this.#isRunning = false;
  }

  /** Waits up to `MOST_TURNS` turns of the event loop while each brings work: a large commit costs one sync, too. */
  async #gather(): Promise<void> {
    for (let turns = 0, before = 0; turns < MOST_TURNS && before < this.#waiting.length; turns += 1) {
      before = this.#waiting.length;
      await this.#clock.turn();
    }
  }

  async #commitEach(group: readonly Waiting[], groupFailure: unknown): Promise<void> {
    let failure = groupFailure;
    for (const waiting of group) {
      if (group.length > 1 && !isTransient(failure)) failure = await this.#commit([waiting]);
      for (let tries = 1; tries < MOST_TRIES && isUnlisted(failure); tries += 1)
        failure = await this.#commit([waiting]);
      if (failure !== undefined) waiting.reject(failure);
    }
  }

  async #commit(group: readonly Waiting[]): Promise<unknown> {
    const onFailure = (failure: StoreError) => {
      this.#failure = failure;
    };
    // A transaction may be tried several times. Only the heads of the last try are committed.
    let heads = new Map<string, Promise<EventHead>>();
    try {
      const work = async (tx: Transaction) => {
        await this.#mark?.assertNotOlder(tx);
        heads = new Map();
        const chained = Object.assign(tx, { heads, events: [], generations: new Map(), intents: [] });
        const done = await runConcurrently(group, chained);
        await endChains(chained);
        await assertIntents(chained, () => this.#transactions.runDeferred?.(chained));
        return done;
      };
      const results = await this.#transactions.run(work, this.#gracePeriodOver.signal, onFailure);
      this.#failure = undefined;
      this.#mark?.committed();
      group.forEach((waiting, index) => waiting.resolve(results[index]));
      for (const account of heads.keys()) this.#newEvents?.tell(account);
      return undefined;
    } catch (error) {
      const failure = error ?? new Error('the database failed without a reason');
      if (isTransient(failure)) this.#failure = failure;
      return failure;
    }
  }
}

/** Runs works on different orders concurrently, which saves round trips to a server. */
async function runConcurrently(group: readonly Waiting[], tx: Transaction): Promise<unknown[]> {
  const done: unknown[] = [];
  for (let first = 0; first < group.length; first = done.length) {
    const part = group.slice(first, first + countDifferent(group, first));
    done.push(...(await together(...part.map(async ({ work }) => await work(tx)))));
    await writeEvents(tx);
  }
  return done;
}

function countDifferent(group: readonly Waiting[], first: number): number {
  const known = new Set<string>();
  const isKnown = (id: string) => known.has(id);
  let next = first;
  for (; ; next += 1) {
    const about = group[next]?.about;
    if (about === undefined || about.some(isKnown)) break;
    for (const id of about) known.add(id);
  }
  return Math.max(1, next - first);
}

/** Returns true if the database takes no work at all for now, for example because the disk is full. */
function isTransient(error: unknown): error is StoreError {
  return isPassing(error) && !(error instanceof RowLockedError);
}
