import { expect, it } from 'vitest';
import { createPass } from '../../../src/flows/orders/create.ts';
import { purgeAccount } from '../../../src/flows/orders/retention.ts';
import { checkChains } from '../../../src/store/chain.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { DAY } from '../../support/tracking.ts';

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
  const deps = { ...program.app, clock, retention: { keptAnswers: DAY, photos: undefined } };
  expect(await purgeAccount(deps, 'default', NEVER)).toEqual({ keptAnswers: 450, photos: 0 });
  expect([subjects(program), steps]).toEqual([
    ['unknown', 'young'],
    [1_000, 1_000],
  ]);
  expect(await purgeAccount(deps, 'default', NEVER)).toEqual({ keptAnswers: 0, photos: 0 });
  expect((await checkChains(program.app.store.db)).broken).toBeNull();
});
