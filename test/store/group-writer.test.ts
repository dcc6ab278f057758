import fc from 'fast-check';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { describe, expect, it } from 'vitest';
import { RowLockedError, StoreError } from '../../src/store/errors.ts';
import { GroupWriter, type FollowingMark, type Transactions } from '../../src/store/group-writer.ts';
import { intend } from '../../src/store/orders/intents.ts';
import type { OrderRow } from '../../src/store/orders/order-columns.ts';
import { NewEvents, type Transaction, type Work } from '../../src/store/port.ts';
import type { Tables } from '../../src/store/schema.ts';
import { testClock } from '../support/test-clock.ts';
import { trackingWith } from '../support/tracking.ts';

const BUSY = new StoreError('busy', 'locked');
const NEVER = new AbortController().signal;

/** A database that takes every statement and keeps none. */
function newTransaction(): Transaction {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

interface Faked {
  /** The errors of the commits, one after the other; later ones succeed. */
  readonly failures?: unknown[];
  readonly mark?: FollowingMark;
  readonly newEvents?: NewEvents;
  readonly more?: Pick<Transactions, 'runDeferred' | 'isReplicated'>;
  /** The next turn of the event loop, if it is not the real one. */
  readonly turn?: () => Promise<void>;
}

/**
 * A writer to a database that fails as it is told to. Returns the works that were begun in each transaction, and the
 * committed ones.
 */
function writerOf({ failures = [], mark, newEvents, more, turn }: Faked = {}) {
  const clock = { ...testClock(), ...(turn && { turn }) };
  const begun: string[][] = [];
  const durable: string[][] = [];
  const heard: { signal?: AbortSignal; onFailure?: (failure: StoreError) => void } = {};
  const place = { isIn: true };
  const transactions: Transactions = {
    ...more,
    isInPlace: () => place.isIn,
    async run<Result>(work: Work<Result>, signal: AbortSignal, onFailure: (failure: StoreError) => void) {
      Object.assign(heard, { signal, onFailure });
      begun.push([]);
      const result = await work(newTransaction());
      if (failures.length > 0) {
        const failure = failures.shift();
        if (failure !== null) throw failure;
      }
      durable.push(begun.at(-1) ?? []);
      return result;
    },
  };
  const writer = new GroupWriter(transactions, clock, mark, newEvents);
  /** Work that is known by its name, and fails if it is told to. */
  const named = (name: string, error?: Error) => async () => {
    begun.at(-1)?.push(name);
    await Promise.resolve();
    if (error !== undefined) throw error;
    return name;
  };
  const write = (name: string, error?: Error) => writer.write(named(name, error));
  return { clock, writer, begun, durable, heard, place, named, write };
}

describe('works that are asked for together', () => {
  it('share a transaction, and have their results in their order', async () => {
    const { write, durable } = writerOf();
    expect(await Promise.all(['a', 'b', 'c'].map((name) => write(name)))).toEqual(['a', 'b', 'c']);
    expect(durable).toEqual([['a', 'b', 'c']]);
  });

  it('are 200 at most', async () => {
    const { write, durable } = writerOf();
    await Promise.all(Array.from({ length: 450 }, (_, index) => write(`${index}`)));
    expect(durable.map((group) => group.length)).toEqual([200, 200, 50]);
  });

  it('are also the works that the next turns of the event loop bring, five turns at most', async () => {
    let turns = 0;
    const more: Promise<string>[] = [];
    const { write, durable } = writerOf({
      turn: async () => {
        turns += 1;
        if (turns < 8) more.push(write(`${turns}`));
      },
    });
    await write('0');
    await Promise.all(more);
    expect(durable[0]).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('wait for no more as soon as a turn brings none', async () => {
    const { clock, write, durable } = writerOf();
    const first = write('a');
    await clock.turn();
    await clock.turn();
    await clock.turn();
    const second = write('b');
    await Promise.all([first, second]);
    expect(durable).toEqual([['a'], ['b']]);
  });
});

describe('a group of which one work fails', () => {
  it.each([
    ['three times', 3, 'rejected'],
    ['twice', 2, 'fulfilled'],
  ])('by a code of which nothing is known is run one by one, and that one again: %s', async (_name, times, status) => {
    const { writer, durable } = writerOf();
    let left = times + 2;
    const results = await Promise.allSettled([
      writer.write(async () => {
        if (left-- > 1) throw Object.assign(new Error('locked in an odd way'), { code: 'SQLITE_LOCKED' });
      }),
      writer.write(async () => 'b'),
    ]);
    expect(results.map((result) => result.status)).toEqual([status, 'fulfilled']);
    expect(durable).toHaveLength(status === 'rejected' ? 1 : 2);
  });

  it('is run one by one, so that it fails alone', async () => {
    const { write, durable } = writerOf();
    const bug = new Error('a bug');
    const results = await Promise.allSettled([write('a'), write('b', bug), write('c')]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: bug },
      { status: 'fulfilled', value: 'c' },
    ]);
    expect(durable).toEqual([['a'], ['c']]);
  });

  it('is tried once if it is that work alone', async () => {
    const { writer, write, begun } = writerOf();
    await expect(write('a', new Error('a bug'))).rejects.toThrow('a bug');
    expect(begun).toEqual([['a']]);
    expect(writer.failure).toBeUndefined();
  });

  it('is run one by one also if the row of one is locked, which holds up no other', async () => {
    const { writer, write, durable } = writerOf();
    const results = await Promise.allSettled([write('a'), write('b', new RowLockedError()), write('c')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(durable).toEqual([['a'], ['c']]);
    expect(writer.failure).toBeUndefined();
  });

  it('fails together if the database takes nothing, and is tried once', async () => {
    const { writer, write, begun } = writerOf({ failures: [BUSY] });
    const results = await Promise.allSettled([write('a'), write('b')]);
    expect(results).toEqual(['a', 'b'].map(() => ({ status: 'rejected', reason: BUSY })));
    expect(begun).toEqual([['a', 'b']]);
    expect(writer.failure).toBe(BUSY);
  });

  it('is tried no further once the database takes nothing', async () => {
    const { write, begun, durable } = writerOf({ failures: [new Error('a bug'), null, BUSY] });
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => write(name)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect(begun).toEqual([['a', 'b', 'c', 'd'], ['a'], ['b']]);
    expect(durable).toEqual([['a']]);
  });

  it('is rejected also by a database that tells no reason', async () => {
    const { write } = writerOf({ failures: [undefined] });
    await expect(write('a')).rejects.toThrow(/./);
  });
});

describe('the failure that a writer shows', () => {
  it('is what the database is waited for, until it takes a commit', async () => {
    const { writer, write, heard } = writerOf();
    expect(writer.failure).toBeUndefined();
    await write('a');
    heard.onFailure?.(BUSY);
    expect(writer.failure).toBe(BUSY);
    await write('b');
    expect(writer.failure).toBeUndefined();
  });

  it('lasts while only works fail, which the database was not asked to take', async () => {
    const { writer, write } = writerOf({ failures: [BUSY] });
    await Promise.allSettled([write('a')]);
    await Promise.allSettled([write('b', new Error('a bug'))]);
    expect(writer.failure).toBe(BUSY);
  });
});

it('tells the database to wait for nothing any more when the grace period ends', async () => {
  const { writer, write, heard } = writerOf();
  await write('a');
  expect(heard.signal?.aborted).toBe(false);
  writer.endGracePeriod();
  expect(heard.signal?.aborted).toBe(true);
});

describe('what must become durable', () => {
  it('is written again each second while the database takes nothing, and each time it is said why', async () => {
    const { clock, writer, named, durable } = writerOf({ failures: [BUSY, new StoreError('disk', 'full')] });
    const problems: string[] = [];
    const result = writer.writeUntilDurable(named('a'), NEVER, ({ problem }) => problems.push(problem));
    const settle = async () => {
      for (let turn = 0; turn < 5; turn += 1) await clock.turn();
    };
    await settle();
    clock.advance(999);
    await settle();
    expect(problems).toEqual(['busy']);
    clock.advance(1);
    await settle();
    expect(problems).toEqual(['busy', 'disk']);
    clock.advance(1_000);
    expect(await result).toBe('a');
    expect(durable).toEqual([['a']]);
  });

  it.each<[string, StoreError, (faked: ReturnType<typeof writerOf>, stop: AbortController) => void]>([
    ['no time is left', BUSY, (_faked, stop) => stop.abort()],
    ['the file is not in its place', BUSY, ({ place }) => (place.isIn = false)],
    ['the database refuses it', new StoreError('refused', 'changed since'), () => {}],
  ])('is given up if %s', async (_why, failure, happen) => {
    const faked = writerOf({ failures: [failure] });
    const stop = new AbortController();
    happen(faked, stop);
    const heard: StoreError[] = [];
    const result = faked.writer.writeUntilDurable(faked.named('a'), stop.signal, (error) => heard.push(error));
    await expect(result).rejects.toBe(failure);
    expect(heard).toEqual([]);
  });

  it('is tried once more at once when the time ends during the wait', async () => {
    const { clock, writer, named, begun } = writerOf({ failures: [BUSY, BUSY] });
    const stop = new AbortController();
    const result = Promise.allSettled([writer.writeUntilDurable(named('a'), stop.signal, () => {})]);
    for (let turn = 0; turn < 5; turn += 1) await clock.turn();
    stop.abort();
    expect(await result).toEqual([{ status: 'rejected', reason: BUSY }]);
    expect(begun).toEqual([['a'], ['a']]);
  });
});

describe('the mark of a writer', () => {
  const older = new StoreError('unusable', 'older than its mark');

  it('is asked in each transaction before anything is done, and is told after the commit', async () => {
    const said: string[] = [];
    const mark = { assertNotOlder: async () => void said.push('asked'), committed: () => void said.push('told') };
    const { writer } = writerOf({ mark });
    for (const name of ['a', 'b']) await writer.write(async () => void said.push(name));
    expect(said).toEqual(['asked', 'a', 'told', 'asked', 'b', 'told']);
  });

  it('has nothing written to an older copy', async () => {
    const said: string[] = [];
    const mark = { assertNotOlder: () => Promise.reject(older), committed: () => void said.push('told') };
    const { write, begun } = writerOf({ mark });
    await expect(write('a')).rejects.toBe(older);
    expect([begun.flat(), said]).toEqual([[], []]);
  });

  it('is not told of what was not committed', async () => {
    const said: string[] = [];
    const mark = { assertNotOlder: async () => {}, committed: () => void said.push('told') };
    const { write } = writerOf({ mark, failures: [BUSY] });
    await expect(write('a')).rejects.toBe(BUSY);
    expect(said).toEqual([]);
  });
});

describe('the intents of a transaction', () => {
  const intendNothing = async (tx: Transaction) => intend(tx, {} as OrderRow, trackingWith());

  it('are read again once all is done, and nothing is committed if one is not there', async () => {
    const { writer, durable } = writerOf();
    await expect(writer.write(intendNothing)).rejects.toMatchObject({ problem: 'refused' });
    expect(durable).toEqual([]);
  });

  it('are read again after the deferred triggers, which run for them alone', async () => {
    const said: string[] = [];
    const { writer } = writerOf({ more: { runDeferred: async () => void said.push('triggers') } });
    await writer.write(async () => void said.push('nothing'));
    const result = writer.write(async (tx) => {
      said.push('intent');
      await intendNothing(tx);
    });
    await expect(result).rejects.toMatchObject({ problem: 'refused' });
    expect(said).toEqual(['nothing', 'intent', 'triggers']);
  });
});

it('says whether what was committed is on enough machines, which it is if none are required', async () => {
  expect(writerOf().writer.isReplicated(NEVER)).toBe(true);
  const asked: AbortSignal[] = [];
  const isReplicated = async (signal: AbortSignal) => asked.push(signal) > 1;
  const { writer } = writerOf({ more: { isReplicated } });
  expect([await writer.isReplicated(NEVER), await writer.isReplicated(NEVER)]).toEqual([false, true]);
  expect(asked).toEqual([NEVER, NEVER]);
});

describe('new events', () => {
  const adds = (account: string) => async (tx: Transaction) =>
    void tx.heads?.set(account, Promise.resolve({ id: 1, hash: '', counts: { orders: {}, findings: {} } }));

  it('are said to be there after the commit, of each account once', async () => {
    const newEvents = new NewEvents();
    const told: string[] = [];
    newEvents.listen((account) => told.push(account));
    const { writer } = writerOf({ newEvents });
    const both = Promise.all(['a', 'b', 'a'].map((account) => writer.write(adds(account))));
    expect(told).toEqual([]);
    await both;
    expect(told).toEqual(['a', 'b']);
  });

  it('are committed once also if no caller hears of them', async () => {
    const { writer, durable } = writerOf();
    let tries = 0;
    const add = async (tx: Transaction) => {
      tries += 1;
      await adds('a')(tx);
    };
    await Promise.all([writer.write(add), writer.write(add)]);
    await writer.write(async () => {});
    expect([tries, durable.length]).toEqual([2, 2]);
  });

  it('are not said to be there if they were not committed', async () => {
    const newEvents = new NewEvents();
    const told: string[] = [];
    newEvents.listen((account) => told.push(account));
    const { writer } = writerOf({ newEvents, failures: [new Error('a bug')] });
    let tries = 0;
    const once = writer.write(async (tx) => {
      tries += 1;
      if (tries === 1) await adds('lost')(tx);
    });
    await Promise.all([once, writer.write(adds('kept'))]);
    expect(told).toEqual(['kept']);
  });
});

describe('works of one group', () => {
  /** Runs works that are about these; returns the names of the works that each found under way when it began. */
  async function beside(abouts: readonly (readonly string[] | undefined)[]) {
    const { clock, writer } = writerOf();
    const running = new Set<number>();
    const order: number[] = [];
    const found = abouts.map((): number[] => []);
    const results = await Promise.all(
      abouts.map((about, index) =>
        writer.write(async () => {
          order.push(index);
          found[index]?.push(...running);
          running.add(index);
          await clock.turn();
          running.delete(index);
          return index;
        }, about),
      ),
    );
    return { found, order, results };
  }

  it('run beside each other if each is about something else', async () => {
    const { found } = await beside([['a', 'p'], ['b'], ['c']]);
    expect(found).toEqual([[], [0], [0, 1]]);
  });

  it('follow each other if they are about the same, or do not say about what', async () => {
    const about = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(about, { minLength: 1, maxLength: 12 }), async (abouts) => {
        const { found, order, results } = await beside(abouts);
        const all = abouts.map((_, index) => index);
        expect(results).toEqual(all);
        expect(order).toEqual(all);
        for (const [index, others] of found.entries()) {
          const own = abouts[index];
          if (own === undefined) expect(others).toEqual([]);
          for (const other of others) {
            expect(abouts[other]).toBeDefined();
            expect(own?.filter((id) => abouts[other]?.includes(id))).toEqual([]);
          }
        }
      }),
    );
  });

  it('fail alone as elsewhere', async () => {
    const { write, durable } = writerOf();
    const results = await Promise.allSettled([write('a'), write('b', new Error('a bug'))]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(durable).toEqual([['a']]);
  });
});
