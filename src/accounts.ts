import PQueue from 'p-queue';
import { DueAccounts } from './accounts/due-accounts.ts';
import { FailedAccounts, isOfAll, isOvertaken } from './accounts/failed-accounts.ts';
import type { AccountsDeps } from './accounts/deps.ts';
import { OwnedAccount, type Driving } from './accounts/owned-account.ts';
import { OwnershipLog } from './accounts/ownership-log.ts';
import { RateGroups } from './accounts/rate-groups.ts';
import { Sweeps } from './accounts/sweeps.ts';
import { startApp } from './app.ts';
import { configOf, requireExchange } from './config/config.ts';
import { after } from './domain/instant.ts';
import { LONGEST_WAIT_MS } from './domain/orders/schedule.ts';
import { ClockWatch } from './flows/orders/clock-watch.ts';
import { reportSent } from './flows/orders/fail-over.ts';
import { SentIntents } from './flows/pass/sent-intents.ts';
import type { FollowPace } from './flows/pass/follow-pace.ts';
import { LEASE_MS } from './flows/pass/lease.ts';
import type { AccountInUse, Accounts as UsableAccounts } from './http/control/operations/operation.ts';
import { accountsOfFailOvers } from './store/fail-overs.ts';
import { accountsOfAnotherClock, type SweptPass } from './store/due-times.ts';
import type { Holding } from './store/port.ts';

/** A worker reports intents that a fail-over lost for at most this long after it. */
const REPORTED_FOR_MS = 60 * 60_000;
/** An account rests when nothing was due for this time. */
const REST_AFTER_MS = 60_000;
/** Where more than so many are driven, those that have nothing to do rest at once: each takes memory. */
const MOST_DRIVEN = 300;
/** All accounts are read again in so many seconds: whatever was missed is seen then. */
const REREAD_IN_S = 60;
/** Accounts that one statement reads. */
const SLICE = 500;
/** Accounts that are started at the same time. */
const STARTS = 8;

/**
 * The accounts that this process drives: each from when something is due in it until nothing is for a minute, so that
 * thousands of idle ones cost next to nothing. An account that fails stops no other.
 */
export class Accounts implements UsableAccounts {
  readonly #deps: AccountsDeps;
  readonly #driving: Driving;
  readonly #owned = new Map<string, OwnedAccount>();
  readonly #due: DueAccounts;
  readonly #starts = new PQueue({ concurrency: STARTS });
  readonly #failed: FailedAccounts;
  readonly #clockWatch: ClockWatch;
  readonly #sweeps: Sweeps;
  readonly #rateGroups: RateGroups;
  readonly #ownershipLog: OwnershipLog;
  readonly #intents = new SentIntents();
  readonly #begun = Promise.withResolvers<void>();
  #names: readonly string[] | undefined;
  #taken: string[] = [];
  #reread = 0;

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
    const { store, stop, passesOf } = deps;
    this.#due = new DueAccounts({ ...deps, owned: this.#owned });
    this.#sweeps = new Sweeps({ store, owned: this.#owned, names: () => this.names });
    this.#rateGroups = new RateGroups(deps.config, this.#owned);
    this.#ownershipLog = new OwnershipLog(deps);
    this.#failed = new FailedAccounts(deps);
    this.#clockWatch = new ClockWatch(deps, () => this.#correctAll());
    this.#driving = {
      start: (holding, pace) => this.#starts.add(() => this.#start(holding, pace)),
      passesOf,
      stop,
      onPass: (account) => this.#due.read(account),
      onFailure: (account, error) => this.#fail(account, error),
    };
  }

  /** One account alone is driven all the time, and what it fails by ends the process. */
  get isOnly(): boolean {
    return this.#deps.config.accounts.length === 1;
  }

  /** Resolves when the first accounts are known, and what is due in them; of one account alone when it is driven. */
  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** The names of the owned accounts, in their order. */
  get names(): readonly string[] {
    this.#names ??= [...this.#owned.keys()].toSorted();
    return this.#names;
  }

  /** The names of the accounts in which something is to be done. */
  get waiting(): readonly string[] {
    return [...this.#owned.values()].filter(({ life }) => life !== undefined).map(({ name }) => name);
  }

  /** Takes over an account that this process owns from now on. */
  take(holding: Holding): void {
    const [deps, account] = [this.#deps, new OwnedAccount(holding, this.#driving)];
    this.#owned.set(account.name, account);
    this.#names = undefined;
    holding.ending.addEventListener('abort', () => void this.#giveBack(account), { once: true });
    if (holding.ending.aborted) void this.#giveBack(account);
    if (this.#taken.push(account.name) > 1) return;
    // Accounts mostly come together.
    void deps.clock
      .turn()
      .then(() => this.#deps.patience.with(() => this.#begin(this.#taken.splice(0).toSorted())))
      .then(() => this.#begun.resolve())
      .catch((error: unknown) => isOvertaken(deps, error) || deps.onFailure(error));
  }

  async use(name: string): Promise<AccountInUse | undefined> {
    const account = this.#owned.get(name);
    const used = await account?.use();
    if (account === undefined || used === undefined) return undefined;
    const app = { ...used.app, wakeCreates: () => account.wake('create') };
    return { app, [Symbol.dispose]: () => used.use[Symbol.dispose]() };
  }

  /** Takes note of what others commit: new rows, and what persons decide. */
  async heedChanges(): Promise<void> {
    const { store, stop } = this.#deps;
    const decided = new Set<string>();
    for await (const names of store.changes(stop)) {
      for (const name of names) decided.add(name);
      await this.#deps.patience.with(async () => {
        for (const name of decided) await this.heedDecision(name).then(() => decided.delete(name));
        await this.#due.look();
      });
    }
  }

  /** A person or another program has decided something in an account. */
  async heedDecision(name: string): Promise<void> {
    this.#deps.store.newEvents.tell(name);
    const account = this.#owned.get(name);
    if (account === undefined) return;
    await account.driven?.app.holds.read();
    await this.#due.read(account);
    if (account.driven !== undefined) for (const pass of ['create', 'lookup'] as const) account.wake(pass);
  }

  /** Wakes the accounts in which something has come due. */
  wakeDue(): void {
    this.#due.wakeDue();
  }

  /** `schedule.cron` has ticked: orders that are followed are looked up where they are due. */
  tick(): void {
    this.#due.tick();
  }

  /** Begins to run a pass in each account that has work for it, a few at a time. */
  sweep(pass: SweptPass): void {
    if (this.isOnly) for (const account of this.#owned.values()) account.wake(pass);
    else this.#sweeps.begin(pass);
  }

  /** Does what is done each second: nothing is asked of the database but of accounts at work, and of the next few others. */
  async eachSecond(): Promise<void> {
    this.#failed.tryAgain();
    await this.#deps.patience.with(() => this.#attendAll());
  }

  async #attendAll(): Promise<void> {
    const { names } = this;
    await this.#clockWatch.correct();
    const driven = [...this.#owned.values()].filter((account) => account.driven !== undefined);
    for (const account of driven) await this.#attend(account, driven.length > MOST_DRIVEN);
    await this.#sweeps.eachSecond();
    await this.#reportSent();
    const count = Math.ceil(names.length / REREAD_IN_S);
    if (this.#reread >= names.length) this.#reread = 0;
    const slice = names.slice(this.#reread, this.#reread + count);
    for (const name of slice) await this.#owned.get(name)?.driven?.app.holds.read();
    await this.#readSlice(slice);
    this.#reread += count;
  }

  /** Reports intents that a fail-over lost, in accounts that this process lost. */
  async #reportSent(): Promise<void> {
    const { config, store, clock, log } = this.#deps;
    const lost = this.#intents.accounts.filter((name) => !this.#owned.has(name));
    for (const account of await accountsOfFailOvers(store.db, lost, after(clock.now(), -REPORTED_FOR_MS))) {
      const deps = { account, store: store.forAccount(account), clock, log: log.child({ account }) };
      await reportSent({ ...deps, settings: configOf(config, account).create, intents: this.#intents });
    }
  }

  /** Reads the keys again that may have changed. */
  rereadKeys(): void {
    for (const { driven } of this.#owned.values()) driven?.app.holds.rereadKey();
  }

  /** Breaks off what is under way. */
  endGracePeriod(): void {
    const { store } = this.#deps;
    store.writer.endGracePeriod();
    // Those that are about to be driven too: on PostgreSQL each has a writer of its own.
    for (const { name, holding } of this.#owned.values()) store.forAccount(name, holding).writer.endGracePeriod();
  }

  /** Resolves when no account is driven any more; only once the process stops. */
  async ended(): Promise<void> {
    await Promise.all([...this.#owned.values()].map(async ({ life }) => await life));
  }

  async #start(holding: Holding, pace: FollowPace | undefined) {
    const { config, store, clock, log, connect, activities, stop } = this.#deps;
    const { account, ending } = holding;
    if (stop.aborted || ending.aborted) return undefined;
    return await startApp(requireExchange(configOf(config, account)), {
      store: store.forAccount(account, holding),
      holding,
      clock,
      log: this.isOnly ? log : log.child({ account }),
      connect,
      rateGroup: this.#rateGroups.of(account),
      isTakenUp: pace !== undefined,
      activity: activities.of(account),
      intents: this.#intents,
      pace,
    });
  }

  /** Reads what is due in accounts that were taken; those that another clock left wrong times in are put right. */
  async #begin(names: readonly string[]): Promise<void> {
    const { store, clock } = this.#deps;
    this.#ownershipLog.taken(names);
    await this.#due.look();
    await this.#failed.takeUp(names.flatMap((name) => this.#owned.get(name) ?? []));
    if (this.isOnly) return void (await Promise.all(names.map((name) => this.#beginOnly(name))));
    for (let first = 0; first < names.length; first += SLICE) {
      const slice = names.slice(first, first + SLICE);
      await this.#readSlice(slice);
      const [from = '', to = from, now] = [slice[0], slice.at(-1), clock.now()];
      const late = { due: after(now, LONGEST_WAIT_MS), lease: after(now, LEASE_MS) };
      const wrong = await accountsOfAnotherClock(store.db, { from, to, ...late });
      for (const name of wrong) this.#owned.get(name)?.wake('create');
      await clock.turn();
    }
    for (const pass of this.#swept) this.sweep(pass);
  }

  /** Records that an earlier version stored are compared at the start also where nothing is swept. */
  get #swept(): readonly SweptPass[] {
    return this.#deps.config.links.cron === undefined ? ['findings'] : ['findings', 'links'];
  }

  async #beginOnly(name: string): Promise<void> {
    const account = this.#owned.get(name);
    for (const pass of ['create', 'lookup', ...this.#swept] as const) account?.wake(pass);
    using _ = (await account?.use())?.use;
  }

  async #attend(account: OwnedAccount, isCrowded: boolean): Promise<void> {
    const { driven } = account;
    if (driven === undefined) return;
    await driven.app.incidents.report();
    if (driven.app.uncorrected.isDue) driven.wake('uncorrected');
    // Long passes, and what others use it for, bring new times.
    if (driven.isBusy) return await this.#due.read(account);
    const soon = this.#deps.clock.now().getTime() + REST_AFTER_MS;
    const isDue = this.#due.wakeAgain(account, driven, isCrowded ? 0 : soon);
    const isIdle = driven.idleMs >= REST_AFTER_MS || isCrowded;
    if (!this.isOnly && !isDue && isIdle && !driven.isBusy && !driven.isRecovering) driven.stop();
  }

  async #readSlice(names: readonly string[]): Promise<void> {
    const [from, to] = [names[0], names.at(-1)];
    if (from !== undefined && to !== undefined) await this.#due.readRange(from, to);
  }

  /** What was planned under a clock that was set back since is due now. */
  #correctAll(): void {
    for (const account of this.#owned.values()) {
      if (account.driven !== undefined || this.#due.isAwaited(account)) account.wake('clock');
    }
  }

  #fail(account: OwnedAccount, error: unknown): void {
    const { config, onFailure, stop } = this.#deps;
    // It is claimed again, where it is free.
    if (isOvertaken(this.#deps, error)) return void this.#giveBack(account);
    if (this.isOnly || isOfAll(this.#deps, error)) return onFailure(error);
    if (!stop.aborted && !account.holding.ending.aborted) {
      this.#failed.add(account, error, configOf(config, account.name).exchange);
    }
  }

  async #giveBack(account: OwnedAccount): Promise<void> {
    await account.life;
    await account.holding.release();
    if (this.#owned.get(account.name) !== account) return;
    this.#owned.delete(account.name);
    this.#due.forget(account.name);
    this.#names = undefined;
    await this.#ownershipLog.left(account.name);
  }
}
