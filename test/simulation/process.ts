import { partsWith } from '../support/parts.ts';
import { once } from 'node:events';
import Database from 'better-sqlite3';
import type { Logger } from 'pino';
import { createApp, startApp, type App } from '../../src/app.ts';
import { Activities } from '../../src/extensions/health/activity.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Connect } from '../../src/exchange/transport/transport.ts';
import { grantNext } from '../../src/store/tables/accounts.ts';
import { OwnedError, StoreError } from '../../src/store/errors.ts';
import { saveFailOver } from '../../src/store/tables/fail-overs.ts';
import type { AccountLease, Store, Transaction } from '../../src/store/port.ts';
import { MOST_ROWS_READ_PER_REQUEST, ROWS_READ_SETTING, type FailOver } from '../../src/accounts/rules/fail-over.ts';
import { SentIntents } from '../../src/orders/pass/sent-intents.ts';
import { openAsOwner, type OwnedStore } from '../../src/store/open.ts';
import { openStore, type OpenOptions } from '../../src/store/sqlite/store.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import type { Chance } from './plan/chance.ts';
import { FIRST_ACCOUNT } from './plan/names.ts';
import type { Plan } from './plan/plan.ts';
import { triggerKindOf } from './shop.ts';
import type { SimulatedReceivers } from './receivers/receivers.ts';
import type { DeliveryObserver } from './observer/deliveries.ts';
import { OneAccount, type Driven, type Driving } from './one-account.ts';
import { withoutLocked } from './locked-rows.ts';
import { clockOf } from './process-clock.ts';
import type { Processes } from './processes.ts';
import { NO_ANSWER_MS, type WorkerServer } from './workers/server.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { SeveralAccounts } from './several-accounts.ts';
import { numberedStore, sharedStore, type CommitFate, type SimulatedServer } from './shared-store.ts';

/** A heartbeat is renewed so often, is trusted for less time than it lasts, and lasts so long. */
const HEARTBEAT_MS = 1_000;
const TRUSTED_MS = 2_500;
const LASTS_MS = 3_000;
const GRACE_PERIOD_MS = 16_000;
/** The end after it: what the database does not take is tried for a moment. */
const LONGEST_END_MS = 15_000;

/** The time-line of the server on which the tables were made. */
export const FIRST_TIME_LINE = '1/00000001';

/** Wraps each statement of a connection. */
export type WrapStatement = NonNullable<OpenOptions['wrap']>;

/** The surroundings of a process. */
export interface Surroundings {
  readonly plan: Plan;
  readonly config: SqliteConfig;
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly deliveries: DeliveryObserver;
  readonly receivers: SimulatedReceivers;
  readonly log: Logger;
  /** The ways of a process to the exchanges. `step` is a place at which the process may die. */
  connect(life: Life, step: (where: string) => void): Connect;
  /** Tells whether nothing goes wrong any more. */
  readonly isCalm: boolean;
  /** Tells whether the process dies at this place: if the plan says so, or else with a likelihood. */
  diesHere(likelihood: number, where: string): boolean;
  /** Tells whether an older copy was put in place that no person has accepted. */
  readonly isOlder: boolean;
  /** The time of the machine's clock. */
  readonly wallMs: number;
  /** The server whose accounts processes share that live at the same time; undefined if one process drives all accounts. */
  readonly workers: WorkerServer | undefined;
  /** When the next order of these accounts is due, by that clock; of all accounts unless given. */
  nextDueMs(accounts?: readonly string[]): number | undefined;
  /** Tells whether another program holds the database's lock. */
  isLocked(): boolean;
  isDiskFull(): boolean;
  isReadOnly(): boolean;
  /** The time of the database, whatever the clocks of the machines show. */
  readonly databaseTime: Date;
  /** The time-line of the server that processes share, and the last heartbeat that it has received. */
  readonly timeLine: string;
  readonly lastHeardAt: Date;
  /** The orders whose rows other transactions have locked. */
  readonly lockedRows: ReadonlySet<string>;
  /** A promise is broken. */
  fail(promise: string, detail: string): void;
  /** Requests in flight reach no process: this one is gone. */
  lost(): void;
}

/** The start of another process when one has ended. */
export type Supervisor = Pick<Processes, keyof Processes>;

/** The statement of a process that has died. */
class Died extends Error {}

/** One process of the program, until it is stopped, dies or cannot continue. */
export class SimulatedProcess implements Life {
  isAlive = true;
  readonly #world: Surroundings;
  readonly #processes: Supervisor;
  readonly #stop = new AbortController();
  #handle: Database.Database | undefined;
  #accounts: Driven | undefined;
  #endGracePeriod = () => this.#accounts?.endGracePeriod();
  readonly #ending = new AbortController();
  readonly intents = new SentIntents();
  /** Until when it stands still. */
  stillUntil = 0;
  /** Until when the server is out of its reach. */
  cutUntil = 0;
  /** If processes share a server: until when it knows that it owns the account, and until when no other takes it. */
  trustedUntil = Number.POSITIVE_INFINITY;
  heldUntil = Number.POSITIVE_INFINITY;
  readonly #lastOwnerUntil: number | undefined;

  /** `lastOwnerUntil`: until when the process before it may have begun requests, if that did not end in order. */
  constructor(world: Surroundings, processes: Supervisor, lastOwnerUntil: number | undefined) {
    this.#world = world;
    this.#processes = processes;
    this.#lastOwnerUntil = lastOwnerUntil;
  }

  /** It has opened the file, and has no statement yet by which its connection could be closed. */
  get isOpening(): boolean {
    return this.isAlive && this.#handle === undefined;
  }

  /** Another process drives the account: this one finds out when it looks. */
  get isLate(): boolean {
    return this.#processes.isLate(this);
  }

  async live(): Promise<void> {
    let hasFailed = false;
    try {
      await using accounts = await this.#start(clockOf(this.#world, this));
      this.#accounts = accounts;
      if (this.#world.isOlder) this.#world.fail('an older copy is noticed', 'the process has started');
      await accounts.run();
    } catch (error) {
      if (!this.isAlive) return;
      hasFailed = true;
      const isExpected = error instanceof StoreError && (error.problem === 'disk' || error.problem === 'busy');
      const hasLost = error instanceof OwnedError && this.isLate;
      const isRefused = error instanceof StoreError && error.problem === 'unusable' && this.#world.isOlder;
      if (!isExpected && !hasLost && !isRefused)
        this.#world.fail('no bug', error instanceof Error ? (error.stack ?? '') : String(error));
    }
    if (!this.isAlive) return;
    this.die('the process stopped');
    this.#processes.ended(this, hasFailed);
  }

  /** Nothing of this process happens any more; a transaction that was open is rolled back. */
  die(where: string): void {
    this.isAlive = false;
    this.#world.scheduler.note(`end of a process: ${where}`);
    this.#handle?.close();
  }

  wake(): void {
    this.#accounts?.wake();
  }

  /** Another program has committed: the holds of the account may be others, as the daemon notices. */
  async heed(): Promise<void> {
    await this.#accounts?.heed();
  }

  async #start(clock: Clock): Promise<Driven> {
    const { scheduler, chance, config, log, plan, isCalm, workers } = this.#world;
    if (chance.next() < 0.3 && !isCalm) {
      scheduler.after(chance.below(plan.stopsWithinMs), 'stop', () => this.#requestStop(), this);
    }
    const connect = this.#world.connect(this, (where) => this.#mayDie(where));
    const store = {
      wrap: this.#wrap,
      synchronous: 'off',
      watch: 'off',
      lockFile: async () => ({ release: () => {} }),
    } as const;
    const driving: Driving = { world: this.#world, life: this, clock, stop: this.#stop.signal };
    if (plan.others.length > 0) {
      // A key that was refused from the beginning is tried again once a person has started the program again.
      const restartMs = plan.calmAt - scheduler.now + chance.below(60_000);
      if (!isCalm) scheduler.after(restartMs, 'a person starts it again', () => this.#requestStop(), this);
      const open = async (watched: Clock) => {
        if (workers !== undefined) return await this.#openAsWorker(watched, workers);
        return plan.shared === null
          ? await openAsOwner(config.database, watched, store)
          : await this.#openShared(watched);
      };
      return await SeveralAccounts.open(driving, open, connect);
    }
    const parts = partsWith(new Activities(clock));
    const app =
      plan.shared === null
        ? await createApp(config, { clock, log, connect, store, ...parts })
        : await this.#startShared(clock, connect);
    return new OneAccount(driving, app, this.#leaseOf(FIRST_ACCOUNT, 0));
  }

  /** As the daemon stops: nothing new is taken, and after the grace period nothing is waited for. */
  #requestStop(): void {
    if (this.#stop.signal.aborted) return;
    const { scheduler } = this.#world;
    const askedAt = scheduler.now;
    this.#stop.abort();
    scheduler.after(GRACE_PERIOD_MS, 'the grace period is over', () => this.#endGracePeriod(), this);
    const latest = GRACE_PERIOD_MS + LONGEST_END_MS;
    const overdue = () => {
      // One that stood still meanwhile had no time to stop.
      if (this.stillUntil <= askedAt) this.#world.fail('stops in bounded time', `not after ${latest} ms`);
    };
    scheduler.after(latest, 'stopped', overdue, this);
  }

  /** Starts as one of several processes on a server: with a generation and a heartbeat in place of the lock of a file. */
  async #startShared(clock: Clock, connect: Connect): Promise<App> {
    const { config, log } = this.#world;
    const options = { expect: 'upgrade', wrap: this.#wrap, synchronous: 'off', watch: 'off' } as const;
    await using undo = new AsyncDisposableStack();
    const store = undo.adopt(await openStore(config.database.path, clock, options), (opened) => opened.close());
    const [accountLease] = await this.#take(store, [FIRST_ACCOUNT]);
    const shared = sharedStore(store, clock, accountLease, this.#server());
    // Also while it takes up what the last one left, as the daemon has it.
    this.#endGracePeriod = () => (this.#accounts ?? shared.writer).endGracePeriod();
    const deps = {
      ...partsWith(new Activities(clock)),
      store: shared,
      accountLease,
      clock,
      log,
      connect,
      intents: this.intents,
    };
    const app = undo.use(await startApp(config, deps));
    const disposal = undo.move();
    return { ...app, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
  }

  /** Opens the database as one of several processes on a server, which drives all accounts while it is the one that does. */
  async #openShared(clock: Clock): Promise<OwnedStore> {
    const { store, shared, ofOwner } = await this.#openStore(clock);
    const take = async (names: readonly string[]) => await this.#take(store, names);
    return {
      store: shared,
      ownership: {
        take,
        share: async (groups, onTaken, stop) => {
          const accountLeases = await take(groups.flat());
          this.#endGracePeriod = () => {
            for (const accountLease of accountLeases) ofOwner(accountLease).writer.endGracePeriod();
            this.#accounts?.endGracePeriod();
          };
          for (const accountLease of accountLeases) onTaken(accountLease);
          // It may have been asked to stop while it took the accounts: an event that has passed does not come again.
          const end = AbortSignal.any([stop, this.#ending.signal]);
          if (!end.aborted) await once(end, 'abort');
          if (!stop.aborted) throw new OwnedError('another process drives the accounts');
        },
        [Symbol.asyncDispose]: async () => {},
      },
      [Symbol.asyncDispose]: async () => await store.close(),
    };
  }

  /** Opens the database as one of several processes that live at the same time and share its accounts. */
  async #openAsWorker(clock: Clock, workers: WorkerServer): Promise<OwnedStore> {
    const { store, shared } = await this.#openStore(clock);
    // The commands of persons, which write as on SQLite, want a mark beside the file.
    await store.writer.write(async () => {});
    const link = {
      life: this,
      isCut: () => this.#isCut,
      fateOf: () => this.#fateOfCommit(),
      survives: (where: string) => this.#survives(where),
    };
    const ownership = workers.ownershipOf(link, clock);
    const close = async () => {
      await ownership[Symbol.asyncDispose]();
      await store.close();
    };
    return { store: shared, ownership, [Symbol.asyncDispose]: close };
  }

  /** Opens the database of a server, which the owner of an account writes by its generation. */
  async #openStore(clock: Clock) {
    const options = { expect: 'upgrade', wrap: this.#wrap, synchronous: 'off', watch: 'off' } as const;
    const store = await openStore(this.#world.config.database.path, clock, options);
    const known = new Map<unknown, Store>();
    const ofOwner = (accountLease: AccountLease) => {
      const its = known.get(accountLease) ?? sharedStore(store, clock, accountLease, this.#server());
      known.set(accountLease, its);
      return its;
    };
    const shared: Store = {
      ...store,
      forAccount: (_account, accountLease) =>
        accountLease === undefined ? numberedStore(store, this.#server()) : ofOwner(accountLease as AccountLease),
    };
    return { store, shared, ofOwner };
  }

  async #take<const Names extends readonly string[]>(
    store: Store,
    names: Names,
  ): Promise<{ [N in keyof Names]: AccountLease }> {
    const generations = await store.writer.write(async (tx) => {
      // Whoever takes an account takes one that is free: another process has taken it while this one waited for the database.
      if (this.isLate) throw new OwnedError(`another process drives ${names.join(', ')}`);
      const granted = await grantNext(tx, names);
      for (const [name, id] of granted) await this.#claim(tx, name, id);
      return granted;
    });
    return names.map((name) => this.#leaseOf(name, generations.get(name) ?? 0)) as { [N in keyof Names]: AccountLease };
  }

  /** As the claim of an account on PostgreSQL: a fail-over is written down together with it. */
  async #claim(tx: Transaction, account: string, id: number): Promise<void> {
    const { timeLine, plan, lastHeardAt, databaseTime } = this.#world;
    const of = tx
      .selectFrom('account_owners')
      .select(['time_line', 'settings', 'walked'])
      .where('account', '=', account);
    const last = await of.executeTakeFirstOrThrow();
    const { rate, concurrency } = plan.settings;
    const limits = {
      'exchange.rate': `${rate.requests} in ${rate.interval} ms`,
      'exchange.concurrency': String(concurrency),
      [ROWS_READ_SETTING]: String(MOST_ROWS_READ_PER_REQUEST),
    };
    const settings = JSON.stringify(limits);
    const fromTimeLine = last.time_line ?? FIRST_TIME_LINE;
    const failOver: FailOver = {
      id,
      generation: id - 1,
      fromTimeLine,
      toTimeLine: timeLine,
      seenAt: databaseTime.toISOString(),
      heardAt: lastHeardAt.toISOString(),
      settings: last.settings,
      nextSettings: settings,
      walked: last.walked,
      insertedUntil: null,
    };
    if (fromTimeLine !== timeLine) await saveFailOver(tx, account, failOver, databaseTime);
    const changed = { time_line: timeLine, settings, walked: null };
    await tx.updateTable('account_owners').set(changed).where('account', '=', account).execute();
  }

  #server(): SimulatedServer {
    return {
      timeLine: this.#world.timeLine,
      defers: this.#world.plan.trigger !== null && triggerKindOf(this.#world.plan) === 'deferred',
      isReached: () => this.#isReached(),
      fateOf: () => this.#fateOfCommit(),
      fail: (promise, detail) => this.#world.fail(promise, detail),
    };
  }

  #leaseOf(account: string, generation: number): AccountLease {
    const { scheduler } = this.#world;
    return {
      account,
      generation,
      isTrusted: () => scheduler.now < this.trustedUntil,
      timeLine: this.#world.timeLine,
      now: () => this.#world.databaseTime,
      lastOwnerUntil: this.#lastOwnerUntil,
      differsIn: [],
      ending: this.#ending.signal,
      release: async () => {},
    };
  }

  /** Its event loop is blocked: whatever was to happen happens afterwards. Another program sees its lock all the while. */
  block(ms: number): void {
    this.stillUntil = Math.max(this.stillUntil, this.#world.scheduler.now + ms);
  }

  /** Nothing of it happens for a while; then it renews its heartbeat first, or finds that it came too late. */
  standStill(ms: number): void {
    const { scheduler } = this.#world;
    const isStill = this.stillUntil > scheduler.now;
    this.block(ms);
    if (isStill) return;
    this.endHeartbeat();
    scheduler.after(
      0,
      'heartbeat',
      () => {
        if (this.isLate) this.#ending.abort();
        else this.trustedUntil = this.heldUntil = Number.POSITIVE_INFINITY;
      },
      this,
    );
  }

  /** From now on the heartbeat is not renewed. */
  endHeartbeat(): void {
    const { scheduler, chance } = this.#world;
    const renewedAt = scheduler.now - chance.below(HEARTBEAT_MS);
    this.trustedUntil = renewedAt + TRUSTED_MS;
    this.heldUntil = renewedAt + LASTS_MS;
  }

  get #isCut(): boolean {
    return this.#world.scheduler.now < this.cutUntil;
  }

  /** A server that is out of reach is waited for a while. */
  async #isReached(): Promise<boolean> {
    if (!this.#isCut) return true;
    await new Promise<void>((resolve) => {
      this.#world.scheduler.after(NO_ANSWER_MS, 'no answer of the server', resolve, this);
    });
    this.#accounts?.stirAfterTrouble();
    return false;
  }

  #fateOfCommit(): CommitFate {
    const { plan, chance, isCalm } = this.#world;
    if (isCalm || chance.next() >= (plan.shared?.lostCommits ?? 0)) return 'heard';
    this.#accounts?.stirAfterTrouble();
    return chance.of(['lost-before', 'lost-after']);
  }

  /** Around every statement the process may die, and the disk may be full or the database locked. */
  readonly #wrap: WrapStatement = (sql, statement) => {
    const handle = (statement as unknown as Database.Statement).database;
    this.#handle = handle;
    const around = <Result>(run: () => Result): Result => {
      this.#mayDie(`before ${sql.slice(0, 30)}`);
      this.#mayFail(sql);
      const result = run();
      this.#mayDie(`after ${sql.slice(0, 30)}`);
      return result;
    };
    return {
      reader: statement.reader,
      all: (parameters) => around(() => withoutLocked(sql, statement.all(parameters), this.#world.lockedRows)),
      run: (parameters) => around(() => statement.run(parameters)),
      iterate: (parameters) => around(() => statement.iterate(parameters)),
    };
  };

  #mayFail(sql: string): void {
    const { chance, isCalm } = this.#world;
    if (isCalm) return;
    if (sql.startsWith('begin') && this.#world.isLocked()) this.#trouble('SQLITE_BUSY');
    if (/^(insert|update|delete|begin)/.test(sql) && this.#world.isReadOnly()) this.#trouble('SQLITE_READONLY');
    if (/^(insert|update|delete|commit)/.test(sql) && this.#world.isDiskFull() && chance.next() < 0.5) {
      this.#trouble('SQLITE_FULL');
    }
  }

  #trouble(code: string): never {
    this.#accounts?.stirAfterTrouble();
    throw new Database.SqliteError('simulated', code);
  }

  #mayDie(where: string): void {
    if (!this.#survives(where)) throw new Died(where);
  }

  #survives(where: string): boolean {
    if (!this.isAlive) return false;
    if (!this.#world.diesHere(this.#world.plan.deathAtStatement, where)) return true;
    this.die(where);
    this.#processes.died(this, where);
    return false;
  }
}
