import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { unlessOfDatabase } from '../errors.ts';
import type { Primary } from '../hosts/primary.ts';
import { TRUSTED_MS, type WorkerView } from './heartbeats.ts';
import { differences, type SettingsText } from './settings.ts';
import type { StoreError } from '../../../store/errors.ts';
import type { AccountGroup, Database, AccountLease } from '../../../store/port.ts';
import { claimAccounts, endWorker, enterWorker, releaseAccounts, renewHeartbeat } from './workers.ts';
import type { AccountOwner, Claimed, NewWorker } from './workers.ts';

type WorkerDeps = Pick<LeasesDeps, 'db' | 'clock' | 'view' | 'primary' | 'isReplicated'>;
export type WorkerFacts = Pick<NewWorker, 'host' | 'socket' | 'advertise' | 'instance' | 'listens'>;

/** This process as a worker. Once the worker is declared over, the process enters as a new worker. */
export class Worker {
  readonly holder: string;
  failure: StoreError | undefined;
  /** The time-line of the last renewal, and the only one that this worker writes on; null if it cannot be read. */
  timeLine: string | null = null;
  readonly #deps: WorkerDeps;
  #isOver = false;
  /** When the last renewal began, by both clocks, because the monotonic clock stops while the machine sleeps. */
  #renewed: ReturnType<typeof momentOf>;
  /** `Primary.term` at the last renewal. If it has changed, other workers may read heartbeats on another server. */
  #term: number;

  private constructor(deps: WorkerDeps, host: string) {
    this.holder = `${host}:${process.pid}:${randomUUID().slice(0, 8)}`;
    this.#deps = deps;
    this.#renewed = momentOf(deps.clock);
    this.#term = deps.primary.term;
  }

  static async enter(deps: WorkerDeps, facts: WorkerFacts & Pick<NewWorker, 'units'>): Promise<Worker> {
    const worker = new Worker(deps, facts.host);
    worker.timeLine = await enterWorker(deps.db, { ...facts, holder: worker.holder });
    return worker;
  }

  /** True while no other worker can have declared this worker over. */
  isTrusted(): boolean {
    return !this.#isOver && this.#term === this.#deps.primary.term && this.#isSteady();
  }

  /** True while no other worker can have declared this worker over on the server of the last renewal. */
  #isSteady(): boolean {
    const { monotonic, utc } = momentOf(this.#deps.clock);
    return monotonic - this.#renewed.monotonic < TRUSTED_MS && utc - this.#renewed.utc < TRUSTED_MS;
  }

  /**
   * Renews the heartbeat, and declares silent workers over. Returns false if this worker was declared over. After a
   * promotion, also returns false if the lost server may have another owner's claim, which the standby may lack.
   */
  async beat(accounts: number): Promise<boolean> {
    const { db, clock, view, primary, isReplicated } = this.#deps;
    const began = momentOf(clock);
    const { term } = primary;
    let seen = await renewHeartbeat(db, this.holder, accounts, this.timeLine);
    if (seen.timeLine !== this.timeLine && (isReplicated || this.#isSteady())) {
      this.timeLine = seen.timeLine;
      seen = await renewHeartbeat(db, this.holder, accounts, this.timeLine);
    }
    this.#isOver ||= !seen.isRenewed;
    const own = seen.workers.find(({ holder }) => holder === this.holder);
    if (this.#isOver && own !== undefined) await endWorker(db, own);
    if (this.#isOver) return false;
    this.#renewed = began;
    this.#term = term;
    const now = clock.monotonic();
    view.see(seen, began.monotonic, now);
    clock.follow?.(seen.now, began.monotonic, now);
    for (const other of view.over(now)) {
      if (other.holder !== this.holder && (await endWorker(db, other))) view.remove(other.holder);
    }
    return true;
  }
}

function momentOf(clock: Clock) {
  return { monotonic: clock.monotonic(), utc: clock.now().getTime() };
}

export interface LeasesDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly view: WorkerView;
  readonly primary: Pick<Primary, 'term'>;
  /** True if no request leaves before a standby has its intent. A promoted standby then has each sender's claim. */
  readonly isReplicated: boolean;
  readonly settingsOf: (account: string) => SettingsText;
}

export interface WorkerLease extends AccountLease {
  readonly worker: Worker;
  /** Asks the lease's user to release the account. */
  end(): void;
  /** Notes that another worker may have the account from now on. */
  lose(): void;
}

export class Leases {
  readonly #deps: LeasesDeps;
  readonly #leases = new Map<string, WorkerLease>();
  #released: WorkerLease[] = [];
  #releasing: Promise<void> | undefined;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#leases.size;
  }

  of(worker: Worker): readonly WorkerLease[] {
    return [...this.#leases.values()].filter((lease) => lease.worker === worker);
  }

  get(account: string): WorkerLease | undefined {
    return this.#leases.get(account);
  }

  /** Claims groups whose generations are still as in `owners`. Returns leases of the groups that were claimed whole. */
  async claim(worker: Worker, groups: readonly AccountGroup[], owners: ReadonlyMap<string, AccountOwner>) {
    const { db, settingsOf } = this.#deps;
    const claims = groups.flat().map((account) => ({
      account,
      generation: owners.get(account)?.generation ?? 0,
      settings: JSON.stringify(settingsOf(account)),
    }));
    const claimed = await claimAccounts(db, worker.holder, claims);
    const isWhole = (group: AccountGroup) => group.every((account) => claimed.has(account));
    const whole = groups.filter(isWhole).flat();
    const leases = whole.map((account) => this.#addLease(worker, account, claimed.get(account)!, owners.get(account)));
    const owned = claims.filter(({ account }) => claimed.has(account));
    const raised = owned.map(({ account, generation }) => ({ account, generation: generation + 1 }));
    await this.releaseUnleased(worker, raised);
    return leases;
  }

  /** Releases accounts that the worker owns without a lease: an answer was lost, or a group was claimed partly. */
  async releaseUnleased(worker: Worker, owned: readonly Omit<AccountOwner, 'holder'>[]): Promise<void> {
    const unleased = owned.filter(({ account }) => this.#leases.get(account)?.worker !== worker);
    if (unleased.length > 0) await releaseAccounts(this.#deps.db, worker.holder, unleased);
  }

  lose(worker: Worker): void {
    for (const lease of this.of(worker)) this.loseOne(lease);
    this.#released = this.#released.filter((lease) => lease.worker !== worker);
  }

  loseOne(lease: WorkerLease): void {
    if (this.#leases.get(lease.account) === lease) this.#leases.delete(lease.account);
    lease.lose();
  }

  endAll(): void {
    for (const lease of this.#leases.values()) lease.end();
  }

  async flushReleases(): Promise<void> {
    if (this.#released.length === 0) return;
    this.#releasing ??= this.#writeReleased().finally(() => (this.#releasing = undefined));
    await this.#releasing;
  }

  #addLease(worker: Worker, account: string, { timeLine, otherSettings }: Claimed, last?: AccountOwner): WorkerLease {
    const { view, clock, settingsOf } = this.#deps;
    const { generation = 0, holder = null } = last ?? {};
    const isAlone = !view.workers.some((other) => other.isSharing && other.holder !== worker.holder);
    const ending = new AbortController();
    let isLost = false;
    const lease: WorkerLease = {
      account,
      worker,
      generation: generation + 1,
      claim: { name: worker.holder, timeLine },
      get timeLine() {
        return worker.timeLine;
      },
      lastOwnerUntil: holder === null ? undefined : view.trustedUntil(holder, clock.monotonic()),
      differsIn: isAlone || otherSettings === null ? [] : differences(otherSettings, settingsOf(account)),
      ending: ending.signal,
      isTrusted: () => !isLost && worker.isTrusted(),
      get failure() {
        return worker.isTrusted() ? undefined : worker.failure;
      },
      now: () => new Date(view.databaseTime(clock.monotonic())),
      end: () => ending.abort(),
      lose() {
        isLost = true;
        ending.abort();
      },
      release: async () => {
        lease.lose();
        if (this.#leases.get(account) !== lease) return;
        this.#leases.delete(account);
        this.#released.push(lease);
        await this.flushReleases();
      },
    };
    this.#leases.set(account, lease);
    return lease;
  }

  /** Releases in one turn of the event loop share a statement. The next beat retries failures and locked rows. */
  async #writeReleased(): Promise<void> {
    const { clock, db } = this.#deps;
    while (this.#released.length > 0) {
      await clock.turn();
      const released = this.#released;
      this.#released = [];
      const locked: WorkerLease[] = [];
      try {
        for (const [holder, accounts] of Map.groupBy(released, ({ worker }) => worker.holder)) {
          const left = await releaseAccounts(db, holder, accounts);
          locked.push(...accounts.filter(({ account }) => left.has(account)));
        }
      } catch (error) {
        unlessOfDatabase(error);
        this.#released = [...released, ...this.#released];
        return;
      }
      if (locked.length > 0) return void this.#released.push(...locked);
    }
  }
}
