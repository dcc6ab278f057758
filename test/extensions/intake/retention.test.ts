import { expect, it } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { purgeAccount } from '../../../src/extensions/intake/retention.ts';
import { purgesOf } from '../../support/purges.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { DAY } from '../../support/tracking.ts';
import { checkChains } from '../../../src/extensions/restore/tables/chain.ts';

const NEVER = new AbortController().signal;
const subjects = ({ merchant }: TestProgram) =>
  merchant.prepare('select subject from kept_answers order by id').pluck().all();

it('kept answers go by age in small steps, but never those of orders that are not settled', async () => {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = () => ({ status: 201, body: 'made, but unreadable' });
  program.insert({ external_order_id: 'unknown' });
  await createPass(program.app, NEVER);
  const at = (ms: number) => new Date(program.clock.now().getTime() + ms).toISOString();
  const insert = program.merchant.prepare(`insert into kept_answers
    (account, operation, subject, http_status, body, received_at) values ('default', 'createPreOrder', ?, 201, '', ?)`);
  for (let index = 0; index < 450; index += 1) insert.run(`gone${String(index)}`, at(index));
  insert.run('young', at(2 * DAY));
  program.clock.advance(2 * DAY);
  const steps: number[] = [];
  const clock = { ...program.clock, sleep: async (ms: number) => void steps.push(ms) };
  const deps = { ...program.app, clock, purges: purgesOf(program.app, { keptAnswers: DAY, deadLetters: DAY }) };
  expect(await purgeAccount(deps, 'default', NEVER)).toEqual({ keptAnswers: 450, deadLetters: 0, photos: 0 });
  expect([subjects(program), steps]).toEqual([
    ['unknown', 'young'],
    [1_000, 1_000],
  ]);
  expect(await purgeAccount(deps, 'default', NEVER)).toEqual({ keptAnswers: 0, deadLetters: 0, photos: 0 });
  expect((await checkChains(program.app.store.db)).broken).toBeNull();
});

it('dead letters go by age once they were delivered, never before', async () => {
  const { program } = await scriptedProgram();
  const insert = program.merchant.prepare(`insert into webhook_deliveries
    (endpoint, account, event_id, kind, subject, status, attempts, answer, since)
    values ('shop', 'default', ?, 'order', 'a', ?, 11, 400, ?)`);
  for (let id = 1; id <= 250; id += 1) insert.run(id, 'delivered', '2021');
  insert.run(251, 'dead', '2020');
  insert.run(252, 'delivered', program.clock.now().toISOString());
  const clock = { ...program.clock, sleep: async () => {} };
  const deps = { ...program.app, clock, purges: purgesOf(program.app, { deadLetters: DAY }) };
  expect(await purgeAccount(deps, 'default', NEVER)).toEqual({ keptAnswers: 0, deadLetters: 250, photos: 0 });
  const left = program.merchant.prepare('select event_id from webhook_deliveries order by event_id').pluck().all();
  expect(left.map(Number)).toEqual([251, 252]);
});
