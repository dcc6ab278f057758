import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostReleased, nextShare, sizeOf, type Unit } from '../../../../src/extensions/postgres/sharing/share.ts';

/** A worker of a test, with the accounts that it drives beside the units. */
interface TestWorker {
  readonly holder: string;
  readonly others: number;
  knows(key: string): boolean;
}

const knowsAll = (holder: string): TestWorker => ({ holder, others: 0, knows: () => true });
const single = (key: string): Unit => ({ key, size: 1 });
const singles = (count: number) => Array.from({ length: count }, (_, index) => single(`a${index}`));
const NONE: ReadonlySet<Unit> = new Set();
const HOLDERS = ['w1', 'w2', 'w3', 'w4', 'w5'];

/** Workers that know some of the units each, units of several sizes, and owners of which some are no workers. */
const situations = fc
  .record({
    count: fc.integer({ min: 1, max: 5 }),
    sizes: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 }),
    owned: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 12, maxLength: 12 }),
    others: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 5, maxLength: 5 }),
    unknown: fc.array(fc.tuple(fc.nat(4), fc.nat(11)), { maxLength: 20 }),
  })
  .map(({ count, sizes, owned, others, unknown }) => {
    const units = sizes.map((size, index) => ({ key: `u${index}`, size }));
    const hidden = new Set(unknown.map(([worker, unit]) => `${HOLDERS[worker]} u${unit}`));
    const workers = HOLDERS.slice(0, count).map((holder, index) => ({
      holder,
      others: others[index] ?? 0,
      knows: (key: string) => !hidden.has(`${holder} ${key}`),
    }));
    const owners = new Map<string, string>();
    for (const [index, { key }] of units.entries()) {
      const owner = HOLDERS[owned[index] ?? 0];
      if (owner !== undefined && !hidden.has(`${owner} ${key}`)) owners.set(key, owner);
    }
    return { workers, units, owners };
  });

function sizesOf(workers: readonly TestWorker[], units: readonly Unit[], owners: ReadonlyMap<string, string>) {
  const sizes = new Map(workers.map(({ holder, others }) => [holder, others]));
  for (const { key, size } of units) {
    const owner = owners.get(key);
    if (owner !== undefined && sizes.has(owner)) sizes.set(owner, (sizes.get(owner) ?? 0) + size);
  }
  return sizes;
}

/** Has one worker do its part; false if nothing moves. */
function act(me: TestWorker, workers: readonly TestWorker[], units: readonly Unit[], owners: Map<string, string>) {
  const sizes = sizesOf(workers, units, owners);
  const [self, ...others] = [me, ...workers.filter(({ holder }) => holder !== me.holder)].map((worker) => ({
    ...worker,
    accounts: sizes.get(worker.holder) ?? 0,
  }));
  const known = units.filter(({ key }) => me.knows(key));
  const isFree = ({ key }: Unit) => !workers.some(({ holder }) => holder === owners.get(key));
  const own = known.filter(({ key }) => owners.get(key) === me.holder);
  const next = nextShare(self!, others, { free: known.filter(isFree), own, leaving: NONE });
  for (const { key } of next.claimed) owners.set(key, me.holder);
  for (const { key } of next.released) owners.delete(key);
  return next.claimed.length + next.released.length > 0;
}

const ofLiving = (workers: readonly TestWorker[], owners: ReadonlyMap<string, string>) =>
  new Map([...owners].filter(([, owner]) => workers.some(({ holder }) => holder === owner)));

const MOST_ROUNDS = 60;

/** Has the workers do their parts, one after the other, until nothing moves. */
function fairOwners(workers: readonly TestWorker[], units: readonly Unit[], before: ReadonlyMap<string, string>) {
  const owners = ofLiving(workers, before);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if (!workers.map((worker) => act(worker, workers, units, owners)).includes(true)) return owners;
  }
  throw new Error('it comes to no end');
}

describe('the fair share', () => {
  it.each([
    [1, 10, [10]],
    [2, 10, [5, 5]],
    [3, 10, [4, 3, 3]],
    [4, 3, [1, 1, 1, 0]],
  ])('of %i workers that begin with %i accounts is even', (workers, accounts, shares) => {
    const all = HOLDERS.slice(0, workers).map(knowsAll);
    const units = singles(accounts);
    expect([...sizesOf(all, units, fairOwners(all, units, new Map())).values()]).toEqual(shares);
  });

  it('takes no more from a worker than it must when another one joins', () => {
    const units = singles(9);
    const two = [knowsAll('w1'), knowsAll('w2')];
    const before = fairOwners(two, units, new Map());
    const after = fairOwners([...two, knowsAll('w3')], units, before);
    const moved = units.filter(({ key }) => before.get(key) !== after.get(key));
    expect([moved.length, moved.every(({ key }) => after.get(key) === 'w3')]).toEqual([3, true]);
  });

  it('hands the accounts that one worker left to the ones with the fewest, and moves nothing else', () => {
    const units = singles(9);
    const before = fairOwners([knowsAll('w1'), knowsAll('w2'), knowsAll('w3')], units, new Map());
    const after = fairOwners([knowsAll('w1'), knowsAll('w3')], units, before);
    const moved = units.filter(({ key }) => before.get(key) !== after.get(key));
    expect(moved.every(({ key }) => before.get(key) === 'w2')).toBe(true);
  });

  it('keeps accounts that share a limit with one worker', () => {
    const units = [{ key: 'group', size: 3 }, single('a'), single('b')];
    const workers = [knowsAll('w1'), knowsAll('w2')];
    expect([...sizesOf(workers, units, fairOwners(workers, units, new Map())).values()]).toEqual([3, 2]);
  });

  it('hands an account only to a worker whose settings know it', () => {
    const workers = [knowsAll('w1'), { holder: 'w2', others: 0, knows: (key: string) => key === 'a0' }];
    expect(fairOwners(workers, singles(3), new Map())).toEqual(
      new Map([
        ['a1', 'w1'],
        ['a2', 'w1'],
        ['a0', 'w2'],
      ]),
    );
  });

  it('counts what a worker drives beside the accounts that others know', () => {
    const [units, workers] = [singles(4), [{ ...knowsAll('w1'), others: 2 }, knowsAll('w2')]];
    expect([...sizesOf(workers, units, fairOwners(workers, units, new Map())).values()]).toEqual([3, 3]);
  });

  it('leaves no account that a worker knows without an owner, and no worker two units over another that could take one', () => {
    fc.assert(
      fc.property(situations, ({ workers, units, owners }) => {
        const fair = fairOwners(workers, units, owners);
        for (const { key } of units) expect(fair.has(key)).toBe(workers.some((worker) => worker.knows(key)));
        const sizes = sizesOf(workers, units, fair);
        for (const { key, size } of units) {
          const held = sizes.get(fair.get(key) ?? '') ?? 0;
          for (const other of workers.filter((worker) => worker.knows(key))) {
            expect(held - (sizes.get(other.holder) ?? 0)).toBeLessThanOrEqual(size);
          }
        }
      }),
    );
  });

  it('is claimed only once: workers that see the same claim different units', () => {
    fc.assert(
      fc.property(situations, ({ workers, units }) => {
        const all = workers.map((worker) => ({ ...worker, knows: () => true }));
        const claimed = all.flatMap((me) => {
          const owners = new Map<string, string>();
          act(me, all, units, owners);
          return [...owners.keys()];
        });
        expect(claimed.toSorted()).toEqual(units.map(({ key }) => key).toSorted());
      }),
    );
  });

  it('stays as it is once it is reached, and is reached by workers that act in whatever order', () => {
    const rounds = fc.array(fc.shuffledSubarray(HOLDERS, { minLength: 5 }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(situations, rounds, ({ workers, units, owners }, order) => {
        const now = ofLiving(workers, owners);
        for (const holder of order.flat()) {
          const me = workers.find((worker) => worker.holder === holder);
          if (me !== undefined) act(me, workers, units, now);
        }
        expect(fairOwners(workers, units, now)).toEqual(now);
      }),
    );
  });

  it('is reached at once by all that have more when one joins: together they give what it lacks', () => {
    const units = singles(60);
    const five = HOLDERS.map(knowsAll);
    const owners = new Map(units.map(({ key }, index) => [key, HOLDERS[index % 5]!]));
    const all = [...five, knowsAll('w6')];
    const sizes = sizesOf(all, units, owners);
    const sharers = all.map((worker) => ({ ...worker, accounts: sizes.get(worker.holder) ?? 0 }));
    const given = sharers.slice(0, 5).flatMap((me) => {
      const own = units.filter(({ key }) => owners.get(key) === me.holder);
      const others = sharers.filter((other) => other !== me);
      return nextShare(me, others, { free: [], own, leaving: NONE }).released;
    });
    expect(given).toHaveLength(10);
  });

  it('is not given back once more while it is on its way', () => {
    const own = singles(12);
    const me = { ...knowsAll('w1'), accounts: 12 };
    const other = { ...knowsAll('w2'), accounts: 10 };
    expect(nextShare(me, [other], { free: [], own, leaving: NONE }).released).toHaveLength(1);
    expect(nextShare(me, [other], { free: [], own, leaving: new Set(own.slice(0, 1)) })).toEqual({
      claimed: [],
      released: [],
    });
  });

  it('is worked out in a moment for 10,000 accounts of which half are to move', () => {
    const units = singles(10_000);
    const one = fairOwners([knowsAll('w1')], units, new Map());
    const workers = [knowsAll('w1'), knowsAll('w2')];
    expect([...sizesOf(workers, units, fairOwners(workers, units, one)).values()]).toEqual([5_000, 5_000]);
  });
});

describe('the part of one worker', () => {
  const sharer = (holder: string, accounts: number) => ({ ...knowsAll(holder), accounts });
  const keysOf = (units: readonly Unit[]) => units.map(({ key }) => key);
  const reversed = (units: readonly Unit[]) => units.toReversed();
  const named = (count: number) => Array.from({ length: count }, (_, index) => single(String.fromCharCode(97 + index)));

  it('is at most a sixth of its units at the same time, in the order of their names, also of those on their way', () => {
    const own = named(24);
    const next = (leaving: number) =>
      nextShare(sharer('w1', 24), [sharer('w2', 0)], {
        free: [],
        own: reversed(own),
        leaving: new Set(own.slice(0, leaving)),
      });
    expect(keysOf(next(0).released)).toEqual(['a', 'b', 'c', 'd']);
    expect(keysOf(next(1).released)).toEqual(['b', 'c', 'd']);
    expect([next(4).released, next(6).released]).toEqual([[], []]);
  });

  it('is its part of the difference, if several have more than the one that they give to', () => {
    const others = HOLDERS.slice(1).map((holder) => sharer(holder, 60));
    const own = singles(60);
    const given = (accounts: number) =>
      nextShare(sharer('w1', 60), [...others, sharer('w6', accounts)], { free: [], own, leaving: NONE }).released;
    expect([given(42).length, given(54).length, given(59).length]).toEqual([3, 1, 0]);
  });

  it('ends when a further unit would not bring the two closer', () => {
    const own = Array.from({ length: 30 }, (_, index) => ({ key: `u${index}`, size: 2 }));
    const next = nextShare(sharer('w1', 60), [sharer('w2', 54)], { free: [], own, leaving: NONE });
    expect(next.released).toHaveLength(1);
  });

  it('counts units on their way for the worker that is going to claim them', () => {
    const own = singles(24);
    const leaving = new Set(own.slice(0, 2));
    expect(nextShare(sharer('w1', 24), [sharer('w2', 20)], { free: [], own, leaving }).released).toEqual([]);
    const free = [single('z')];
    expect(nextShare(sharer('w1', 24), [sharer('w2', 30)], { free, own, leaving }).claimed).toEqual(free);
    expect(sizeOf([...leaving, { key: 'group', size: 3 }])).toBe(5);
  });

  it('begins with the largest units, and goes by the names of workers with equally many accounts', () => {
    const free = [...reversed(named(4)), { key: 'large', size: 3 }, { key: 'larger', size: 4 }];
    const all = [sharer('w1', 0), sharer('w2', 0)];
    const claimed = all.map((me) =>
      keysOf(
        nextShare(
          me,
          all.filter((other) => other !== me),
          { free, own: [], leaving: NONE },
        ).claimed,
      ),
    );
    expect(claimed).toEqual([
      ['larger', 'b', 'd'],
      ['large', 'a', 'c'],
    ]);
    const own = [...named(6), { key: 'large', size: 3 }];
    const { released } = nextShare(sharer('w1', 9), [sharer('w2', 0)], { free: [], own, leaving: NONE });
    expect(keysOf(released)).toEqual(['large', 'a']);
  });
});

describe('what is given back at the same time', () => {
  it.each([
    [0, 0],
    [1, 1],
    [6, 1],
    [30, 5],
    [10_000, 1_667],
  ])('of %i units are %i', (held, most) => {
    expect(mostReleased(held)).toBe(most);
  });
});
