import type Database from 'better-sqlite3';
import type { Clock } from '../../src/base/clock.ts';
import { insertHappenings } from '../../src/store/tables/events.ts';
import { placeOf } from '../../src/extensions/feed/feed.ts';
import { feedHead } from '../../src/extensions/feed/tables/events.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/port.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import { FeedReader, type Fail } from './observer/feed.ts';
import { checkReports, checkReportsAtEnd } from './observer/reports.ts';
import { HOUR, MINUTE, SECOND, type Chance } from './plan/chance.ts';
import type { Scheduler } from './scheduler.ts';

interface AuditedWorld {
  readonly account: string;
  /** The path of a possible copy of the database. */
  readonly copyPath: string;
  readonly config: SqliteConfig;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly reader: Database.Database;
  readonly clock: Clock;
  /** The latest that any clock has shown. */
  readonly latest: () => Date;
  readonly fail: Fail;
}

/** Programs beside order-sync that only read: the feed by its cursor, reports, the status. */
export class Auditor implements AsyncDisposable {
  readonly #world: AuditedWorld;
  readonly #store: Store;
  readonly #feed: FeedReader;
  #copy: string | undefined;

  private constructor(world: AuditedWorld, store: Store) {
    this.#world = world;
    this.#store = store;
    this.#feed = new FeedReader(store.db, world.account, world.chance, world.fail);
  }

  static async open(world: AuditedWorld): Promise<Auditor> {
    const { path } = world.config.database;
    return new Auditor(world, await openStore(path, world.clock, { expect: 'current', synchronous: 'off' }));
  }

  /** Begins to read now and then. */
  begin(): void {
    const { chance, scheduler, reader } = this.#world;
    this.#readNowAndThen();
    if (chance.next() < 0.3) this.#reportNowAndThen();
    if (chance.next() < 0.3) {
      scheduler.after(chance.below(HOUR), 'a copy of the database is kept', () => {
        this.#copy = this.#world.copyPath;
        reader.prepare('vacuum into ?').run(this.#copy);
      });
    }
  }

  /** Checks the events that were read against the rows, while no process writes. */
  async checkEnd(): Promise<void> {
    await this.#feed.checkEnd(this.#world.reader);
    await checkReportsAtEnd(this.#reported(), this.#world.reader);
    if (this.#copy !== undefined) await this.#checkCopy(this.#copy);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }

  #readNowAndThen(): void {
    const { scheduler, chance } = this.#world;
    scheduler.after(chance.of([SECOND, MINUTE, HOUR, 6 * HOUR]), 'the feed is read', () => {
      void this.#feed.read();
      this.#readNowAndThen();
    });
  }

  #reportNowAndThen(): void {
    const { scheduler, chance } = this.#world;
    scheduler.after(chance.of([MINUTE, HOUR, 24 * HOUR]), 'a report is made', () => {
      void checkReports(this.#reported());
      this.#reportNowAndThen();
    });
  }

  #reported() {
    const { account, config, fail, latest } = this.#world;
    return { store: this.#store, account, config, latest: latest(), fail };
  }

  /**
   * In an earlier copy of the database, and in the database that follows from it, the cursor of a reader is refused if it
   * has read on.
   */
  async #checkCopy(path: string): Promise<void> {
    const { account, clock, fail } = this.#world;
    const { cursor } = this.#feed;
    const copy = await openStore(path, clock, { expect: 'current', synchronous: 'off', isRestored: true });
    try {
      const [id, at] = [Number.parseInt(cursor, 10), await feedHead(copy.db, account)];
      if (id <= at.id) return;
      const isRefused = async () => 'reason' in (await placeOf(copy.db, account, cursor));
      if (!(await isRefused())) fail('a cursor of another database is refused', `${cursor} by a copy at ${at.id}`);
      const event = {
        account,
        type: 'account',
        subject: account,
        field: 'exchange',
        source: 'operator',
      } as const;
      const events = Array.from({ length: id - at.id + 1 }, (_, index) => ({ ...event, new_value: String(index) }));
      await copy.writer.write(async (tx) => await insertHappenings(tx, events, clock.now()));
      if (!(await isRefused())) fail('a cursor of another database is refused', `${cursor} by a copy that went on`);
    } finally {
      await copy.close();
    }
  }
}
