import Database from 'better-sqlite3';
import type { SqliteStatement } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOrder } from '../../../src/store/orders/orders.ts';
import { rememberStatuses } from '../../../src/store/tables/accounts.ts';
import { scriptedProgram } from '../../support/test-program.ts';

describe('writes that are asked for together', () => {
  /** Says of each commit how many writes had their results by then. */
  async function counted() {
    const commits: number[] = [];
    let done = 0;
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
      if (text !== 'commit') return statement;
      const run = (parameters: readonly unknown[]) => {
        commits.push(done);
        return statement.run(parameters);
      };
      return { reader: false, run, all: () => [], iterate: (parameters) => statement.iterate(parameters) };
    };
    const { program } = await scriptedProgram({ overrides: { store: { wrap } } });
    commits.length = 0;
    const { writer } = program.app.store;
    const see = async (value: string, then = () => {}) => {
      const result = await writer.write(async (tx) => {
        await rememberStatuses(tx, [{ account: 'default', field: 'f', value, first_seen_at: 'now' }]);
        then();
        return value;
      });
      done += 1;
      return result;
    };
    const seen = () => program.merchant.prepare('select value from seen_statuses order by rowid').pluck().all();
    return { program, writer, commits, see, seen };
  }

  it('share one commit, in their order, and have their results only after it', async () => {
    const { commits, see, seen } = await counted();
    const values = Array.from({ length: 150 }, (_, index) => `v${index}`);
    expect(await Promise.all(values.map((value) => see(value)))).toEqual(values);
    expect(commits).toEqual([0]);
    expect(seen()).toEqual(values);
  });

  it('are not lost if they are more than one commit takes', async () => {
    const { commits, see, seen } = await counted();
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => see(`v${index}`)));
    expect(commits.length).toBeLessThan(10);
    expect(seen()).toHaveLength(1_001);
  });

  it('fail alone: what one of them wrote is undone, the others are durable', async () => {
    const { see, seen } = await counted();
    const bug = new Error('a bug in one of them');
    const results = await Promise.allSettled([
      see('a'),
      see('b', () => {
        throw bug;
      }),
      see('c'),
    ]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: bug },
      { status: 'fulfilled', value: 'c' },
    ]);
    expect(seen()).toEqual(['a', 'c']);
  });

  it('fail alone also if the database refuses one of them, and say why', async () => {
    const { program, writer, see, seen } = await counted();
    program.insert({ external_order_id: 'a' });
    program.merchant.exec(`update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1`);
    const refused = writer.write(async (tx) => {
      await tx.updateTable('merchant_orders').set({ asset: '9' }).execute();
    });
    const [first, second, third] = await Promise.allSettled([see('a'), refused, see('c')]);
    expect([first.status, third.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(second).toMatchObject({
      reason: { problem: 'refused', message: expect.stringMatching(/was sent/) as string },
    });
    expect(seen()).toEqual(['a', 'c']);
    expect(program.row('a')['asset']).toBe('1.5');
  });

  it('let no other program write between what they read and what they write', async () => {
    const { program, writer } = await counted();
    program.insert({ external_order_id: 'a' });
    const other = new Database(program.config.database.path, { timeout: 0 });
    onTestFinished(() => void other.close());
    const rewrite = () => other.exec(`update merchant_orders set asset = '9'`);
    await writer.write(async (tx) => {
      const row = await readOrder(tx, 'default', 'a');
      expect(row?.asset).toBe('1.5');
      expect(rewrite).toThrow('database is locked');
      await tx.updateTable('merchant_orders').set({ asset: '2' }).execute();
    });
    expect(program.row('a')['asset']).toBe('2');
    rewrite();
    expect(program.row('a')['asset']).toBe('9');
  });

  it('continue after a failure', async () => {
    const { writer, see, seen } = await counted();
    await expect(writer.write(() => Promise.reject(new Error('first')))).rejects.toThrow('first');
    expect(await see('a')).toBe('a');
    expect(seen()).toEqual(['a']);
  });

  it('wait without accountLease the program up while another program writes', async () => {
    const { program, see, seen } = await counted();
    program.merchant.exec('begin immediate');
    const writing = see('a').then(() => {});
    // The program's turn comes although the write has not: the wait does not block it.
    for (let round = 0; round < 3; round += 1) {
      await program.clock.turn();
      program.clock.advance(50);
    }
    expect(seen()).toEqual([]);
    program.merchant.exec('rollback');
    program.clock.advance(50);
    await writing;
    expect(seen()).toEqual(['a']);
  });

  it('fail together if the database stays locked: it is waited for once, not once for each', async () => {
    let begun = 0;
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
      if (text !== 'begin immediate') return statement;
      const run = (parameters: readonly unknown[]) => {
        begun += 1;
        return statement.run(parameters);
      };
      return { reader: false, run, all: () => [], iterate: (parameters) => statement.iterate(parameters) };
    };
    const { program } = await scriptedProgram({ overrides: { store: { wrap } } });
    const { writer } = program.app.store;
    program.merchant.exec('begin immediate');
    begun = 0;
    let isOver = false;
    const nothing = () => Promise.resolve();
    const writing = Promise.allSettled([writer.write(nothing), writer.write(nothing), writer.write(nothing)]);
    void writing.then(() => (isOver = true));
    while (!isOver) {
      await program.clock.turn();
      program.clock.advance(50);
    }
    expect(await writing).toMatchObject(Array.from({ length: 3 }, () => ({ reason: { problem: 'busy' } })));
    expect(begun).toBe(40);
    program.merchant.exec('rollback');
  });

  it('wait no longer for another program once the writer stops waiting', async () => {
    const { program, see, seen } = await counted();
    program.merchant.exec('begin immediate');
    const waiting = Promise.allSettled([see('a')]);
    await program.clock.turn();
    program.app.endGracePeriod();
    expect(await waiting).toMatchObject([{ reason: { problem: 'busy' } }]);
    await expect(see('b')).rejects.toMatchObject({ problem: 'busy' });
    program.merchant.exec('rollback');
    expect(await see('c')).toBe('c');
    expect(seen()).toEqual(['c']);
  });
});
