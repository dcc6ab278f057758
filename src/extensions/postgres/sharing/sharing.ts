import type { Clock } from '../../../base/clock.ts';
import type { WorkerView } from './heartbeats.ts';
import { nextShare, sizeOf, type Sharer, type Unit } from './share.ts';
import { readAllOwners, type AccountOwner, otherUnits } from './workers.ts';
import type { AccountGroup, Database, AccountLease } from '../../../store/port.ts';
import type { Leases, Worker } from './leases.ts';

type SharedUnit = Unit & { readonly accounts: AccountGroup };

/** How often owners are read while no worker changes: a database that was put back may have other owners. */
const SETTLED_MS = 60_000;

interface SharingDeps {
  readonly db: Database;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly view: WorkerView;
  readonly leases: Leases;
  readonly onTaken: (lease: AccountLease) => void;
}

export class Sharing {
  readonly text: string;
  readonly #deps: SharingDeps;
  readonly #units: readonly SharedUnit[];
  /** Set while no account needs to move. `seen` has the workers' numbers of accounts; `until` is monotonic, in ms. */
  #settled: { readonly seen: string; readonly until: number } | undefined;

  constructor(groups: readonly AccountGroup[], deps: SharingDeps) {
    this.#deps = deps;
    this.#units = groups.map((accounts) => ({ key: accounts.toSorted().join('\n'), size: accounts.length, accounts }));
    this.text = JSON.stringify(this.#units.map(({ key }) => key).toSorted());
  }

  async balance(worker: Worker, signal: AbortSignal): Promise<void> {
    const { db, clock, view, leases } = this.#deps;
    const others = view.workers.filter(({ holder }) => holder !== worker.holder);
    const seen = JSON.stringify([
      leases.size,
      ...others.map(({ holder, accounts, isSharing }) => `${holder} ${accounts} ${isSharing}`).toSorted(),
    ]);
    if (seen === this.#settled?.seen && clock.monotonic() < this.#settled.until) return;
    const sharing = others.filter(({ isSharing }) => isSharing);
    const holders = sharing.map(({ holder }) => holder);
    const different = await otherUnits(db, holders, this.text);
    const known = leases.of(worker);
    const owners = await readAllOwners(db);
    if (signal.aborted) return;
    for (const lease of known) {
      const { holder, generation } = owners.get(lease.account) ?? {};
      if (holder !== worker.holder || generation !== lease.generation) leases.loseOne(lease);
    }
    const byOwner = Map.groupBy(this.#units, (unit) => this.#ownerOf(unit, worker, owners));
    const [free = [], own = []] = [byOwner.get(''), byOwner.get(worker.holder)];
    const leaving = new Set(own.filter((unit) => this.#leasesOf(unit).some(({ ending }) => ending.aborted)));
    const sharers = sharing.map(({ holder, accounts: lastKnown }): Sharer => {
      const units = different.get(holder);
      // `lastKnown` is as old as the worker's last heartbeat, so it may lack the newest claims.
      const accounts = Math.max(lastKnown, sizeOf(byOwner.get(holder) ?? []));
      return { holder, accounts, knows: (key) => units?.has(key) ?? true };
    });
    const me = { holder: worker.holder, accounts: leases.size, knows: () => true };
    const { claimed, released } = nextShare(me, sharers, { free, own, leaving });
    for (const lease of released.flatMap((unit) => this.#leasesOf(unit))) lease.end();
    const wanted = claimed.map(({ accounts }) => accounts);
    if (wanted.length > 0) for (const lease of await leases.claim(worker, wanted, owners)) this.#deps.onTaken(lease);
    const claims = new Set(wanted.flat());
    const owned = owners.values().filter(({ account, holder }) => holder === worker.holder && !claims.has(account));
    await leases.releaseUnleased(worker, [...owned]);
    const isSettled = free.length === 0 && leaving.size === 0 && released.length === 0;
    this.#settled = isSettled ? { seen, until: clock.monotonic() + SETTLED_MS } : undefined;
  }

  /** Returns the owner of a unit; empty if it is free or this worker lacks its lease, undefined for several owners. */
  #ownerOf({ accounts }: SharedUnit, worker: Worker, owners: ReadonlyMap<string, AccountOwner>): string | undefined {
    const { view, leases } = this.#deps;
    const holders = accounts.map((account) => {
      const holder = owners.get(account)?.holder ?? '';
      if (holder === worker.holder) return leases.get(account)?.worker === worker ? holder : '';
      return view.workers.some((other) => other.holder === holder) ? holder : '';
    });
    return holders.every((holder) => holder === holders[0]) ? holders[0] : undefined;
  }

  #leasesOf({ accounts }: SharedUnit) {
    return accounts.flatMap((account) => this.#deps.leases.get(account) ?? []);
  }
}
