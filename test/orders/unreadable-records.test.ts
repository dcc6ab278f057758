import { expect, it } from 'vitest';
import { judgeStatus } from '../../src/extensions/health/status/problems.ts';
import { readOverview } from '../../src/extensions/health/tables/overview.ts';
import { acceptedOrders, type TestProgram } from '../support/test-program.ts';
import { record } from '../support/scripted-exchange.ts';
import { DAY } from '../support/tracking.ts';

const BODIES = [
  '{"externalOrderId":"a","order":{"id":"o1","status":null}}',
  '[{"externalOrderId":"b"}]',
  '{"data":{}}',
];

async function reasonsOf({ app, clock }: TestProgram) {
  const now = clock.now();
  const overview = await readOverview(app.store.db, { account: 'default', endpoints: [], now });
  const nothing = { daemon: null, driver: null, olderState: null, databaseAheadMs: null };
  const status = { asOf: now.toISOString(), database: '', ...nothing, overview };
  return judgeStatus(status).reasons.filter(({ text }) => text.includes('cannot be read'));
}

const eventsOf = ({ merchant }: TestProgram) =>
  merchant
    .prepare(`select new_value from events where type = 'account' and field = 'answers' order by id`)
    .pluck()
    .all();

it('are a problem of the account once three different orders have them, until a record is read, also over a restart', async () => {
  const { program, answers, lookUp } = await acceptedOrders(['a', 'b', 'c']);
  const show = async (count: number) => {
    for (const [at, id] of ['a', 'b', 'c'].entries()) {
      answers.set(id, at < count ? { status: 200, body: BODIES[at] ?? '' } : record(id));
    }
    await lookUp(DAY);
    await program.app.store.writer.write(async () => {});
  };
  answers.set('c', { status: 404, body: '' });
  for (const id of ['a', 'b']) answers.set(id, { status: 200, body: BODIES[0] ?? '' });
  for (let times = 0; times < 5; times += 1) await lookUp(DAY);
  expect(await reasonsOf(program)).toEqual([]);

  await show(3);
  expect(await reasonsOf(program)).toMatchObject([
    { text: expect.stringMatching(/for example the record of [abc]/), remedy: 'order-sync probe' },
  ]);
  expect(program.row('a')['state']).toBe('accepted');
  await program.restart();
  await show(3);
  expect(await reasonsOf(program)).toHaveLength(1);
  expect(eventsOf(program)).toEqual(['cannot-be-read']);

  await show(2);
  expect(await reasonsOf(program)).toEqual([]);
  expect(eventsOf(program)).toEqual(['cannot-be-read', null]);
});
