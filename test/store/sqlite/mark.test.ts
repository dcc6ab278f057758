import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createPass } from '../../../src/orders/create.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { nextGeneration } from '../../../src/store/tables/accounts.ts';
import { appendToChain, newestEventId } from '../../../src/store/tables/chain.ts';
import type { MarkContent, Store } from '../../../src/store/port.ts';
import { openStore, type OpenOptions } from '../../../src/store/sqlite/store.ts';
import { newDatabase, temporaryFolder } from '../../support/folders.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { echo } from '../../support/scripted-exchange.ts';

const NEVER = new AbortController().signal;

let path = '';
beforeEach(async () => {
  path = join(temporaryFolder(), 'orders.db');
  await newDatabase(path);
});

async function withStore<Result>(
  work: (store: Store) => Promise<Result>,
  options: Partial<OpenOptions> = {},
  at = path,
): Promise<Result> {
  const store = await openStore(at, systemClock(), { expect: 'current', ...options });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const nothing = {
  type: 'order',
  field: 'state',
  old_value: null,
  new_value: null,
  observed_at: '2026-01-05T12:00:00.000Z',
  looked_up_before: null,
  exchange_time: null,
  source: 'create',
  reason: null,
  actor: null,
} as const;

/** Commits one event. */
async function commit({ writer }: Store): Promise<void> {
  await writer.write((tx) => appendToChain(tx, 'default', [{ ...nothing, account: 'default', subject: 'shop-1' }]));
}

const markOf = (database = path) => JSON.parse(readFileSync(`${database}.mark`, 'utf8')) as MarkContent;

async function problemOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => (error instanceof StoreError ? error.problem : error),
  );
}

describe('the mark of a database', () => {
  it('names the newest commit once the store is closed, for its user alone', async () => {
    await withStore(async (store) => {
      await store.writer.write((tx) => nextGeneration(tx, 'default'));
      for (let events = 0; events < 5; events += 1) await commit(store);
    });
    expect(markOf()).toEqual({
      generation: 1,
      eventId: 5,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      at: expect.any(String) as string,
    });
    expect(statSync(`${path}.mark`).mode & 0o777).toBe(0o600);
  });

  it('names a commit soon after it, without one that follows', async () => {
    const named = Promise.withResolvers<void>();
    const replaceFile = async (_: string, text: string) => {
      if ((JSON.parse(text) as MarkContent).eventId === 2) named.resolve();
    };
    await withStore(
      async (store) => {
        await commit(store);
        await commit(store);
        await expect(named.promise).resolves.toBeUndefined();
      },
      { replaceFile },
    );
  });

  it('is of another history than a copy that was put back and went on beyond it', async () => {
    await withStore(commit);
    const [copy, mark] = [`${path}.copy`, `${path}.mark`];
    copyFileSync(path, copy);
    await withStore(commit);
    const lost = readFileSync(mark);
    rmSync(mark);
    copyFileSync(copy, path);
    // Elsewhere, beside a mark of its own.
    await withStore((store) => store.mark.write({ generation: 0, eventId: 0, at: '2026-01-05T12:00:00.000Z' }));
    await withStore(async ({ writer }) => {
      for (const subject of ['shop-2', 'shop-3']) {
        await writer.write((tx) => appendToChain(tx, 'default', [{ ...nothing, account: 'default', subject }]));
      }
    });
    const { hash: _, ...ofEarlierVersion } = JSON.parse(lost.toString()) as MarkContent;
    writeFileSync(mark, JSON.stringify(ofEarlierVersion));
    expect(await withStore((store) => store.mark.sign())).toBeUndefined();
    writeFileSync(mark, lost);
    expect(await problemOf(withStore(commit))).toBe('unusable');
  });

  it('is ahead of no commit: one that is open is not named', async () => {
    const marks: number[] = [];
    const replaceFile = async (_: string, text: string) => {
      marks.push((JSON.parse(text) as MarkContent).eventId);
    };
    await withStore(
      async (store) => {
        await commit(store);
        const failed = store.writer.write(async (tx) => {
          await appendToChain(tx, 'default', [{ ...nothing, account: 'default', subject: 'shop-2' }]);
          for (let turns = 0; turns < 20; turns += 1) await systemClock().turn();
          throw new Error('taken back');
        });
        await expect(failed).rejects.toThrow('taken back');
      },
      { replaceFile },
    );
    expect(new Set(marks)).toEqual(new Set([0, 1]));
  });

  it('is written whole by all that write it at once, also by two of one process number, and nothing else is left', async () => {
    await withStore(async (one) => {
      await withStore(async (other) => {
        const content = { generation: 1, eventId: 5, at: '2026-01-05T12:00:00.000Z' };
        await Promise.all([one, other, one, other].map((store) => store.mark.write(content)));
        expect(markOf()).toEqual(content);
      });
    });
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['orders.db', 'orders.db.mark']);
  });

  it('leaves no half-written file behind if it cannot be written', async () => {
    await withStore(async (store) => {
      mkdirSync(`${path}.mark`);
      const problem = await problemOf(store.mark.write({ generation: 1, eventId: 5, at: '2026-01-05T12:00:00.000Z' }));
      expect(problem).toBe('disk');
    });
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['orders.db', 'orders.db.mark']);
  });

  it('names the newest commit of two processes, whoever writes last', async () => {
    await withStore(async (one) => {
      const held = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const late: OpenOptions['replaceFile'] = async (file, text) => {
        if ((JSON.parse(text) as MarkContent).eventId === 1) {
          begun.resolve();
          await held.promise;
        }
        writeFileSync(file, text);
      };
      const other = await openStore(path, systemClock(), { expect: 'current', replaceFile: late });
      await commit(other);
      await begun.promise;
      await commit(one);
      await one.close();
      expect(markOf().eventId).toBe(2);
      held.resolve();
      await other.close();
    });
    expect(markOf().eventId).toBe(2);
  });

  it('is one for a database that has two names', async () => {
    const link = `${path}.link`;
    symlinkSync(path, link);
    await withStore(commit);
    await withStore(commit, {}, link);
    expect(markOf().eventId).toBe(2);
  });

  it('is there before the first event: a crash right after that leaves no history without a mark', async () => {
    let marks = 0;
    const store = await openStore(path, systemClock(), {
      expect: 'current',
      replaceFile: async (file, text) => {
        marks += 1;
        if (marks > 1) throw new Error('crashed');
        writeFileSync(file, text);
      },
    });
    await commit(store);
    await store.close();
    expect(markOf().eventId).toBe(0);
    await withStore(commit);
  });

  it('is not written by one that only reads', async () => {
    await withStore(({ db }) => newestEventId(db, 'default'));
    expect(statSync(`${path}.mark`, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('a database that is older than its mark', () => {
  const copy = () => `${path}.copy`;

  beforeEach(async () => {
    await withStore(commit);
    copyFileSync(path, copy());
    await withStore(commit);
  });

  it.each<[string, () => void]>([
    ['the mark knows more', () => copyFileSync(copy(), path)],
    ['there is no mark', () => rmSync(`${path}.mark`)],
    ['the mark cannot be understood', () => writeFileSync(`${path}.mark`, '\0\0\0')],
    [
      'it was moved without its mark',
      () => {
        renameSync(path, `${path}.moved`);
        path = `${path}.moved`;
      },
    ],
  ])('takes no write: %s', async (_why, put) => {
    put();
    await withStore(async (store) => {
      const before = await newestEventId(store.db, 'default');
      expect(await problemOf(commit(store))).toBe('unusable');
      expect(await problemOf(commit(store))).toBe('unusable');
      expect(await newestEventId(store.db, 'default')).toBe(before);
    });
  });

  it('is not taken for one if the mark is behind, as after a crash', async () => {
    const mark = readFileSync(`${path}.mark`);
    await withStore(commit);
    writeFileSync(`${path}.mark`, mark);
    await withStore(commit);
    expect(markOf().eventId).toBe(4);
  });

  it('is the disk if the mark is there and cannot be read', async () => {
    rmSync(`${path}.mark`);
    symlinkSync(`${path}.mark`, `${path}.mark`);
    await withStore(async (store) => expect(await problemOf(commit(store))).toBe('disk'));
  });
});

describe('a mark that cannot be written', () => {
  it('lets nothing be sent; results in flight are recorded, and once it can be written the rest is sent', async () => {
    let isFull = false;
    const failed = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const replaceFile: OpenOptions['replaceFile'] = async (file, text) => {
      if (isFull) {
        failed.resolve();
        throw new Error('ENOSPC');
      }
      writeFileSync(file, text);
      if ((JSON.parse(text) as MarkContent).eventId === 2) written.resolve();
    };
    const { program, exchange } = await scriptedProgram({ overrides: { store: { expect: 'current', replaceFile } } });
    program.insert({ external_order_id: 'first' });
    exchange.answer = (request) => {
      isFull = request.externalOrderId === 'first';
      return echo(request);
    };
    await createPass(program.app, NEVER);
    await failed.promise;
    expect(program.states('first')).toEqual(['sending', 'accepted']);
    program.insert({ external_order_id: 'second' });
    expect(await problemOf(createPass(program.app, NEVER))).toBe('disk');
    expect([program.states('second'), exchange.count('POST')]).toEqual([[], 1]);
    isFull = false;
    program.clock.advance(1_000);
    await written.promise;
    await program.clock.turn();
    await createPass(program.app, NEVER);
    expect(program.states('second')).toEqual(['sending', 'accepted']);
  });
});
