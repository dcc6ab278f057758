import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { pino, type Logger } from 'pino';
import type { Connect } from '../../src/exchange/transport/transport.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import { copyPathOf, SimulatedAccount, type AccountWorld } from './account.ts';
import { emptyDatabaseOf, frozenClock, type Ground } from './ground.ts';
import { acceptCopy } from './modes/older-copy.ts';
import type { Outcome } from './modes/mode.ts';
import type { Limits, Machine, Promotion, Trial } from './modes/trial.ts';
import { DeliveryObserver } from './observer/deliveries.ts';
import type { Observer } from './observer/observer.ts';
import { Chance, MINUTE, type Window } from './plan/chance.ts';
import { BEGINNING, planOf, plansOf, type Plan } from './plan/plan.ts';
import { withSettings } from './plan/settings.ts';
import { FIRST_TIME_LINE, type Supervisor, type Surroundings, type WrapStatement } from './process.ts';
import { Processes } from './processes.ts';
import { WorkerServer } from './workers/server.ts';
import { Workers } from './workers/workers.ts';
import { Reader } from './reader.ts';
import { Replay } from '../model/replay.ts';
import { SimulatedReceivers } from './receivers/receivers.ts';
import { Scheduler, type Life } from './scheduler.ts';
import { Shop, triggerKindOf } from './shop.ts';

/** Of a world with one order, and more for each. */
const MOST_STEPS = 300_000;
/** For each account: while the database takes no writes, a process retries them about 20 times a second. */
const MOST_STEPS_A_SECOND = 40;

/** How often a world is looked at for its end, once everything has settled. */
const SETTLED_EVERY_MS = 30 * 60_000;
/** Lets a world run from its seed to its end, or to the first broken promise. */
export async function simulate(seed: number, ground: Ground): Promise<Outcome> {
  return await live(planOf(seed), ground);
}

/** Lets a world run as planned, to its end or to the first broken promise. */
export async function live(plan: Plan, ground: Ground, trial?: Trial): Promise<Outcome> {
  using world = new World(plan, ground, trial);
  return await world.run();
}

class World implements Surroundings, AccountWorld, Machine, Disposable {
  plan: Plan;
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly shop: Shop;
  readonly accounts: readonly SimulatedAccount[];
  readonly deliveries: DeliveryObserver;
  readonly receivers: SimulatedReceivers;
  readonly log: Logger;
  config: SqliteConfig;
  readonly lockedRows = new Set<string>();
  readonly workers: WorkerServer | undefined;
  readonly #processes: Supervisor;
  readonly #nextDue: Database.Statement;
  readonly #nextDueOf: Database.Statement;
  readonly #firstDue: Database.Statement;
  readonly #hasRejected: Database.Statement;
  readonly #reader: Reader;
  readonly #trial: Trial | undefined;
  readonly #replay: Replay | undefined;
  readonly #mostSteps: number;
  isOlder = false;
  /** How often the process might have died. */
  #places = 0;
  timeLine = FIRST_TIME_LINE;
  #promotions = 1;
  #lookAt = 0;
  #lockedUntil = 0;
  #heardAt = 0;

  constructor(plan: Plan, ground: Ground, trial: Trial | undefined) {
    this.#trial = trial;
    const path = join(ground.folder, `seed-${plan.seed}.db`);
    copyFileSync(emptyDatabaseOf(ground), path);
    this.plan = plan;
    this.config = withPlan(ground.config, plan, path);
    this.chance = new Chance(plan.seed + 1_000_003);
    this.scheduler = new Scheduler(this.chance.next);
    this.workers = plan.workers === null ? undefined : new WorkerServer(this, path);
    this.#processes =
      plan.workers === null || this.workers === undefined
        ? new Processes(this)
        : new Workers(this, this.workers, plan.workers.count);
    this.#reader = new Reader(path);
    const reader = this.#reader.asDatabase();
    this.#nextDue = reader.prepare('select min(next_action_at) from merchant_orders').pluck();
    this.#nextDueOf = reader
      .prepare('select min(next_action_at) from merchant_orders where account in (select value from json_each(?))')
      .pluck();
    this.#firstDue = reader
      .prepare(
        `select external_order_id from merchant_orders where state = 'pending' order by next_action_at, external_order_id limit ?`,
      )
      .pluck();
    this.#hasRejected = reader.prepare(`select 1 from merchant_orders where state = 'rejected'`);
    this.shop = new Shop(this, path);
    // The model has one account.
    if (ground.isReplayed === true && plan.others.length === 0) {
      const fail = (detail: string) => this.fail('the model allows it', detail);
      this.#replay = new Replay(reader, plan, () => this.#processes.current, fail);
    }
    const sent = plan.sharesLimit ? { arrivals: [], departures: [] } : undefined;
    this.#mostSteps = ground.mostSteps ?? enoughStepsFor(plan);
    this.accounts = plansOf(plan).map((one) => new SimulatedAccount(this, one, reader, sent));
    for (const { exchange } of this.accounts) exchange.replay = this.#replay;
    this.deliveries = new DeliveryObserver(this, reader, plan.receivers);
    this.receivers = new SimulatedReceivers(
      plan.receivers,
      new Chance(plan.seed + 5_000_011),
      this.scheduler,
      this.deliveries,
      () => new Date(this.wallMs),
    );
    this.log = pino({ level: 'info', base: null, timestamp: false }, { write: (line) => this.observer.logged(line) });
  }

  /** Of the first account. */
  get observer(): Observer {
    const [{ observer }] = this.accounts as readonly [SimulatedAccount];
    return observer;
  }

  /** The first broken promise. */
  get violation(): string | undefined {
    return this.accounts.find(({ observer }) => observer.violation !== undefined)?.observer.violation;
  }

  get databaseTime(): Date {
    return new Date(BEGINNING + this.scheduler.now);
  }

  get lastHeardAt(): Date {
    return new Date(BEGINNING + this.#heardAt);
  }

  get isCalm(): boolean {
    return this.scheduler.now >= this.plan.calmAt;
  }

  diesHere(likelihood: number, where: string): boolean {
    const { deathAt, mostDeaths } = this.plan;
    this.#places += 1;
    if (this.#trial !== undefined) return this.#trial.dies(where, this);
    if (deathAt !== null) return this.#places === deathAt;
    return !this.isCalm && this.#processes.deaths < mostDeaths && this.chance.next() < likelihood;
  }

  get calmAt(): number {
    return this.plan.calmAt;
  }

  fail(promise: string, detail: string): void {
    this.observer.fail(promise, detail);
  }

  isOwner(life: Life, account: string): boolean {
    return this.#processes.isOwner(life, account);
  }

  termOf(life: Life, account: string): unknown {
    return this.#processes.termOf(life, account);
  }

  connect(life: Life, step: (where: string) => void): Connect {
    return (name, key) => {
      const account = this.accounts.find((one) => one.plan.account === name);
      if (account === undefined) throw new Error(`the account ${name} is not planned`);
      const stepAsOwner = (where: string) => {
        step(where);
        if (!this.isOwner(life, name))
          this.fail('one owner an account', `${name}: ${where}, and another process drives it`);
      };
      return account.connect(life, stepAsOwner, key);
    };
  }

  /** The time of the machine's clock. */
  get wallMs(): number {
    const set = this.plan.clockSet.filter(({ at }) => this.scheduler.now >= at);
    return BEGINNING + this.scheduler.now + set.reduce((sum, { ms }) => sum + ms, 0);
  }

  /** The latest that the clock may have shown: what was planned by it comes due by then. */
  get latestWallMs(): number {
    const ahead = this.plan.clockSet.map(({ ms }) => Math.max(0, ms));
    return BEGINNING + this.scheduler.now + Math.max(0, ...ahead);
  }

  /** Tells whether another program holds the database's lock, for a moment or for seconds. */
  isLocked(): boolean {
    const { now } = this.scheduler;
    if (now < this.#lockedUntil) return true;
    if (this.chance.next() < this.plan.busy) {
      this.#lockedUntil = now + this.chance.of([0, Math.min(60, this.plan.longestLockMs), this.plan.longestLockMs]);
    }
    return now < this.#lockedUntil;
  }

  isDiskFull(): boolean {
    return this.#isWithin(this.plan.diskFull);
  }

  isReadOnly(): boolean {
    return this.#isWithin(this.plan.readOnly);
  }

  #isWithin(window: Window | null): boolean {
    return window !== null && this.scheduler.now >= window.from && this.scheduler.now < window.to;
  }

  /** For how long a process has lived, and nothing was wrong with the database, the clock or its event loop. */
  get #quietForMs(): number {
    const { now } = this.scheduler;
    const { diskFull, readOnly, trigger, clockSet, blocked } = this.plan;
    const windows = [diskFull, readOnly, trigger?.raises].filter((window) => window !== null && window !== undefined);
    const stretches = [
      ...windows.map(({ from, to }) => ({ from, to })),
      ...clockSet.map(({ at }) => ({ from: at, to: at })),
      ...blocked.map(({ at, ms }) => ({ from: at, to: at + ms })),
    ];
    const ends = stretches.filter(({ from }) => from <= now).map(({ to }) => to);
    return now - Math.max(this.#processes.livesSince ?? now, this.#lockedUntil, ...ends);
  }

  nextDueMs(accounts?: readonly string[]): number | undefined {
    const due = (accounts === undefined ? this.#nextDue.get() : this.#nextDueOf.get(JSON.stringify(accounts))) as
      | string
      | null;
    return due === null ? undefined : Date.parse(due);
  }

  async run(): Promise<Outcome> {
    await using undo = new AsyncDisposableStack();
    for (const account of this.accounts) await undo.use(account).begin();
    for (const { at, ms } of this.plan.clockSet) {
      this.scheduler.after(at, `the clock is set by ${ms} ms`, () => {
        this.workers?.time.stir();
        this.wake();
      });
    }
    for (const { at, ms } of this.plan.blocked) {
      this.scheduler.after(at, `the event loop is blocked for ${ms} ms`, () => this.#processes.block(ms));
    }
    if (this.plan.trigger !== null) this.shop.addTrigger(this.plan.trigger.raises, triggerKindOf(this.plan));
    for (const still of this.plan.shared?.stills ?? []) {
      this.scheduler.after(still.at, 'a process stands still', () => this.#processes.standStill(still.ms));
    }
    for (const cut of this.plan.workers?.cuts ?? []) {
      this.scheduler.after(cut.at, 'the server is out of the reach of a process', () => this.#processes.cut(cut.ms));
    }
    for (const account of this.accounts) await account.audit();
    this.#processes.begin(0);
    const steps = await this.#runSteps();
    if (this.violation === undefined) this.#checkEnd();
    for (const account of this.accounts) if (this.violation === undefined) await account.checkAudit();
    const { violation } = this;
    const sumOf = (count: 'requests' | 'decisions') =>
      this.accounts.reduce((sum, { observer }) => sum + observer[count], 0);
    const asked = { requests: sumOf('requests'), decisions: sumOf('decisions') };
    const counts = { steps, ...asked, deaths: this.#processes.deaths, places: this.#places };
    return {
      seed: this.plan.seed,
      counts: { ...counts, ...this.#trial?.counts, ...this.#replay?.counts },
      trace: this.scheduler.trace,
      violation,
    };
  }

  async #runSteps(): Promise<number> {
    let steps = 0;
    while (this.violation === undefined && !this.#isOver()) {
      if (!(await this.scheduler.step())) this.fail('no order is lost', 'nothing happens any more');
      this.#processes.mayDie('at a step', this.plan.deathAtStep);
      await this.#trial?.afterStep(this);
      for (const { observer } of this.accounts) {
        observer.check(this.latestWallMs);
        observer.checkPrompt(this.wallMs, this.#quietForMs);
      }
      this.deliveries.check();
      this.#replay?.poll();
      if (this.scheduler.waiting > 200) this.fail('backlog bounded', `${this.scheduler.waiting} events wait`);
      steps += 1;
      if (steps > this.#mostSteps) this.fail('everything settles', `${steps} steps and no end`);
    }
    return steps;
  }

  #checkEnd(): void {
    for (const account of this.accounts) account.checkEnd();
    this.deliveries.checkEnd();
  }

  #isOver(): boolean {
    const { now } = this.scheduler;
    const { endAt, endsWhenSettled, lastAt } = this.plan;
    if (now >= endAt) return true;
    if (!endsWhenSettled || now < Math.max(lastAt, this.deliveries.settledAt, this.#lookAt)) return false;
    this.#lookAt = now + SETTLED_EVERY_MS;
    const [first, ...others] = this.accounts;
    // The first listener hears of the whole world, too.
    const isSettled = first?.observer.holds(() => {
      first.checkEnd();
      this.deliveries.checkEnd();
    });
    return isSettled === true && others.every((one) => one.observer.holds(() => one.checkEnd()));
  }

  [Symbol.dispose](): void {
    this.#processes.endAll();
    this.workers?.[Symbol.dispose]();
    this.shop.close();
    this.#reader.close();
    const { path } = this.config.database;
    const copies = this.accounts.map(({ plan }) => copyPathOf(path, plan.account));
    for (const file of [path, ...copies])
      for (const ending of ['', '-wal', '-shm', '.mark']) rmSync(`${file}${ending}`, { force: true });
  }

  wake(): void {
    this.#processes.wake();
  }

  heed(): void {
    this.#processes.heed();
  }

  lost(): void {
    for (const { observer } of this.accounts) observer.died();
  }

  get isOpening(): boolean {
    return this.#processes.current?.isOpening === true;
  }

  get path(): string {
    return this.config.database.path;
  }

  async replaceFiles(change: () => void): Promise<void> {
    this.#processes.end('its file is taken away');
    for (const account of this.accounts) await account.closeFiles();
    this.shop.close();
    this.#reader.close();
    change();
    this.#reader.reopen();
    this.shop.reopen();
    for (const account of this.accounts) await account.reopenFiles();
    this.lost();
  }

  received(): void {
    this.#replay?.server('replicate');
  }

  async promote({ heardAt, reportsAfterMs }: Promotion, change: () => void): Promise<void> {
    const lost = this.#processes.current;
    const intents = lost?.intents;
    this.#replay?.poll();
    await this.replaceFiles(change);
    this.#replay?.server('promote', reportsAfterMs === undefined ? undefined : lost);
    this.#promotions += 1;
    this.timeLine = `1/${String(this.#promotions).padStart(8, '0')}`;
    this.#heardAt = heardAt;
    for (const account of this.accounts) account.promoted();
    if (intents === undefined || reportsAfterMs === undefined) return;
    const report = (triesLeft: number) => {
      this.#replay?.reports(lost);
      for (const account of this.accounts) void account.reportSent(intents);
      if (triesLeft > 0)
        this.scheduler.after(MINUTE, 'the lost process names what it sent', () => report(triesLeft - 1));
    };
    this.scheduler.after(reportsAfterMs, 'the lost process is back', () => report(3));
  }

  firstDue(most: number): readonly string[] {
    return this.#firstDue.all(most) as string[];
  }

  get hasRejected(): boolean {
    return this.#hasRejected.get() !== undefined;
  }

  reload(limits: Limits): void {
    this.plan = { ...this.plan, settings: { ...this.plan.settings, ...limits } };
    this.config = withPlan(this.config, this.plan, this.path);
    this.observer.reloaded(limits, this.scheduler.now);
  }

  endProcess(where: string): void {
    this.#processes.end(where);
  }

  async pauseCreates(): Promise<void> {
    for (const account of this.accounts) await account.pauseCreates();
    this.heed();
  }

  resume(): void {
    for (const account of this.accounts) account.resume();
  }

  retryRejected(): void {
    for (const account of this.accounts) void account.retryRejected();
  }

  async decideFailOvers(): Promise<number> {
    let orders = 0;
    for (const account of this.accounts) orders += await account.decideFailOvers();
    this.#replay?.decided();
    this.wake();
    return orders;
  }

  async accept(isNothingSent: boolean, wrap?: WrapStatement): Promise<void> {
    this.#processes.current?.die('a person ends it');
    this.lost();
    const clock = { ...frozenClock(), now: () => new Date(this.wallMs) };
    await acceptCopy(this.config, clock, { isNothingSent, wrap });
    this.isOlder = false;
    if (!isNothingSent) for (const { observer } of this.accounts) observer.takenForSent();
    this.#processes.begin(0);
  }

  waitForPerson(): void {
    this.#processes.cancelStart();
  }
}

function withPlan(config: SqliteConfig, plan: Plan, path: string): SqliteConfig {
  const database = { ...config.database, url: `sqlite:${path}`, path, address: path };
  const rateGroup = plan.sharesLimit ? 'shared' : undefined;
  return withSettings(
    { ...config, database },
    plansOf(plan).map(({ account, settings }) => ({ account, settings, rateGroup })),
  );
}

function enoughStepsFor(plan: Plan): number {
  const accounts = plansOf(plan);
  const orders = accounts.reduce((sum, one) => sum + one.orders.length, 0);
  const outages = [plan.diskFull, plan.readOnly].filter((window) => window !== null);
  const outageMs = outages.reduce((sum, { from, to }) => sum + to - from, 0);
  return MOST_STEPS + 10_000 * orders + (MOST_STEPS_A_SECOND * accounts.length * outageMs) / 1_000;
}
