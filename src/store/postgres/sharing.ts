import type { Clock } from '../../clock.ts';
import type { WorkerView } from '../../domain/accounts/heartbeats.ts';
import { fairOwners, mostGivenBack, type Sharer, type Unit } from '../../domain/accounts/share.ts';
import { readOwners, releaseAccounts, type AccountOwner } from '../account-owners.ts';
import type { AccountGroup, Database, AccountLease } from '../port.ts';
import { otherUnits, type SeenWorker } from '../workers.ts';
import type { WorkerLease, Leases } from './leases.ts';
import type { Worker } from './worker.ts';

interface SharedUnit extends Unit {
  readonly accounts: AccountGroup;
}

/** What nothing here has changed is read again after this time: a database that was put back has other owners. */
const SETTLED_MS = 60_000;

interface SharingDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly view: WorkerView<SeenWorker>;
  readonly leases: Leases;
  readonly onTaken: (lease: AccountLease) => void;
}

/** The part of this process in the fair share of groups of accounts. */
export class Sharing {
  /** The groups as others read them. */
  readonly text: string;
  readonly #deps: SharingDeps;
  readonly #units: ReadonlyMap<string, SharedUnit>;
  readonly #accounts: readonly string[];
  /** The units of workers that share others than this one. */
  readonly #others = new Map<string, ReadonlySet<string> | undefined>();
  /** The workers, and how many accounts each has, while nothing is to move, and until when that is believed. */
  #settled: { readonly seen: string; readonly until: number } | undefined;

  constructor(groups: readonly AccountGroup[], deps: SharingDeps) {
    const units = groups.map((accounts) => ({ key: accounts.toSorted().join('\n'), size: accounts.length, accounts }));
    this.#deps = deps;
    this.#units = new Map(units.map((unit) => [unit.key, unit]));
    this.#accounts = [...new Set(groups.flat())];
    this.text = JSON.stringify([...this.#units.keys()].toSorted());
  }

  /** Claims what this worker is to have, and has given back what it is not. Costs nothing while nothing is to move. */
  async balance(worker: Worker, signal: AbortSignal): Promise<void> {
    const { db, clock, view, leases } = this.#deps;
    const workers = view.workers.filter(({ isSharing }) => isSharing);
    const seen = JSON.stringify([
      leases.size,
      ...view.workers
        .filter(({ holder }) => holder !== worker.holder)
        .map(({ holder, held, isSharing }) => `${holder} ${held} ${isSharing}`)
        .toSorted(),
    ]);
    if (seen === this.#settled?.seen && clock.monotonic() < this.#settled.until) return;
    await this.#readOthers(workers);
    const held = leases.of(worker);
    const owners = await readOwners(db, this.#accounts);
    if (signal.aborted) return;
    // What the database gives to another worker is lost.
    for (const one of held) if (!isOf(one, owners.get(one.account))) leases.loseOne(one);
    const { free, owned } = this.#stateOf(worker, owners, new Set(workers.map(({ holder }) => holder)));
    const fair = fairOwners(
      this.#sharersOf(worker, workers, owned),
      [...free, ...owned.keys()].map((key) => this.#units.get(key)!),
      owned,
    );
    this.#giveBack(worker, owned, fair);
    const wanted = free.filter((key) => fair.get(key) === worker.holder).map((key) => this.#units.get(key)!.accounts);
    if (wanted.length > 0) {
      for (const claimed of await leases.claim(worker, wanted, owners)) this.#deps.onTaken(claimed);
    }
    await this.#releaseUnwanted(worker, owners, wanted.flat());
    const isSettled = free.length === 0 && [...owned].every(([key, owner]) => (fair.get(key) ?? owner) === owner);
    this.#settled = isSettled ? { seen, until: clock.monotonic() + SETTLED_MS } : undefined;
  }

  /**
   * Gives back what the database says that this worker has, and it does not know: the answer to a claim was lost, or a part of a
   * group could not be given back. What it is to have it claims instead.
   */
  async #releaseUnwanted(
    worker: Worker,
    owners: ReadonlyMap<string, AccountOwner>,
    wanted: readonly string[],
  ): Promise<void> {
    const { db, leases } = this.#deps;
    const isUnknown = ({ account, holder }: AccountOwner) =>
      holder === worker.holder && leases.get(account)?.worker !== worker;
    const unwanted = [...owners.values()].filter((owner) => isUnknown(owner) && !wanted.includes(owner.account));
    if (unwanted.length > 0) await releaseAccounts(db, worker.holder, unwanted);
  }

  /**
   * Each unit as it is: free, or owned by one of the workers that share. One that a command has, or of which different workers
   * have parts, is neither. One that this worker has without knowing is free: the answer to its claim was lost.
   */
  #stateOf(worker: Worker, owners: ReadonlyMap<string, AccountOwner>, sharing: ReadonlySet<string>) {
    const { view, leases } = this.#deps;
    const alive = new Set(view.workers.map(({ holder }) => holder));
    const ownerOf = (account: string) => {
      const { holder } = owners.get(account) ?? {};
      if (holder === worker.holder) return leases.get(account)?.worker === worker ? holder : '';
      return holder !== undefined && holder !== null && alive.has(holder) ? holder : '';
    };
    const free: string[] = [];
    const owned = new Map<string, string>();
    for (const { key, accounts } of this.#units.values()) {
      const holders = new Set(accounts.map(ownerOf));
      const [holder = ''] = holders;
      if (holders.size === 1 && holder === '') free.push(key);
      else if (holders.size === 1 && sharing.has(holder)) owned.set(key, holder);
    }
    return { free, owned };
  }

  #giveBack(worker: Worker, owned: ReadonlyMap<string, string>, fair: ReadonlyMap<string, string>): void {
    const { leases } = this.#deps;
    const mine = [...owned].filter(([, owner]) => owner === worker.holder).map(([key]) => this.#units.get(key)!);
    const heldOf = ({ accounts }: SharedUnit) => accounts.flatMap((account) => leases.get(account) ?? []);
    const isEnding = (unit: SharedUnit) => heldOf(unit).some(({ ending }) => ending.aborted);
    const room = mostGivenBack(mine.length) - mine.filter(isEnding).length;
    const surplus = mine.filter((unit) => fair.get(unit.key) !== worker.holder && !isEnding(unit));
    for (const held of surplus.slice(0, Math.max(0, room)).flatMap(heldOf)) held.end();
  }

  async #readOthers(workers: readonly SeenWorker[]): Promise<void> {
    const unread = workers.map(({ holder }) => holder).filter((holder) => !this.#others.has(holder));
    const different = await otherUnits(this.#deps.db, unread, this.text);
    for (const holder of unread) {
      const units = different.get(holder);
      this.#others.set(holder, units === undefined ? undefined : new Set(JSON.parse(units) as readonly string[]));
    }
    for (const holder of this.#others.keys()) {
      if (!workers.some((other) => other.holder === holder)) this.#others.delete(holder);
    }
  }

  #sharersOf(worker: Worker, workers: readonly SeenWorker[], owned: ReadonlyMap<string, string>): readonly Sharer[] {
    return workers.map(({ holder, held }) => {
      const units = holder === worker.holder ? undefined : this.#others.get(holder);
      if (units === undefined) return { holder, others: 0, knows: () => true };
      const known = [...owned].filter(([, owner]) => owner === holder).map(([key]) => this.#units.get(key)!.size);
      const others = Math.max(0, held - known.reduce((sum, size) => sum + size, 0));
      return { holder, others, knows: (key) => units.has(key) };
    });
  }
}

function isOf({ worker, generation }: WorkerLease, owner: AccountOwner | undefined): boolean {
  return owner?.holder === worker.holder && owner.generation === generation;
}
