import { expect, it } from 'vitest';
import { insertHappenings } from '../../../../src/store/tables/events.ts';
import { readOverview } from '../../../../src/extensions/health/tables/overview.ts';
import { scriptedProgram } from '../../../support/test-program.ts';
import { MINUTE } from '../../../support/tracking.ts';
import { withWebhooks } from '../../../support/webhook-tables.ts';

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
  await withWebhooks(db)
    .insertInto('webhook_endpoints')
    .values([
      { name: 'shop', since: first },
      { name: 'mugs', since: first },
      { name: 'books', since: first, failing_since: first, cause: 'HTTP 500' },
    ])
    .execute();
  const second = await happen('default');
  await happen('other');
  const ids = await db.selectFrom('events').select(['account', 'id']).orderBy('account').orderBy('id').execute();
  const [one, , other] = ids.map(({ id }) => id);
  if (one === undefined || other === undefined) throw new Error('events are missing');
  await withWebhooks(db)
    .insertInto('webhook_cursors')
    .values([
      { endpoint: 'shop', account: 'default', event_id: one },
      { endpoint: 'shop', account: 'other', event_id: other },
      { endpoint: 'mugs', account: 'default', event_id: other },
      { endpoint: 'mugs', account: 'other', event_id: other },
    ])
    .execute();
  const refused = {
    account: 'default',
    kind: 'order',
    subject: 'o',
    attempts: 1,
    failed_at: second,
    answer: 400,
  } as const;
  const waits = { next_attempt_at: second, since: second };
  const ended = { next_attempt_at: null, since: second };
  await withWebhooks(db)
    .insertInto('webhook_deliveries')
    .values([
      { ...refused, ...waits, endpoint: 'books', event_id: one, status: 'retrying' },
      { ...refused, ...ended, endpoint: 'books', event_id: one + 1, status: 'behind' },
      { ...refused, ...ended, endpoint: 'books', event_id: one + 2, status: 'dead' },
      { ...refused, ...ended, endpoint: 'books', event_id: one + 3, status: 'delivered' },
      { ...refused, ...waits, endpoint: 'mugs', event_id: one, status: 'waiting', since: first },
    ])
    .execute();
  expect(await receiversOf('mugs')).toMatchObject([{ ...NEVER_DRIVEN, name: 'mugs', oldestWaiting: first }]);
  expect(await receiversOf('books', 'new', 'shop')).toMatchObject([
    { name: 'books', failingSince: first, cause: 'HTTP 500', oldestWaiting: first, parked: 1, deadLetters: 1 },
    { name: 'new', ...NEVER_DRIVEN },
    { name: 'shop', ...NEVER_DRIVEN, oldestWaiting: second },
  ]);
  expect(await receiversOf()).toEqual([]);
});
