import { expect, it } from 'vitest';
import { insertHappenings } from '../../../src/store/events.ts';
import { readOverview } from '../../../src/store/overview/overview.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { MINUTE } from '../../support/tracking.ts';

const NEVER_DRIVEN = { takenAt: null, failingSince: null, oldestWaiting: null, parked: 0, deadLetters: 0 };

it('tells of each receiver of the settings what waits for it, and what it has refused', async () => {
  const { program } = await scriptedProgram();
  const { db, writer } = program.app.store;
  const happen = async (account: string) => {
    program.clock.advance(MINUTE);
    const change = { account, type: 'account', subject: account, field: 'exchange', source: 'exchange' } as const;
    const at = program.clock.now();
    await writer.write((tx) => insertHappenings(tx, [{ ...change, new_value: 'x', reason: null }], at));
    return at.toISOString();
  };
  const receiversOf = async (...names: string[]) => {
    const endpoints = names.map((name) => ({ name }));
    return (await readOverview(db, { account: 'default', endpoints, now: program.clock.now() })).receivers;
  };
  const first = await happen('default');
  await db
    .insertInto('webhook_endpoints')
    .values([
      { name: 'shop', since: first },
      { name: 'books', since: first, failing_since: first, cause: 'HTTP 500' },
    ])
    .execute();
  const second = await happen('default');
  await happen('other');
  const ids = await db.selectFrom('events').select(['account', 'id']).orderBy('account').orderBy('id').execute();
  const [one, , other] = ids.map(({ id }) => id);
  if (one === undefined || other === undefined) throw new Error('events are missing');
  await db
    .insertInto('webhook_cursors')
    .values([
      { endpoint: 'shop', account: 'default', event_id: one },
      { endpoint: 'shop', account: 'other', event_id: other },
    ])
    .execute();
  const refused = { endpoint: 'books', account: 'default', status: 400 };
  const parked = {
    kind: 'order',
    subject: 'o',
    from_event_id: one,
    tries: 1,
    next_try_at: second,
    since: second,
  } as const;
  await db
    .insertInto('webhook_parked')
    .values({ ...refused, ...parked })
    .execute();
  await db
    .insertInto('webhook_dead_letters')
    .values([
      { ...refused, event_id: one, at: second },
      { ...refused, event_id: other, at: second, delivered_at: second },
    ])
    .execute();
  expect(await receiversOf('books', 'new', 'shop')).toMatchObject([
    { name: 'books', failingSince: first, cause: 'HTTP 500', oldestWaiting: first, parked: 1, deadLetters: 1 },
    { name: 'new', ...NEVER_DRIVEN },
    { name: 'shop', ...NEVER_DRIVEN, oldestWaiting: second },
  ]);
  expect(await receiversOf()).toEqual([]);
});
