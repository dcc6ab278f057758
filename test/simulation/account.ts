import type Database from 'better-sqlite3';
import type { Logger } from 'pino';
import type { Clock } from '../../src/base/clock.ts';
import { configOf } from '../../src/settings/config.ts';
import type { Transport } from '../../src/exchange/transport/http.ts';
import { PARTS } from '../support/parts.ts';
import { flowSettings } from '../../src/orders/pass/deps.ts';
import { decideFailOver } from '../../src/extensions/restore/restore.ts';
import { reportSent } from '../../src/orders/fail-over.ts';
import type { SentIntents } from '../../src/orders/pass/sent-intents.ts';
import { readFailOvers } from '../../src/store/tables/fail-overs.ts';
import { findOrders } from '../../src/store/find-orders.ts';
import { COPY_ACCEPTED } from './observer/history.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/port.ts';
import type { SqliteConfig } from '../support/test-program.ts';
import { Auditor } from './auditor.ts';
import { SimulatedExchange } from './exchange.ts';
import { frozenClock } from './ground.ts';
import { Observer } from './observer/observer.ts';
import type { SentRequests } from './observer/requests.ts';
import { Person } from './person.ts';
import type { PlannedDecision } from './plan/account.ts';
import { Chance } from './plan/chance.ts';
import { FIRST_ACCOUNT, quoted } from './plan/names.ts';
import type { Plan } from './plan/plan.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { numberedStore } from './shared-store.ts';
import type { Shop } from './shop.ts';

/** The surroundings of an account. */
export interface AccountWorld {
  readonly config: SqliteConfig;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly shop: Shop;
  readonly isCalm: boolean;
  readonly log: Logger;
  /** Tells whether an older copy was put in place that no person has accepted. */
  readonly isOlder: boolean;
  /** That of the server that processes share. */
  readonly timeLine: string;
  /** The time of the database, whatever the clocks of the machines show. */
  readonly databaseTime: Date;
  /** The time of the machine's clock, and the latest that it may have shown. */
  readonly wallMs: number;
  readonly latestWallMs: number;
  /** There may be work for the program, or a person has decided something. */
  wake(): void;
  heed(): void;
  isOwner(life: Life, account: string): boolean;
}

/** An account of the merchant in its world: its orders, its exchange, the person who looks after it, what is known of it. */
export class SimulatedAccount implements AsyncDisposable {
  readonly plan: Plan;
  readonly observer: Observer;
  readonly exchange: SimulatedExchange;
  readonly #world: AccountWorld;
  readonly #reader: Database.Database;
  #person: Person | undefined;
  #auditor: Auditor | undefined;

  /** `sent`: the requests that count for its limit, if it shares one. */
  constructor(world: AccountWorld, plan: Plan, reader: Database.Database, sent?: SentRequests) {
    this.#world = world;
    this.#reader = reader;
    this.plan = plan;
    this.observer = new Observer(reader, plan, sent);
    this.exchange = new SimulatedExchange(plan, world.chance, world.scheduler, this.observer, () => world.databaseTime);
  }

  /** The way of one process to the exchange. `step` is a place at which the process may die. */
  connect(life: Life, step: (where: string) => void, key: () => string): Transport {
    return this.exchange.transportOf(life, step, key, () => this.#world.isOwner(life, this.plan.account));
  }

  /** Plans what the merchant and the person do. */
  async begin(): Promise<void> {
    const { scheduler, shop } = this.#world;
    const { orders, decisions, staleSaves, resumedEveryMs } = this.plan;
    for (const order of orders) {
      scheduler.after(order.at, `insert ${this.#named(order)}`, () => shop.insert(this, order));
      if (order.mendedAt !== null) {
        scheduler.after(order.mendedAt + 1, `correct ${this.#named(order)}`, () => shop.correct(this, order));
      }
    }
    const { account } = this.plan;
    const deps = { account, store: await this.#openStore(), clock: this.#clock() };
    const config = configOf(this.#world.config, account);
    const settings = flowSettings(config, PARTS.makePaces?.(1)(config));
    const person = new Person({ ...deps, settings }, this.exchange.sandbox, this.observer);
    this.#person = person;
    for (const decision of decisions) this.#decideAfter(decision.at, decision, person);
    this.#planPause(person);
    this.exchange.onCreate = (id) => {
      const { isCalm, chance } = this.#world;
      if (isCalm || chance.next() >= this.plan.decidesInFlight) return;
      this.#decideAfter(chance.below(200), { id, kind: 'retry' }, person);
    };
    if (resumedEveryMs !== null) this.#resumeEvery(resumedEveryMs, person);
    for (const { id, at, ms } of staleSaves) {
      scheduler.after(at, `the shop reads ${this.#named({ id })}`, () => shop.saveStale(this, id, ms));
    }
  }

  /** Begins to read beside the program, if that is planned. */
  async audit(): Promise<void> {
    if (!this.plan.isAudited) return;
    const { scheduler } = this.#world;
    const { account, seed } = this.plan;
    const config = { ...this.#world.config, ...configOf(this.#world.config, account) } as SqliteConfig;
    this.#auditor = await Auditor.open({
      account,
      copyPath: copyPathOf(config.database.path, account),
      config,
      scheduler,
      chance: new Chance(seed + 6_000_029),
      reader: this.#reader,
      clock: this.#clock(),
      latest: () => new Date(this.#world.latestWallMs),
      fail: (promise, detail) => this.observer.fail(promise, detail),
    });
    this.#auditor.begin();
  }

  checkEnd(): void {
    this.observer.checkEnd(this.exchange.sandbox, this.#world.wallMs);
  }

  /** Checks what was read beside the program. */
  async checkAudit(): Promise<void> {
    await this.#auditor?.checkEnd();
  }

  /** A standby was promoted: the orders that it shows as never sent may have been, and the shop corrects its rows once more. */
  promoted(): void {
    this.observer.promoted(this.#world.scheduler.now);
    for (const order of this.plan.orders) this.#world.shop.correctAgain(this, order);
  }

  /** A process that lost the account names what it had sent. */
  async reportSent(intents: SentIntents): Promise<void> {
    const { log, config } = this.#world;
    const deps = { account: this.plan.account, store: await this.#openStore(), clock: this.#clock(), log };
    await reportSent({ ...deps, settings: config.create, intents });
    await deps.store.close();
    this.#world.wake();
  }

  async pauseCreates(): Promise<void> {
    await this.#person?.pause('creates-paused');
  }

  resume(): void {
    if (this.#person !== undefined) this.#resume(this.#person);
  }

  /** A person has the orders sent again that were rejected, as far as that creates none twice. */
  async retryRejected(): Promise<void> {
    const rejected = `select external_order_id from merchant_orders where account = ? and state = 'rejected'`;
    await this.#person?.retry(this.#reader.prepare(rejected).pluck().all(this.plan.account) as string[]);
    this.#world.wake();
  }

  /** A person asks the exchange about every order in doubt, and decides on all of them. */
  async decideFailOvers(): Promise<number> {
    const deps = { account: this.plan.account, store: await this.#openStore(), clock: this.#clock() };
    let decided = 0;
    for (const failOver of await readFailOvers(deps.store.db, deps.account)) {
      if (failOver.decision !== undefined || failOver.markedAt === undefined) continue;
      const filter = { account: deps.account, failOver: failOver.id, by: 'id', limit: 1_000 } as const;
      const rows = await findOrders(deps.store.db, filter, ['external_order_id']);
      const ids = rows.map((row) => row.external_order_id);
      const isMade = (id: string) => this.exchange.sandbox.preOrdersOf(id).length > 0;
      const answer = { actor: 'person', reason: COPY_ACCEPTED };
      await decideFailOver(deps, failOver, { ...answer, isSent: true, ids: ids.filter((id) => isMade(id)) });
      await decideFailOver(deps, failOver, { ...answer, isSent: false });
      for (const id of ids) if (!isMade(id)) this.observer.knownNotSent(id);
      decided += ids.length;
    }
    await deps.store.close();
    return decided;
  }

  /** The file of the database is about to be replaced. */
  async closeFiles(): Promise<void> {
    await this.#person?.[Symbol.asyncDispose]();
  }

  async reopenFiles(): Promise<void> {
    this.#person?.goOnWith(await this.#openStore());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#auditor?.[Symbol.asyncDispose]();
    await this.#person?.[Symbol.asyncDispose]();
  }

  #decideAfter(ms: number, decision: PlannedDecision, person: Person): void {
    this.#world.scheduler.after(ms, `person ${decision.kind} ${this.#named(decision)}`, () => {
      void person.decide(decision).then((isDone) => isDone && this.#world.wake());
    });
  }

  #planPause(person: Person): void {
    const { scheduler } = this.#world;
    const { paused } = this.plan;
    if (paused === null) return;
    scheduler.after(paused.from, `person pauses: ${paused.kind}`, () => {
      void person.pause(paused.kind).then(() => this.#world.heed());
    });
    scheduler.after(paused.to, 'person resumes', () => this.#resume(person));
  }

  #resume(person: Person): void {
    // The database refuses until a person has accepted it.
    if (this.#world.isOlder) return;
    this.observer.resumed(this.#world.scheduler.now);
    void person.resume().then(() => this.#world.heed());
  }

  /** A person allows creates again that the program itself has stopped, for as long as the world lasts. */
  #resumeEvery(ms: number, person: Person): void {
    const { scheduler } = this.#world;
    scheduler.after(ms, 'person allows creates again', () => {
      const isPaused = this.plan.paused !== null && scheduler.now < this.plan.paused.to;
      if (!isPaused) this.#resume(person);
      this.#resumeEvery(ms, person);
    });
  }

  #named({ id }: { readonly id: string }): string {
    return quoted(this.plan.account, id);
  }

  #clock(): Clock {
    return { ...frozenClock(), now: () => new Date(this.#world.wallMs) };
  }

  async #openStore(): Promise<Store> {
    const { path } = this.#world.config.database;
    const store = await openStore(path, this.#clock(), { expect: 'current', synchronous: 'off' });
    return this.plan.shared === null ? store : numberedStore(store, this.#world);
  }
}

/** The path of a copy of the database beside it, for the checks of an account's auditor. */
export function copyPathOf(path: string, account: string): string {
  return account === FIRST_ACCOUNT ? `${path}.copy` : `${path}.copy-${account}`;
}
