import { expect, it } from 'vitest';
import type { FailOver } from '../../../src/accounts/rules/fail-over.ts';
import { changeFailOver, readFailOvers, saveFailOver } from '../../../src/store/tables/fail-overs.ts';
import { newTestDatabase } from '../../support/database.ts';

const AT = new Date('2026-01-05T12:00:00.000Z');

it('keeps what a person and the lost owner write about a fail-over at the same time', async () => {
  const store = (await (await newTestDatabase()).open()).forAccount('a');
  const lines = { fromTimeLine: '71/1', toTimeLine: '71/2', generation: 1, settings: null, nextSettings: null };
  const times = { seenAt: AT.toISOString(), heardAt: null, walked: null, insertedUntil: null };
  const read: FailOver = { id: 7, ...lines, ...times };
  await store.writer.write((tx) => saveFailOver(tx, 'a', read, AT));
  for (const change of [{ markedAt: 'm' }, { decision: 'not-sent' }, { reportedAt: 'r' }] as const)
    await store.writer.write((tx) => changeFailOver(tx, 'a', read, change, AT));
  expect(await readFailOvers(store.db, 'a')).toEqual([
    { ...read, markedAt: 'm', decision: 'not-sent', reportedAt: 'r' },
  ]);
});
