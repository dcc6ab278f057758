import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { pino, type Logger } from 'pino';
import type { Clock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Store } from '../../src/store/port.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import { acceptCopy } from './modes/older-copy.ts';
import type { Outcome } from './modes/mode.ts';
import type { Machine, Trial } from './modes/trial.ts';
import { SimulatedExchange } from './exchange.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import { Auditor } from './auditor.ts';
import { Observer } from './observer/observer.ts';
import { Person } from './person.ts';
import { Chance, type Window } from './plan/chance.ts';
import { BEGINNING, planOf, type Plan, type PlannedDecision } from './plan/plan.ts';
import { withSettings } from './plan/settings.ts';
import { SimulatedProcess, type Surroundings, type WrapStatement } from './process.ts';
import { DeliveryObserver } from './observer/deliveries.ts';
import { Reader } from './reader.ts';
import { SimulatedReceivers } from './receivers/receivers.ts';
import { Scheduler, type Life } from './scheduler.ts';
import { Shop } from './shop.ts';
import { flowSettings } from '../../src/flows/pass/settings.ts';

/** Of a world with one order, and more for each. */
const MOST_STEPS = 100_000;

/** Where a world ends when everything has settled, that is looked at so often. */
const SETTLED_EVERY_MS = 30 * 60_000;
const EMPTY = 'empty.db';
/** A folder in memory, on Linux. */
const MEMORY = '/dev/shm';

/** A folder with an empty database of today's version, from which each world begins. */
export interface Ground {
  readonly folder: string;
  readonly config: SqliteConfig;
}

/** Prepares the ground; it is gone when it is disposed of. */
export async function prepareGround(): Promise<Ground & Disposable> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'order-sync-simulation-'));
  const store = await openStore(join(folder, EMPTY), frozenClock(), { expect: 'migrate' });
  await store.close();
  return { ...openGround(folder), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The ground that was prepared in a folder. */
export function openGround(folder: string): Ground {
  const env = {
    ORDER_SYNC_EXCHANGE_BASE_URL: 'https://simulated.example',
    ORDER_SYNC_EXCHANGE_API_KEY: 'canary-key-31',
  };
  return { folder, config: loadConfig({ file: null, cwd: folder, requireExchange: true, env }) as SqliteConfig };
}

/** Lets a world run from its seed to its end, or to the first broken promise. */
export async function simulate(seed: number, ground: Ground): Promise<Outcome> {
  return await live(planOf(seed), ground);
}

/** Lets a world run as planned, to its end or to the first broken promise. */
export async function live(plan: Plan, ground: Ground, trial?: Trial): Promise<Outcome> {
  using world = new World(plan, ground, trial);
  return await world.run();
}

class World implements Surroundings, Machine, Disposable {
  readonly plan: Plan;
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly observer: Observer;
  readonly exchange: SimulatedExchange;
  readonly deliveries: DeliveryObserver;
  readonly receivers: SimulatedReceivers;
  readonly log: Logger;
  readonly config: SqliteConfig;
  readonly #nextDue: Database.Statement;
  readonly #reader: Reader;
  readonly #trial: Trial | undefined;
  #shop: Shop;
  #person: Person | undefined;
  #cancelStart = () => {};
  isOlder = false;
  #process: SimulatedProcess | undefined;
  /** The process that another has followed while it stood still. */
  #late: SimulatedProcess | undefined;
  #lastOwnerUntil: number | undefined;
  #deaths = 0;
  /** How often the process might have died. */
  #places = 0;
  #lookAt = 0;
  #lockedUntil = 0;

  constructor(plan: Plan, ground: Ground, trial: Trial | undefined) {
    this.#trial = trial;
    const path = join(ground.folder, `seed-${plan.seed}.db`);
    copyFileSync(join(ground.folder, EMPTY), path);
    this.plan = plan;
    this.chance = new Chance(plan.seed + 1_000_003);
    this.scheduler = new Scheduler(this.chance.next);
    this.#reader = new Reader(path);
    const reader = this.#reader.asDatabase();
    this.#nextDue = reader.prepare('select min(next_action_at) from merchant_orders').pluck();
    this.observer = new Observer(reader, plan);
    const utc = () => new Date(BEGINNING + this.scheduler.now);
    this.#shop = new Shop(this, path);
    this.exchange = new SimulatedExchange(plan, this.chance, this.scheduler, this.observer, utc);
    this.deliveries = new DeliveryObserver(this, reader, plan.receivers);
    this.receivers = new SimulatedReceivers(
      plan.receivers,
      new Chance(plan.seed + 5_000_011),
      this.scheduler,
      this.deliveries,
      () => new Date(this.wallMs),
    );
    this.log = pino({ level: 'info', base: null, timestamp: false }, { write: (line) => this.observer.logged(line) });
    this.config = withPlan(ground.config, plan, path);
  }

  get current(): SimulatedProcess | undefined {
    return this.#process;
  }

  get databaseTime(): Date {
    return new Date(BEGINNING + this.scheduler.now);
  }

  get isCalm(): boolean {
    return this.scheduler.now >= this.plan.calmAt;
  }

  diesHere(likelihood: number, where: string): boolean {
    const { deathAt, mostDeaths } = this.plan;
    this.#places += 1;
    if (this.#trial !== undefined) return this.#trial.dies(where, this);
    if (deathAt !== null) return this.#places === deathAt;
    return !this.isCalm && this.#deaths < mostDeaths && this.chance.next() < likelihood;
  }

  get calmAt(): number {
    return this.plan.calmAt;
  }

  fail(promise: string, detail: string): void {
    this.observer.fail(promise, detail);
  }

  isOwner(life: Life): boolean {
    return life === this.#process || (life === this.#late && this.scheduler.now < this.#late.trustedUntil);
  }

  /** What the clock of the machine shows. */
  get wallMs(): number {
    const set = this.plan.clockSet.filter(({ at }) => this.scheduler.now >= at);
    return BEGINNING + this.scheduler.now + set.reduce((sum, { ms }) => sum + ms, 0);
  }

  /** The latest that the clock may have shown: what was planned by it comes due by then. */
  #latestWallMs(): number {
    const ahead = this.plan.clockSet.map(({ ms }) => Math.max(0, ms));
    return BEGINNING + this.scheduler.now + Math.max(0, ...ahead);
  }

  /** Whether another program holds the database's lock, for a moment or for seconds. */
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

  nextDueMs(): number | undefined {
    const due = this.#nextDue.get() as string | null;
    return due === null ? undefined : Date.parse(due);
  }

  async run(): Promise<Outcome> {
    for (const order of this.plan.orders) {
      this.scheduler.after(order.at, `insert ${JSON.stringify(order.id)}`, () => this.#shop.insert(order));
      if (order.mendedAt !== null) {
        this.scheduler.after(order.mendedAt + 1, `correct ${JSON.stringify(order.id)}`, () =>
          this.#shop.correct(order),
        );
      }
    }
    const person = await this.#openPerson();
    this.#person = person;
    await using _ = person;
    const decideAfter = (ms: number, decision: PlannedDecision) => {
      this.scheduler.after(ms, `person ${decision.kind} ${JSON.stringify(decision.id)}`, () => {
        void person.decide(decision).then((isDone) => isDone && this.#process?.wake());
      });
    };
    for (const decision of this.plan.decisions) decideAfter(decision.at, decision);
    const { paused } = this.plan;
    if (paused !== null) {
      this.scheduler.after(paused.from, `person pauses: ${paused.kind}`, () => {
        void person.pause(paused.kind).then(() => this.#process?.heed());
      });
      this.scheduler.after(paused.to, 'person resumes', () => this.#resume(person));
    }
    this.exchange.onCreate = (id) => {
      if (this.isCalm || this.chance.next() >= this.plan.decidesInFlight) return;
      decideAfter(this.chance.below(200), { id, kind: 'retry' });
    };
    for (const { at, ms } of this.plan.clockSet) {
      this.scheduler.after(at, `the clock is set by ${ms} ms`, () => this.#process?.wake());
    }
    for (const { at, ms } of this.plan.blocked) {
      this.scheduler.after(at, `the event loop is blocked for ${ms} ms`, () => this.#block(ms));
    }
    const { resumedEveryMs } = this.plan;
    if (resumedEveryMs !== null) this.#resumeEvery(resumedEveryMs, person);
    this.#shop.begin();
    for (const still of this.plan.shared?.stills ?? []) {
      this.scheduler.after(still.at, 'a process stands still', () => this.#standStill(still.ms));
    }
    await using auditor = this.plan.isAudited ? await this.#auditor() : undefined;
    auditor?.begin();
    this.begin(0);
    let steps = 0;
    while (this.observer.violation === undefined && !this.#isOver()) {
      if (!(await this.scheduler.step())) this.observer.fail('no order is lost', 'nothing happens any more');
      this.#mayDie('at a step', this.plan.deathAtStep);
      await this.#trial?.afterStep(this);
      this.observer.check(this.#latestWallMs());
      this.deliveries.check();
      if (this.scheduler.waiting > 200) this.observer.fail('backlog bounded', `${this.scheduler.waiting} events wait`);
      steps += 1;
      if (steps > MOST_STEPS + 10_000 * this.plan.orders.length)
        this.observer.fail('everything settles', `${steps} steps and no end`);
    }
    if (this.observer.violation === undefined) this.#checkEnd();
    if (this.observer.violation === undefined) await auditor?.checkEnd();
    const { requests, decisions, violation } = this.observer;
    return {
      seed: this.plan.seed,
      counts: { steps, requests, decisions, deaths: this.#deaths, places: this.#places, ...this.#trial?.counts },
      trace: this.scheduler.trace,
      violation,
    };
  }

  #checkEnd(): void {
    this.observer.checkEnd(this.exchange.sandbox, this.wallMs);
    this.deliveries.checkEnd();
  }

  #isOver(): boolean {
    const { now } = this.scheduler;
    const { endAt, endsWhenSettled, lastAt } = this.plan;
    if (now >= endAt) return true;
    if (!endsWhenSettled || now < Math.max(lastAt, this.deliveries.settledAt, this.#lookAt)) return false;
    this.#lookAt = now + SETTLED_EVERY_MS;
    return this.observer.holds(() => this.#checkEnd());
  }

  [Symbol.dispose](): void {
    this.#process?.die('the end');
    this.#late?.die('the end');
    this.#shop.close();
    this.#reader.close();
    const { path } = this.config.database;
    for (const ending of ['', '-wal', '-shm', '.mark', '.copy', '.copy-wal', '.copy-shm'])
      rmSync(`${path}${ending}`, { force: true });
  }

  async #auditor(): Promise<Auditor> {
    const { config, scheduler } = this;
    return await Auditor.open({
      config,
      scheduler,
      chance: new Chance(this.plan.seed + 6_000_029),
      reader: this.#reader.asDatabase(),
      clock: { ...frozenClock(), now: () => new Date(this.wallMs) },
      latest: () => new Date(this.#latestWallMs()),
      fail: (promise, detail) => this.observer.fail(promise, detail),
    });
  }

  async #openPerson(): Promise<Person> {
    const [clock, store] = [this.#personsClock(), await this.#openStore()];
    const deps = { account: 'default', store, clock, settings: flowSettings(this.config) };
    return new Person(deps, this.exchange.sandbox, this.observer);
  }

  #personsClock(): Clock {
    return { ...frozenClock(), now: () => new Date(this.wallMs) };
  }

  async #openStore(): Promise<Store> {
    const options = { expect: 'current', synchronous: 'off' } as const;
    return await openStore(this.config.database.path, this.#personsClock(), options);
  }

  get isOpening(): boolean {
    return this.#process?.isOpening === true;
  }

  get path(): string {
    return this.config.database.path;
  }

  async replaceFiles(change: () => void): Promise<void> {
    const process = this.#process;
    if (process?.isAlive === true) {
      process.die('its file is taken away');
      this.died(process, 'its file is taken away');
    }
    await this.#person?.[Symbol.asyncDispose]();
    this.#shop.close();
    this.#reader.close();
    change();
    this.#reader.reopen();
    this.#shop = new Shop(this, this.path);
    this.#person?.goOnWith(await this.#openStore());
    this.observer.died();
  }

  async accept(isNothingSent: boolean, wrap?: WrapStatement): Promise<void> {
    this.#process?.die('a person ends it');
    this.observer.died();
    await acceptCopy(this.config, this.#personsClock(), { isNothingSent, wrap });
    this.isOlder = false;
    if (!isNothingSent) this.observer.takenForSent();
    this.begin(0);
  }

  waitForPerson(): void {
    this.#cancelStart();
  }

  /** Another process takes over after a while; what could not go on is held back longer, as a supervisor does. */
  ended(process: SimulatedProcess, hasFailed: boolean): void {
    if (process !== this.#process) return;
    this.observer.died();
    const waitMs = this.chance.of(hasFailed ? [0, 15_000, 60_000, 300_000] : [0, 10, 1_000, 30_000]);
    this.begin(hasFailed ? Math.max(waitMs, this.#heldMs(process)) : waitMs);
  }

  died(process: SimulatedProcess, where: string): void {
    this.scheduler.note(`death ${where}`);
    this.#deaths += 1;
    if (process !== this.#process) return;
    this.observer.died();
    const waitMs = this.chance.of([0, 10, 1_000, 30_000]);
    this.begin(Math.max(waitMs, this.#heldMs(process)));
  }

  /** Where processes share a server nobody takes over before the heartbeat of a process that did not end in order is over. */
  #heldMs(process: SimulatedProcess): number {
    if (this.plan.shared === null) return 0;
    if (process.stillUntil <= this.scheduler.now) process.endHeartbeat();
    this.#lastOwnerUntil = process.trustedUntil;
    return process.heldUntil - this.scheduler.now;
  }

  /** Where it lasts longer than its heartbeat, another process takes over, and this one wakes up late. */
  #standStill(ms: number): void {
    const process = this.#process;
    if (process?.isAlive !== true || this.isCalm || this.#late?.isAlive === true) return;
    process.standStill(ms);
    this.scheduler.after(process.heldUntil - this.scheduler.now + this.chance.below(1_000), 'look for an owner', () => {
      if (this.#process !== process || !process.isAlive || process.stillUntil <= this.scheduler.now) return;
      this.#late = process;
      // That it dies now lets nobody else begin: another is about to.
      this.#process = undefined;
      this.#lastOwnerUntil = process.trustedUntil;
      this.begin(0);
    });
  }

  /** Where processes share a server, no heartbeat is renewed meanwhile. */
  #block(ms: number): void {
    if (this.plan.shared === null) this.#process?.block(ms);
    else this.#standStill(ms);
  }

  #resume(person: Person): void {
    // The database refuses until a person has accepted it.
    if (this.isOlder) return;
    this.observer.resumed(this.scheduler.now);
    void person.resume().then(() => this.#process?.heed());
  }

  /** A person lets creates go on that the program itself has stopped, for as long as the world lasts. */
  #resumeEvery(ms: number, person: Person): void {
    this.scheduler.after(ms, 'person lets creates go on', () => {
      const isPaused = this.plan.paused !== null && this.scheduler.now < this.plan.paused.to;
      if (!isPaused) this.#resume(person);
      this.#resumeEvery(ms, person);
    });
  }

  begin(ms: number): void {
    this.#cancelStart();
    this.#cancelStart = this.scheduler.after(ms, 'start', () => {
      const lastOwnerUntil = this.plan.shared === null ? undefined : this.#lastOwnerUntil;
      this.#lastOwnerUntil = undefined;
      this.#process = new SimulatedProcess(this, lastOwnerUntil);
      void this.#process.live();
    });
  }

  #mayDie(where: string, likelihood: number): void {
    if (this.#process?.isAlive !== true || !this.diesHere(likelihood, where)) return;
    const process = this.#process;
    process.die(where);
    this.died(process, where);
  }
}

function withPlan(config: SqliteConfig, plan: Plan, path: string): SqliteConfig {
  const database = { ...config.database, url: `sqlite:${path}`, path, address: path };
  return withSettings({ ...config, database }, plan.settings);
}

function frozenClock(): Clock {
  return {
    now: () => new Date(BEGINNING),
    monotonic: () => 0,
    random: () => 0,
    turn: async () => {},
    sleep: async () => {},
  };
}
