import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Connection } from './connection.ts';
import { isBusy, storeError } from './errors.ts';
import { StoreError } from '../errors.ts';
import type { FileMark } from './mark.ts';
import type { Database, Work, Writer } from '../port.ts';

interface Waiting {
  readonly work: Work<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const MAX_GROUP = 200;
const MOST_TURNS = 5;
const BUSY_TRIES = 40;
const BUSY_WAIT_MS = 50;
const FULL_DISK_WAIT_MS = 1_000;

/**
 * Commits in groups: work that is asked for while the event loop is busy shares one transaction, and so one sync to the
 * disk. When work of a group fails, its group is run one by one, so that it fails alone. When the database is locked or the
 * disk is full, the group fails together.
 */
export class GroupWriter implements Writer {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #mark: FileMark | undefined;
  #waiting: Waiting[] = [];
  #isRunning = false;
  #failure: StoreError | undefined;
  readonly #gracePeriodOver = new AbortController();

  /** Without a mark it writes also to a database that was put back to an older state. */
  constructor(connection: Connection, clock: Clock, mark?: FileMark) {
    this.#connection = connection;
    this.#clock = clock;
    this.#mark = mark;
  }

  write<Result>(work: Work<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#isRunning) {
        this.#isRunning = true;
        void this.#run();
      }
    });
  }

  get failure(): StoreError | undefined {
    return this.#failure;
  }

  endGracePeriod(): void {
    this.#gracePeriodOver.abort();
  }

  async writeUntilDurable<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
  ): Promise<Result> {
    for (;;) {
      try {
        return await this.write(work);
      } catch (error) {
        if (!isTransient(error) || signal.aborted || !this.#connection.isInPlace()) throw error;
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

  /** Waits while each turn of the event loop brings more work: a large commit costs one sync to the disk, as a small one. */
  async #gather(): Promise<void> {
    for (let turns = 0, before = 0; turns < MOST_TURNS && before < this.#waiting.length; turns += 1) {
      before = this.#waiting.length;
      await this.#clock.turn();
    }
  }

  async #commitEach(group: readonly Waiting[], groupFailure: unknown): Promise<void> {
    let failure = groupFailure;
    for (const one of group) {
      if (group.length > 1 && !isTransient(failure)) failure = await this.#commit([one]);
      if (failure !== undefined) one.reject(failure);
    }
  }

  /** Gives the error, or undefined once the group is durable and its callers have their results. */
  async #commit(group: readonly Waiting[]): Promise<unknown> {
    try {
      const results = await this.#transaction(async (tx) => {
        await this.#mark?.assertNotOlder(tx);
        const done: unknown[] = [];
        for (const one of group) done.push(await one.work(tx));
        return done;
      });
      this.#failure = undefined;
      this.#mark?.committed();
      group.forEach((one, index) => one.resolve(results[index]));
      return undefined;
    } catch (error) {
      const failure = storeError(error, this.#connection.path) ?? new Error('the database failed without a reason');
      if (isTransient(failure)) this.#failure = failure;
      return failure;
    }
  }

  async #transaction<Result>(work: Work<Result>): Promise<Result> {
    const { path, kysely, statements } = this.#connection;
    if (!this.#connection.isInPlace()) {
      throw new StoreError('disk', `${path} was moved or deleted while it was open; put it back and start again`);
    }
    for (let tries = 1; ; tries += 1) {
      try {
        return await kysely.transaction().execute((tx) => work(Object.assign(tx, { run: runOn(statements) })));
      } catch (error) {
        if (!isBusy(error) || tries >= BUSY_TRIES || this.#gracePeriodOver.signal.aborted) throw error;
        await this.#clock.sleep(BUSY_WAIT_MS, this.#gracePeriodOver.signal).catch(() => undefined);
      }
    }
  }
}

/** True when the database takes no work at all for now: it is locked, or the disk is full. */
function isTransient(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.problem === 'busy' || error.problem === 'disk');
}

/** Runs compiled queries on the driver, which a transaction has to itself until it ends. */
function runOn(database: SqliteDatabase): NonNullable<Database['run']> {
  return <Row>({ sql, parameters }: CompiledQuery<Row>): QueryResult<Row> => {
    const prepared = database.prepare(sql);
    if (prepared.reader) return { rows: prepared.all(parameters) as Row[] };
    const { changes, lastInsertRowid } = prepared.run(parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}
