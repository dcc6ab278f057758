import { once } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { nextGeneration } from '../../src/store/tables/accounts.ts';
import { StoreError } from '../../src/store/errors.ts';
import { appendToChain } from '../../src/store/tables/chain.ts';
import {
  isBefore,
  MarkFollower,
  readMark,
  readPosition,
  readPositionOf,
  readPositions,
  readSignOfRestore,
} from '../../src/store/mark.ts';
import type { MarkContent, Store } from '../../src/store/port.ts';
import { newTestDatabase, ofSqlite, type TestDatabase } from '../support/database.ts';
import type { Merchant } from '../support/merchant.ts';

const AT = '2026-01-05T12:00:00.000Z';
const ofFile = ofSqlite('A PostgreSQL server has a mark for each account.');

let database: TestDatabase;
let store: Store;
let other: Merchant;
beforeEach(async () => {
  database = await newTestDatabase();
  store = await database.open();
  other = database.connect();
});

/** Commits one event of each of the accounts, one after the other. */
async function commit(...accounts: string[]): Promise<void> {
  const nothing = {
    type: 'order',
    subject: 's',
    field: 'state',
    old_value: null,
    new_value: null,
    observed_at: AT,
  } as const;
  const unsaid = { looked_up_before: null, exchange_time: null, source: 'create', reason: null, actor: null } as const;
  for (const account of accounts)
    await store
      .forAccount(account)
      .writer.write((tx) => appendToChain(tx, account, [{ ...nothing, ...unsaid, account }]));
}

/** Has the account be owned by this many, one after the other. */
async function own(account: string, times: number): Promise<void> {
  for (let owner = 0; owner < times; owner += 1)
    await store.forAccount(account).writer.write((tx) => nextGeneration(tx, account));
}

const hashOf = (id: number) => other.prepare('select hash from events where id = ?').pluck().get(id);

describe('how far a database has come', ofFile, () => {
  it('is nowhere while it is new', async () => {
    expect(await readPosition(store.db)).toEqual({ generation: 0, eventId: 0, hash: undefined });
  });

  it('is its newest event, and the owners of all accounts', async () => {
    await own('a', 2);
    await own('b', 3);
    await commit('a', 'b', 'a');
    expect(await readPosition(store.db)).toEqual({ generation: 5, eventId: 3, hash: hashOf(3) });
  });
});

describe('how far an account has come', () => {
  it('is nowhere while it never had an owner', async () => {
    await own('a', 1);
    expect(await readPositionOf(store.db, 'b')).toEqual({ generation: 0, eventId: 0 });
    expect(await readPositions(store.db, ['b'])).toEqual(new Map());
  });

  it('is its owner before its first event', async () => {
    await own('a', 2);
    expect(await readPositionOf(store.db, 'a')).toEqual({ generation: 2, eventId: 0, timeLine: null });
  });

  it('is its own newest event and its own owners, whatever others have', async () => {
    await own('a', 2);
    await own('b', 3);
    await own('c', 1);
    await commit('a', 'a', 'b');
    const newest = other.prepare(`select id, hash from events where account = 'a' order by id desc`).get();
    const { id: eventId, hash } = newest as { id: number; hash: string };
    expect(await readPositionOf(store.db, 'a')).toEqual({ generation: 2, eventId, hash, timeLine: null });
    expect([...(await readPositions(store.db, ['b', 'a'])).keys()].toSorted()).toEqual(['a', 'b']);
  });
});

it.each([
  [{ eventId: 5, generation: 2 }, false],
  [{ eventId: 6, generation: 2 }, true],
  [{ eventId: 5, generation: 3 }, true],
  [{ eventId: 4, generation: 1 }, false],
  [{ eventId: 6, generation: 1 }, true],
])('an event or an owner that is missing makes a database older: it is at 5 and 2, not at %o', (position, isOlder) => {
  expect(isBefore({ eventId: 5, generation: 2 }, position)).toBe(isOlder);
});

describe('the text of a mark', () => {
  const mark = { generation: 1, eventId: 2, hash: 'h', at: AT };

  it('is read with all that stands there', () => {
    const restoring = { from: AT, to: null };
    expect(readMark(JSON.stringify({ ...mark, restoring }))).toEqual({ ...mark, restoring });
  });

  it.each([
    ['no JSON', '{'],
    ['no object', 'null'],
    ['no generation', JSON.stringify({ ...mark, generation: undefined })],
    ['a generation that is text', JSON.stringify({ ...mark, generation: '1' })],
    ['no event', JSON.stringify({ ...mark, eventId: undefined })],
    ['half an event', JSON.stringify({ ...mark, eventId: 1.5 })],
    ['no time', JSON.stringify({ ...mark, at: undefined })],
    ['nothing', ''],
  ])('is none with %s', (_what, text) => {
    expect(readMark(text)).toBeUndefined();
  });
});

describe('the sign of a restore', () => {
  const marked = async (changes: Partial<MarkContent> = {}, account?: string): Promise<MarkContent> => {
    const position = account === undefined ? await readPosition(store.db) : await readPositionOf(store.db, account);
    return { ...position, at: AT, ...changes };
  };

  describe('of a file', ofFile, () => {
    beforeEach(async () => {
      await own('a', 2);
      await commit('a', 'b', 'a');
    });

    it('is shown by nothing if the mark names the newest commit, or an earlier one', async () => {
      expect(await readSignOfRestore(store.db, await marked())).toBeUndefined();
      const earlier = await marked();
      await commit('b');
      await own('b', 1);
      expect(await readSignOfRestore(store.db, earlier)).toBeUndefined();
    });

    it('is shown by nothing if a mark of an earlier version names no hash', async () => {
      expect(await readSignOfRestore(store.db, await marked({ hash: undefined }))).toBeUndefined();
    });

    it.each<[string, Partial<MarkContent> | undefined, RegExp]>([
      ['it has a history, and no mark', undefined, /no mark/],
      ['the mark names a later event', { eventId: 4 }, /event 3 after 2 owners,.* event 4 and 2 owners/],
      ['the mark names a later owner', { generation: 3 }, /event 3 after 2 owners,.* event 3 and 3 owners/],
      ['the mark names another event', { hash: 'other' }, /has another event 3/],
      ['the mark names an event that is gone', { eventId: 0, hash: 'other' }, /has no event 0/],
      ['a restored copy was not accepted to its end', { restoring: { from: null, to: null } }, /accept-restore/],
    ])('is that %s', async (_what, changes, sign) => {
      const mark = changes === undefined ? undefined : await marked(changes);
      expect(await readSignOfRestore(store.db, mark)).toMatch(sign);
    });
  });

  it('is none in a new database without a mark', ofFile, async () => {
    await own('a', 1);
    expect(await readSignOfRestore(store.db, undefined)).toBeUndefined();
  });

  it('is that a copy from before the first event has no mark', ofFile, async () => {
    await own('a', 1);
    other.exec('pragma user_version = 1');
    expect(await readSignOfRestore(store.db, undefined)).toMatch(/copy/);
    const mark = { generation: 0, eventId: 0, at: AT };
    expect(await readSignOfRestore(store.db, mark)).toBeUndefined();
    await commit('a');
    expect(await readSignOfRestore(store.db, undefined)).toMatch(/history/);
  });

  it('has nothing written, and names the command by which a person accepts the copy', ofFile, async () => {
    await commit('a');
    await store.close();
    await store.mark.write({ generation: 0, eventId: 9, at: AT });
    const restored = await database.open();
    const result = restored.writer.write((tx) => nextGeneration(tx, 'a'));
    await expect(result).rejects.toMatchObject({
      problem: 'unusable',
      message: expect.stringContaining('order-sync db accept-restore') as string,
    });
  });

  it.each([
    { from: '71/1', to: '71/2', isPromotion: true },
    { from: '71/1', to: null, isPromotion: true },
    { from: '71/1', to: '71/1', isPromotion: false },
    { from: '71/1', to: '72/2', isPromotion: false },
    { from: null, to: '71/1', isPromotion: false },
    { from: undefined, to: null, isPromotion: false },
  ])('of a database that lacks commits is none only after a promotion: $from to $to', ofFile, async (lines) => {
    await own('a', 2);
    other.prepare('update account_owners set time_line = ?').run(lines.to);
    const mark = await marked({ generation: 3, timeLine: lines.from }, 'a');
    const sign = await readSignOfRestore(store.db, mark, 'a');
    expect(sign === undefined).toBe(lines.isPromotion);
  });

  it('of an account speaks of its own events and owners', async () => {
    await own('a', 2);
    await own('b', 1);
    await commit('a', 'b', 'b');
    const mark = await marked({}, 'a');
    expect(await readSignOfRestore(store.db, mark, 'a')).toBeUndefined();
    expect(await readSignOfRestore(store.db, { ...mark, hash: 'other' }, 'a')).toMatch(/another event/);
    expect(await readSignOfRestore(store.db, { ...mark, generation: 3 }, 'a')).toMatch(/3 owners/);
    // After a promotion the next owner takes up the commits that the standby lacks.
    expect(await readSignOfRestore(store.db, { ...mark, generation: 3, timeLine: 'before' }, 'a')).toBeUndefined();
    expect(await readSignOfRestore(store.db, undefined, 'a')).toMatch(/history/);
    expect(await readSignOfRestore(store.db, { ...mark, generation: 0 }, 'b')).toMatch(/ event /);
  });
});

describe('marks that follow commits', () => {
  /** Writes no marks: each time it answers what the test wants, in order, and true after that. */
  class TestFollower extends MarkFollower {
    readonly named: (readonly string[])[] = [];
    readonly slept: number[] = [];
    readonly #answers: (boolean | Error)[];

    constructor(gapMs: number, ...answers: (boolean | Error)[]) {
      const sleep = async (ms: number, signal?: AbortSignal) => {
        this.slept.push(ms);
        if (this.slept.length >= STOPS_AT && signal?.aborted === false) await once(signal, 'abort');
      };
      super({ ...systemClock(), sleep }, gapMs);
      this.#answers = answers;
    }

    protected override async writePositions(accounts: readonly string[]): Promise<boolean> {
      this.named.push(accounts);
      const answer = this.#answers.shift() ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    }
  }
  const STOPS_AT = 3;
  const turns = async () => {
    for (let turn = 0; turn < 20; turn += 1) await systemClock().turn();
  };
  const full = new StoreError('disk', 'the disk is full');

  it('name all accounts that have committed meanwhile, some at a time, with a gap', async () => {
    const follower = new TestFollower(100);
    for (let account = 0; account < 502; account += 1) follower.committed(`${account}`);
    await turns();
    expect(follower.named.map(({ length }) => length)).toEqual([1, 500, 1]);
    expect(follower.slept).toEqual([100, 100, 100]);
  });

  it('name later commits too, of all accounts if none is named, and wait for nothing without a gap', async () => {
    const follower = new TestFollower(0);
    follower.committed();
    await turns();
    follower.committed('a');
    await turns();
    expect([follower.named, follower.slept]).toEqual([[['*'], ['a']], []]);
  });

  it.each<[string, boolean | Error, boolean]>([
    ['the database cannot be read', false, false],
    ['the database fails', new Error('SQLITE_BUSY'), false],
    ['the marks cannot be written', full, true],
  ])('are tried again after a second if %s', async (_why, answer, isToldOf) => {
    const follower = new TestFollower(0, answer, answer);
    follower.committed('a');
    expect(() => follower.assertWritten()).not.toThrow();
    await turns();
    expect([follower.named, follower.slept]).toEqual([
      [['a'], ['a'], ['a']],
      [1_000, 1_000],
    ]);
    expect(() => follower.assertWritten()).not.toThrow();
    const failing = new TestFollower(0, ...Array.from({ length: 9 }, () => answer));
    failing.committed('a');
    await turns();
    expect(failing.slept).toHaveLength(STOPS_AT);
    if (isToldOf) expect(() => failing.assertWritten()).toThrow(full);
    else expect(() => failing.assertWritten()).not.toThrow();
    await failing.close();
    expect(failing.named).toHaveLength(STOPS_AT + 1);
  });

  it('are all written when they are closed', async () => {
    const follower = new TestFollower(100);
    for (const account of ['a', 'b', 'c']) {
      follower.committed(account);
      await turns();
    }
    for (let account = 0; account < 501; account += 1) follower.committed(`${account}`);
    await follower.close();
    expect(follower.named.map(({ length }) => length)).toEqual([1, 1, 1, 500, 1]);
  });
});
