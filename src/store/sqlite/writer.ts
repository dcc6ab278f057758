import type { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Connection } from './connection.ts';
import { isBusy, storeError, StoreError } from '../errors.ts';
import type { Tables } from '../schema.ts';
import { runOn } from './statement.ts';

/** One unit of work inside a transaction: all of it happens or nothing. No network, no waiting for anything else. */
export type Work<Result> = (tx: Kysely<Tables>) => Promise<Result>;

interface Waiting {
  readonly work: Work<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const MAX_GROUP = 200;
const MOST_TURNS = 5;
const BUSY_TRIES = 40;
const BUSY_WAIT_MS = 50;
const STUBBORN_WAIT_MS = 1_000;

/**
 * Group commit: what is asked for while the event loop is busy shares one transaction, and so one sync to the disk. Work
 * that fails fails alone: its group is then run one by one. A locked database or a full disk is no fault of one: the
 * group fails together.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #isRunning = false;
  readonly #givenUp = new AbortController();

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Runs the work in a durable transaction. Rejects with `StoreError` when the database cannot take it. */
  write<Result>(work: Work<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (!this.#isRunning) {
        this.#isRunning = true;
        void this.#run();
      }
    });
  }

  /** From now on a locked database is not waited for: the process has no time left. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  /**
   * Writes what must not be lost, the result of a request that was sent: a full disk or a locked database is waited
   * out, once a second, until `signal` says that there is no time left.
   */
  async writeStubbornly<Result>(
    work: Work<Result>,
    signal: AbortSignal,
    onFailure: (error: StoreError) => void,
  ): Promise<Result> {
    for (;;) {
      try {
        return await this.write(work);
      } catch (error) {
        if (!passes(error) || signal.aborted || !this.#connection.isInPlace()) throw error;
        onFailure(error);
        await this.#clock.sleep(STUBBORN_WAIT_MS, signal).catch(() => undefined);
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

  /** Waits while each turn of the event loop brings more work: a commit costs a sync to the disk, however much is in it. */
  async #gather(): Promise<void> {
    for (let turns = 0, before = 0; turns < MOST_TURNS && before < this.#waiting.length; turns += 1) {
      before = this.#waiting.length;
      await this.#clock.turn();
    }
  }

  async #commitEach(group: readonly Waiting[], groupFailure: unknown): Promise<void> {
    let failure = groupFailure;
    for (const one of group) {
      if (group.length > 1 && !passes(failure)) failure = await this.#commit([one]);
      if (failure !== undefined) one.reject(failure);
    }
  }

  /** The error, or undefined once the group is durable and its waiters have their results. */
  async #commit(group: readonly Waiting[]): Promise<unknown> {
    try {
      const results = await this.#transaction(async (tx) => {
        const done: unknown[] = [];
        for (const one of group) done.push(await one.work(tx));
        return done;
      });
      group.forEach((one, index) => one.resolve(results[index]));
      return undefined;
    } catch (error) {
      return storeError(error, this.#connection.path) ?? new Error('the database failed without a reason');
    }
  }

  async #transaction<Result>(work: Work<Result>): Promise<Result> {
    const { path, kysely, statements } = this.#connection;
    if (!this.#connection.isInPlace()) {
      throw new StoreError('disk', `${path} was moved or deleted while it was open; put it back and start again`);
    }
    for (let tries = 1; ; tries += 1) {
      try {
        return await kysely.transaction().execute((tx) => {
          runOn(statements, tx);
          return work(tx);
        });
      } catch (error) {
        if (!isBusy(error) || tries >= BUSY_TRIES || this.#givenUp.signal.aborted) throw error;
        await this.#clock.sleep(BUSY_WAIT_MS, this.#givenUp.signal).catch(() => undefined);
      }
    }
  }
}

/** Whether the database as a whole takes nothing for now, whatever the work. */
function passes(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.problem === 'busy' || error.problem === 'disk');
}
