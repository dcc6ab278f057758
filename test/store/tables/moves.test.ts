import { beforeEach, describe, expect, it } from 'vitest';
import { upsert } from '../../../src/store/statement.ts';
import { assertNotMoved, readMove, type Move } from '../../../src/store/tables/moves.ts';
import type { Store } from '../../../src/store/port.ts';
import type { DatabaseMovesTable } from '../../../src/store/schema.ts';
import { newTestDatabase } from '../../support/database.ts';
import { forgetMove } from '../../../src/extensions/restore/tables/counts.ts';

const MOVE: Move = { id: '1', source: '/shop.db', target: 'postgres://there/shop', at: '2026-01-05T12:00:00.000Z' };
const LATER: Move = { ...MOVE, id: '2', source: '/later.db', at: '2026-01-06T12:00:00.000Z' };

let store: Store;
beforeEach(async () => {
  store = await (await newTestDatabase()).open();
});

const record = (state: DatabaseMovesTable['state'], move = MOVE) =>
  store.writer.write((tx) => upsert('database_moves', { ...move, state }, 'id').execute(tx));
const refusal = async () => await assertNotMoved(store.db, 'here').catch((error: unknown) => error);

describe('a database', () => {
  it('may be used if it was never moved', async () => {
    expect(await readMove(store.db)).toBeUndefined();
    expect(await refusal()).toBeUndefined();
  });

  it('may be used if all has arrived', async () => {
    await record('arrived');
    expect(await refusal()).toBeUndefined();
  });

  it('that was left is used no more, and names the one that has its orders', async () => {
    await record('moved');
    expect(await refusal()).toMatchObject({
      problem: 'unusable',
      message: expect.stringMatching(/^here .*postgres:\/\/there\/shop/) as string,
    });
  });

  it('in which not all has arrived is not used yet, and names the command that continues', async () => {
    await record('arrived', LATER);
    await record('arriving');
    expect(await refusal()).toMatchObject({
      problem: 'unusable',
      message: expect.stringContaining('order-sync db copy sqlite:/shop.db postgres://there/shop') as string,
    });
  });
});

describe('a move', () => {
  it('continues as the same one', async () => {
    await record('arriving');
    await record('arrived');
    expect(await readMove(store.db)).toEqual({ ...MOVE, state: 'arrived' });
    expect(await store.db.selectFrom('database_moves').selectAll().execute()).toHaveLength(1);
  });

  it('is the newest one, in whatever order they were written down', async () => {
    await record('moved', LATER);
    await record('arrived');
    expect(await readMove(store.db)).toEqual({ ...LATER, state: 'moved' });
  });

  it('is forgotten by the database that was left, and by no other', async () => {
    await record('arrived');
    await record('moved', LATER);
    await store.writer.write(forgetMove);
    expect(await readMove(store.db)).toEqual({ ...MOVE, state: 'arrived' });
  });
});
