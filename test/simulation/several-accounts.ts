import { once } from 'node:events';
import type { App } from '../../src/app.ts';
import { partsWith } from '../support/parts.ts';
import { Accounts } from '../../src/accounts/accounts.ts';
import type { Passes } from '../../src/accounts/account.ts';
import type { Clock } from '../../src/base/clock.ts';
import { passesBy } from '../../src/daemon.ts';
import { KeyRefusedError } from '../../src/exchange/reply.ts';
import type { Connect } from '../../src/exchange/transport/transport.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { Activities } from '../../src/extensions/health/activity.ts';
import { patientlyWith, repeatEvery, withGracePeriod } from '../../src/orders/pass/run.ts';
import { groupsOf, type Config } from '../../src/settings/config.ts';
import type { OwnedStore } from '../../src/store/open.ts';
import type { AccountLease } from '../../src/store/port.ts';
import { isPassing, OwnedError } from '../../src/store/errors.ts';
import { LONGEST_SLEEP_MS, sendingOf, Sleepers, untilDueMs, type Driven, type Driving } from './one-account.ts';
import type { SimulatedSending } from './receivers/sending.ts';

/**
 * Several accounts of a process, run by the program's own code for that. The daemon's work of each second happens here when
 * something is due, and after each pass: worlds last for days.
 */
export class SeveralAccounts implements Driven {
  readonly #driving: Driving;
  readonly #owned: OwnedStore;
  readonly #accounts: Accounts;
  readonly #sleepers: Sleepers;
  readonly #persons: Sleepers;
  readonly #changes: Changes;
  readonly #failed: AbortController;
  readonly #end: AbortSignal;
  readonly #sending: SimulatedSending | undefined;
  #tickedAt: Date;
  #isStirred = false;

  private constructor(driving: Driving, owned: OwnedStore, connect: Connect, ending: Ending) {
    const { world, clock } = driving;
    const { log, workers } = world;
    const { database } = world.config;
    // One of several processes of a server loses an account by itself, and not all of them.
    const config: Config =
      workers === undefined ? world.config : { ...world.config, database: { ...database, kind: 'postgres' } as never };
    this.#driving = driving;
    this.#owned = owned;
    this.#failed = ending.failed;
    this.#end = ending.end;
    this.#changes = ending.changes;
    this.#sleepers = new Sleepers({ ...driving, stop: ending.end });
    this.#persons = new Sleepers({ ...driving, stop: ending.end });
    this.#sending = sendingOf({ ...driving, stop: ending.end }, owned.store);
    this.#tickedAt = clock.now();
    const { store } = owned;
    const tickedAt = () => this.#tickedAt;
    const parts = partsWith(new Activities(clock));
    const sweeps = (parts.sweeps ?? []).map((make) => make(config));
    this.#accounts = new Accounts({
      config,
      store,
      clock,
      log,
      connect,
      tickedAt,
      patiently: patientlyWith({ store, clock, log }),
      parts,
      sweeps,
      passes: this.#stirring(passesBy(sweeps, tickedAt)),
      stop: this.#end,
      onFailure: (error) => this.#failed.abort(error),
    });
  }

  /** Opens the database by `openOwned`, to drive its accounts. */
  static async open(
    driving: Driving,
    openOwned: (clock: Clock) => Promise<OwnedStore>,
    connect: Connect,
  ): Promise<SeveralAccounts> {
    const failed = new AbortController();
    const end = AbortSignal.any([driving.stop, failed.signal]);
    const changes = new Changes(driving.clock, end);
    return new SeveralAccounts(driving, await openOwned(changes.clock), connect, { failed, end, changes });
  }

  async run(): Promise<void> {
    const { world, clock } = this.#driving;
    const accounts = this.#accounts;
    const end = this.#end;
    const tasks = [
      this.#owned.ownership.share(groupsOf(world.config), (accountLease) => this.#take(accountLease), end),
      this.#sending?.run() ?? Promise.resolve(),
      accounts.heedChanges(),
      this.#lookNowAndThen(),
      this.#syncNowAndThen(),
      repeatEvery(clock, LONGEST_SLEEP_MS, end, () => this.#sweep()),
    ];
    for (const task of tasks) task.catch((error: unknown) => this.#failed.abort(error));
    if (!end.aborted) await once(end, 'abort');
    await withGracePeriod({ clock, endGracePeriod: () => accounts.endGracePeriod() }, end, () =>
      Promise.allSettled([...tasks, accounts.ended()]),
    );
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
  }

  wake(): void {
    this.#changes.tell();
    this.#sleepers.wake();
    this.#persons.wake();
  }

  async heed(): Promise<void> {
    this.wake();
  }

  stirAfterTrouble(): void {
    this.#sending?.stirAfterTrouble();
    this.#stir();
  }

  endGracePeriod(): void {
    this.#accounts.endGracePeriod();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }

  #take(accountLease: AccountLease): void {
    this.#accounts.take(accountLease);
    this.#sending?.take(accountLease);
    if (this.#driving.world.workers !== undefined) this.#stir();
  }

  /** The work of the daemon each second, and at the ticks of `schedule.cron`. */
  async #lookNowAndThen(): Promise<void> {
    const { world, clock } = this.#driving;
    while (!this.#end.aborted) {
      this.#tickedAt = clock.now();
      this.#accounts.due.wakeDue();
      this.#accounts.due.tick();
      await this.#accounts.eachSecond();
      const names = world.workers === undefined ? undefined : this.#accounts.names;
      await this.#sleepers.sleep('accounts', untilDueMs(world, names));
    }
  }

  /** A person asks for a pass of an account now and then, in the middle of the daemon's own. */
  async #syncNowAndThen(): Promise<void> {
    const { world } = this.#driving;
    while (!this.#end.aborted && !world.isCalm) {
      await this.#persons.sleep('sync', world.chance.of([5_000, 60_000, LONGEST_SLEEP_MS]));
      const { names } = this.#accounts;
      if (names.length > 0 && !this.#end.aborted) await this.#sync(world.chance.of(names));
    }
  }

  async #sync(account: string): Promise<void> {
    try {
      using used = await this.#accounts.use(account);
      if (used !== undefined) await syncOnce(used.app, 'all', this.#end);
    } catch (error) {
      const isLost = this.#driving.world.workers !== undefined && error instanceof OwnedError;
      if (!isPassing(error) && !(error instanceof KeyRefusedError) && !isLost) throw error;
    }
  }

  #sweep(): void {
    this.#accounts.due.sweep('findings');
    this.#sleepers.wake();
  }

  /** The rest of a pass may be due sooner than the end of the sleep. */
  #stirring(passes: Passes): Passes {
    const stirring = Object.entries<Passes['create'] | undefined>(passes).map(([name, pass]) => [
      name,
      async (app: App, stop: AbortSignal) => await pass?.(app, stop).finally(() => this.#stir()),
    ]);
    return Object.fromEntries(stirring) as Passes;
  }

  #stir(): void {
    const { world, life } = this.#driving;
    if (this.#isStirred) return;
    this.#isStirred = true;
    const look = () => {
      this.#isStirred = false;
      this.#sleepers.wake();
    };
    world.scheduler.after(this.#sleepers.tickMs, 'look again', look, life);
  }
}

/** How the process ends. */
interface Ending {
  /** Aborted if it cannot continue. */
  readonly failed: AbortController;
  readonly end: AbortSignal;
  readonly changes: Changes;
}

/** The program looks for changes this often. Its other waits on the same signal, such as for a full disk, are longer. */
const LOOK_MS = 100;

/** Has the program look for what others have committed when they have, and not ten times a second. */
class Changes {
  readonly clock: Clock;
  #isThere = false;
  #onChange = () => {};

  constructor(clock: Clock, end: AbortSignal) {
    const isLook = (ms: number, signal: AbortSignal | undefined) => ms <= LOOK_MS && signal === end;
    this.clock = { ...clock, sleep: (ms, signal) => (isLook(ms, signal) ? this.#next(end) : clock.sleep(ms, signal)) };
  }

  tell(): void {
    this.#isThere = true;
    this.#onChange();
  }

  async #next(end: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onChange = resolve;
    end.addEventListener('abort', () => resolve(), { once: true });
    if (!this.#isThere && !end.aborted) await promise;
    this.#isThere = false;
  }
}
