/** Accounts that move together, because they share a rate limit: one account, as a rule. */
export interface Unit {
  /** Names the unit; workers whose settings form other units of the same accounts know another one. */
  readonly key: string;
  /** Accounts in it. */
  readonly size: number;
}

/** A living worker that shares accounts with others. */
export interface Sharer {
  readonly holder: string;
  /** Accounts that it drives beside the units. */
  readonly others: number;
  /** True of the units that its settings know. */
  knows(key: string): boolean;
}

/**
 * Decides which worker is to drive each unit. A unit stays where it is unless moving it evens out the numbers of accounts;
 * one without an owner among the workers goes to the worker with the fewest. Every worker that sees the same comes to the same,
 * and what it comes to is left as it is. Units that no worker knows are left out.
 */
export function fairOwners(
  workers: readonly Sharer[],
  units: readonly Unit[],
  owners: ReadonlyMap<string, string>,
): Map<string, string> {
  const loads = workers
    .map((worker) => ({ worker, size: worker.others, units: new Map<string, Unit>() }))
    .toSorted(byHolder);
  const free: Unit[] = [];
  for (const unit of units.toSorted((one, other) => other.size - one.size || compare(one.key, other.key))) {
    const owner = loads.find(({ worker }) => worker.holder === owners.get(unit.key));
    if (owner === undefined) free.push(unit);
    else add(owner, unit);
  }
  for (const unit of free) {
    const load = fewest(loads.filter(({ worker }) => worker.knows(unit.key)));
    if (load !== undefined) add(load, unit);
  }
  while (evenOut(loads)) continue;
  return new Map(loads.flatMap((load) => [...load.units.keys()].map((key) => [key, load.worker.holder] as const)));
}

/** Most units that a worker gives back at the same time: the others go on meanwhile. */
export function mostGivenBack(held: number): number {
  return Math.ceil(held / 6);
}

interface Load {
  readonly worker: Sharer;
  /** Accounts of all its units. */
  size: number;
  readonly units: Map<string, Unit>;
}

function add(load: Load, unit: Unit): void {
  load.units.set(unit.key, unit);
  load.size += unit.size;
}

/** Moves one unit from a worker with many accounts to one with few, where that brings the two closer; false where none does. */
function evenOut(loads: readonly Load[]): boolean {
  const byLoad = loads.toSorted((one, other) => one.size - other.size);
  for (const from of byLoad.toReversed()) {
    for (const to of byLoad) {
      const unit = movable(from, to);
      if (unit === undefined) continue;
      from.units.delete(unit.key);
      from.size -= unit.size;
      add(to, unit);
      return true;
    }
  }
  return false;
}

/** The first unit that brings both workers closer together: sums of squares shrink, so that this comes to an end. */
function movable(from: Load, to: Load): Unit | undefined {
  const difference = from.size - to.size;
  if (difference < 2) return undefined;
  for (const unit of from.units.values()) if (unit.size < difference && to.worker.knows(unit.key)) return unit;
  return undefined;
}

function fewest(loads: readonly Load[]): Load | undefined {
  return loads.reduce<Load | undefined>(
    (least, load) => (least === undefined || load.size < least.size ? load : least),
    undefined,
  );
}

function byHolder({ worker: one }: Load, { worker: other }: Load): number {
  return compare(one.holder, other.holder);
}

/** Of two different names. */
function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}
