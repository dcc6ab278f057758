/** Accounts that one worker must own together, because they share a rate limit; usually one account. */
export interface Unit {
  /** Workers whose settings group an account differently have different keys for the account's unit. */
  readonly key: string;
  readonly size: number;
}

export interface Sharer {
  readonly holder: string;
  /** The number of the worker's accounts, including accounts of units that `me` does not know. */
  readonly accounts: number;
  knows(key: string): boolean;
}

/** The units in the settings of `me`: `free` have no owner, `me` owns `own`, and `me` is releasing `leaving`. */
interface KnownUnits<U extends Unit> {
  readonly free: readonly U[];
  readonly own: readonly U[];
  readonly leaving: ReadonlySet<U>;
}

interface Load {
  readonly sharer: Sharer;
  accounts: number;
  /** How many accounts `me` may still release for this worker. */
  room: number;
}

/** The worker with the fewest accounts claims a free unit. `me` releases a unit if that makes the shares more equal. */
export function nextShare<U extends Unit>(
  me: Sharer,
  others: readonly Sharer[],
  { free, own, leaving }: KnownUnits<U>,
): { readonly claimed: readonly U[]; readonly released: readonly U[] } {
  const mine: Load = { sharer: me, accounts: me.accounts - sizeOf([...leaving]), room: 0 };
  const theirs = others.map((sharer): Load => ({ sharer, accounts: sharer.accounts, room: 0 }));
  const all = [mine, ...theirs].toSorted((one, other) => compare(one.sharer.holder, other.sharer.holder));
  const claimed = [...free, ...leaving].toSorted(byPlace).filter((unit) => {
    const taker = fewest(all, unit) ?? mine;
    taker.accounts += unit.size;
    return taker === mine && !leaving.has(unit);
  });
  // All workers with more accounts release at the same time, so each releases only this part of the difference.
  for (const load of theirs) load.room = Math.ceil((mine.accounts - load.accounts) / all.length);
  const most = mostReleased(own.length) - leaving.size;
  const released: U[] = [];
  for (const unit of own.toSorted(byPlace)) {
    if (released.length >= most) break;
    if (leaving.has(unit)) continue;
    const takers = theirs.filter(({ room }) => room > 0);
    const taker = fewest(takers, unit);
    if (taker === undefined || unit.size >= mine.accounts - taker.accounts) continue;
    mine.accounts -= unit.size;
    taker.accounts += unit.size;
    taker.room -= unit.size;
    released.push(unit);
  }
  return { claimed, released };
}

/** The most units that a worker releases at a time, because a move interrupts the work on a unit. */
export function mostReleased(own: number): number {
  return Math.ceil(own / 6);
}

export function sizeOf(units: readonly Unit[]): number {
  return units.reduce((sum, { size }) => sum + size, 0);
}

function fewest(loads: readonly Load[], { key }: Unit): Load | undefined {
  return loads
    .filter(({ sharer }) => sharer.knows(key))
    .reduce<Load | undefined>((least, load) => (least && least.accounts <= load.accounts ? least : load), undefined);
}

/** Sorts the largest units first, then by key, so that all workers decide in the same order. */
function byPlace(one: Unit, other: Unit): number {
  return other.size - one.size || compare(one.key, other.key);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}
