import PQueue from 'p-queue';
import { OwnedAccount, type AccountsDeps, type AccountInUse } from './account.ts';
import { DueAccounts } from './due-accounts.ts';
import { concernsAllAccounts, isOvertaken, retryFailed, retryStopped, stopFailed } from './failures.ts';
import { startApp, type AppParts } from '../app.ts';
import { groupOf, configOf, requireExchange } from '../settings/config.ts';
import { after } from '../base/instant.ts';
import { LONGEST_WAIT_MS } from '../orders/rules/schedule.ts';
import type { Connect } from '../exchange/transport/transport.ts';
import { clockWatch } from '../orders/correct-times.ts';
import { reportSent } from '../orders/fail-over.ts';
import { LEASE_MS, RateGroup } from '../orders/pass/lease.ts';
import type { Patiently } from '../orders/pass/run.ts';
import type { Sweep } from '../orders/pass/deps.ts';
import { SentIntents } from '../orders/pass/sent-intents.ts';
import { accountsOfFailOvers } from '../store/tables/fail-overs.ts';
import { partsOf } from '../store/pages.ts';
import type { AccountLease } from '../store/port.ts';
import { accountsToPutRight } from '../store/orders/wrong-due-times.ts';

/** How long after a fail-over a worker reports the intents that the database lost. */
const REPORTED_FOR_MS = 60 * 60_000;
/** If more accounts than this are wired, idle accounts are stopped at once, because each wired account takes memory. */
const MOST_WIRED = 300;
const SLICE = 500;
const STARTS = 8;
const MOST_NAMED = 20;

interface Deps extends AccountsDeps {
  readonly patiently: Patiently;
  readonly connect?: Connect | undefined;
  /** Each wiring of an account reads the parts again, because services add listeners after `Accounts` is made. */
  readonly parts: AppParts;
  readonly sweeps: readonly Sweep[];
  readonly onFailure: (error: unknown) => void;
}

/** The accounts of this process. The failure of one account stops no other account, unless `concernsAllAccounts`. */
export class Accounts {
  readonly due: DueAccounts;
  readonly #deps: Deps;
  readonly #owned = new Map<string, OwnedAccount>();
  readonly #starts = new PQueue({ concurrency: STARTS });
  readonly #checkClock: () => Promise<void>;
  readonly #rateGroups = new WeakMap<AccountLease, RateGroup>();
  readonly #intents = new SentIntents();
  readonly #begun = Promise.withResolvers<void>();
  /** Resolves when the due times of the first accounts are known, or when the only account is wired. */
  readonly begun = this.#begun.promise;
  #names: readonly string[] | undefined;
  #newNames: string[] = [];
  #releasedNames: string[] = [];
  #isBegun = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.due = new DueAccounts({ ...deps, owned: this.#owned });
    this.#checkClock = clockWatch(deps, () => this.#correctAll());
  }

  /** True if the settings have one account. It stays wired. Its failure ends the process, unless `isOvertaken`. */
  get isOnly(): boolean {
    return this.#deps.config.accounts.length === 1;
  }

  get names(): readonly string[] {
    this.#names ??= [...this.#owned.keys()].toSorted();
    return this.#names;
  }

  get waiting(): readonly string[] {
    return [...this.#owned.values()].filter(({ life }) => life !== undefined).map(({ name }) => name);
  }

  take(accountLease: AccountLease): void {
    const { clock, patiently, passes, stop, onFailure } = this.#deps;
    const account = new OwnedAccount(accountLease, {
      wire: (owned) => this.#starts.add(() => this.#wire(owned)),
      passes,
      stop,
      onPass: ({ name }) => this.due.read([name]),
      onFailure: (failed, error) => this.#fail(failed, error),
    });
    this.#owned.set(account.name, account);
    this.#names = undefined;
    accountLease.ending.addEventListener('abort', () => void this.#giveBack(account), { once: true });
    if (accountLease.ending.aborted) void this.#giveBack(account);
    if (this.#newNames.push(account.name) > 1) return;
    // Accounts that are taken in one turn of the event loop begin together, because that takes fewer queries.
    void clock
      .turn()
      .then(() => patiently(() => this.#begin(this.#newNames.splice(0).toSorted())))
      .then(() => this.#begun.resolve())
      .catch((error: unknown) => isOvertaken(this.#deps, error) || onFailure(error));
  }

  async use(name: string): Promise<AccountInUse | undefined> {
    return await this.#owned.get(name)?.use();
  }

  async heedChanges(): Promise<void> {
    const { store, stop } = this.#deps;
    const decided = new Set<string>();
    for await (const names of store.changes(stop)) {
      for (const name of names) decided.add(name);
      await this.#deps.patiently(async () => {
        for (const name of decided) await this.heedDecision(name).then(() => decided.delete(name));
        await this.due.findNewRows();
      });
    }
  }

  async heedDecision(name: string): Promise<void> {
    this.#deps.store.newEvents.tell(name);
    const account = this.#owned.get(name);
    if (account === undefined) return;
    await account.wired?.app.restraints.read();
    await this.due.read([name]);
    if (account.wired !== undefined) for (const pass of ['create', 'lookup'] as const) account.wake(pass);
  }

  async eachSecond(): Promise<void> {
    for (const account of this.#owned.values()) retryFailed(this.#deps, account);
    await this.#deps.patiently(async () => {
      await this.#checkClock();
      const wired = [...this.#owned.values()].filter((account) => account.wired !== undefined);
      for (const account of wired) await this.due.wakeOrStop(account, wired.length > MOST_WIRED);
      await this.#reportSent();
      await this.due.readNext(this.names);
    });
  }

  async #reportSent(): Promise<void> {
    const { config, store, clock, log } = this.#deps;
    const lost = [...this.#intents.owned.keys()].filter((name) => !this.#owned.has(name));
    for (const account of await accountsOfFailOvers(store.db, lost, after(clock.now(), -REPORTED_FOR_MS))) {
      const deps = { account, store: store.forAccount(account), clock, log: log.child({ account }) };
      await reportSent({ ...deps, settings: configOf(config, account).create, intents: this.#intents });
    }
  }

  rereadKeys(): void {
    for (const { wired } of this.#owned.values()) wired?.app.restraints.rereadKey();
  }

  endGracePeriod(): void {
    const { store } = this.#deps;
    store.writer.endGracePeriod();
    // On PostgreSQL each account has a writer of its own, even while the account is being wired.
    for (const { name, accountLease } of this.#owned.values())
      store.forAccount(name, accountLease).writer.endGracePeriod();
  }

  async ended(): Promise<void> {
    await Promise.all([...this.#owned.values()].map(async ({ life }) => await life));
  }

  async #wire({ accountLease, pace }: OwnedAccount) {
    const { config, store, clock, log, connect, parts, stop } = this.#deps;
    const { account, ending } = accountLease;
    if (stop.aborted || ending.aborted) return undefined;
    return await startApp(requireExchange(configOf(config, account)), {
      ...parts,
      store: store.forAccount(account, accountLease),
      accountLease,
      clock,
      log: this.isOnly ? log : log.child({ account }),
      connect,
      rateGroup: this.#rateGroupOf(account),
      intents: this.#intents,
      pace,
    });
  }

  /** Returns the rate group of an account; undefined if the account shares its rate limit with no other account. */
  #rateGroupOf(account: string): RateGroup | undefined {
    const names = groupOf(this.#deps.config, account);
    const leases = names.flatMap((name) => this.#owned.get(name)?.accountLease ?? []);
    const [first] = leases;
    if (names.length === 1 || first === undefined) return undefined;
    // One process owns a whole group. New leases get a new `RateGroup`, because another process may have sent requests.
    const group = this.#rateGroups.get(first) ?? new RateGroup(leases, this.#deps.parts.makePaces);
    this.#rateGroups.set(first, group);
    return group;
  }

  async #begin(names: readonly string[]): Promise<void> {
    const { store, clock, log } = this.#deps;
    // The first accounts have no line here, because the line "order-sync is ready" counts them.
    if (this.#isBegun) log.info(factsOf(names), 'this process has become the owner of accounts');
    this.#isBegun = true;
    await this.due.findNewRows();
    await retryStopped(this.#deps, this.#owned, names);
    if (this.isOnly) return await this.#beginOnly(this.#owned.get(names[0] ?? ''));
    for (const slice of partsOf(names, SLICE)) {
      await this.due.read(slice);
      const now = clock.now();
      const late = { due: after(now, LONGEST_WAIT_MS), lease: after(now, LEASE_MS) };
      const wrong = await accountsToPutRight(store.db, { accounts: slice, ...late });
      for (const name of wrong) this.#owned.get(name)?.wake('create');
      await clock.turn();
    }
    for (const pass of this.#swept) this.due.sweep(pass);
  }

  get #swept(): readonly string[] {
    return this.#deps.sweeps.filter(({ isAtStart }) => isAtStart).map(({ name }) => name);
  }

  async #beginOnly(account: OwnedAccount | undefined): Promise<void> {
    for (const pass of ['create', 'lookup', ...this.#swept]) account?.wake(pass);
    using _ = await account?.use();
  }

  #correctAll(): void {
    for (const account of this.#owned.values()) {
      if (account.wired !== undefined || account.due.isAny) account.wake('clock');
    }
  }

  #fail(account: OwnedAccount, error: unknown): void {
    const { onFailure, stop } = this.#deps;
    // The account is released, so that a process can claim it again.
    if (isOvertaken(this.#deps, error)) return void this.#giveBack(account);
    if (this.isOnly || concernsAllAccounts(this.#deps, error)) return onFailure(error);
    if (!stop.aborted && !account.accountLease.ending.aborted) stopFailed(this.#deps, account, error);
  }

  async #giveBack(account: OwnedAccount): Promise<void> {
    await account.life;
    await account.accountLease.release();
    if (this.#owned.get(account.name) !== account) return;
    this.#owned.delete(account.name);
    this.#names = undefined;
    if (this.#deps.stop.aborted || this.#releasedNames.push(account.name) > 1) return;
    await this.#deps.clock.turn();
    this.#deps.log.info(
      factsOf(this.#releasedNames.splice(0).toSorted()),
      'this process is no longer the owner of accounts',
    );
  }
}

function factsOf(names: readonly string[]) {
  return { accounts: names.length, first: names.slice(0, MOST_NAMED) };
}
