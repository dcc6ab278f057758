import { expect, it } from 'vitest';
import { sweep } from '../../../src/extensions/sweep/sweep.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { setHold } from '../../../src/store/tables/account-holds.ts';
import { eventWriter } from '../../support/events.ts';
import { echo, record } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { DAY, MINUTE, SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

/** Open orders that were looked up once. */
async function followed(...ids: readonly string[]): Promise<TestProgram> {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  await createPass(program.app, NEVER);
  await followPass(program.app, 'all', NEVER);
  return program;
}

/** History of `count` orders that each changed once more, after so long. */
function changesAfter(program: TestProgram, count: number, gapMs: number): void {
  const write = eventWriter(program.merchant);
  const began = program.clock.now().getTime() - 90 * DAY;
  for (let index = 0; index < count; index += 1) {
    const order = { external_order_id: `old-${index}`, field: 'order.status' };
    const found = new Date(began).toISOString();
    write({ ...order, new_value: 'REQUEST', observed_at: found });
    write({ ...order, field: 'state', old_value: 'pending', new_value: 'open', observed_at: found });
    write({ ...order, old_value: 'REQUEST', new_value: 'DONE', observed_at: new Date(began + gapMs).toISOString() });
  }
}

it('a sweep learns from the newest changes after what time an order is stuck', async () => {
  const program = await followed('a');
  changesAfter(program, 200, 3 * DAY);
  const stuck = () => program.merchant.prepare(`select status from findings where class = 'STUCK'`).pluck().all();
  program.clock.advance(3 * DAY);
  await sweep(program.app, NEVER);
  expect(stuck()).toEqual([]);
  program.clock.advance(SECOND);
  await sweep(program.app, NEVER);
  expect(stuck()).toEqual(['open']);
  // The usual time has become longer.
  changesAfter(program, 200, 9 * DAY);
  await sweep(program.app, NEVER);
  expect(stuck()).toEqual(['resolved']);
});

it('a sweep logs that look-ups are not made in time, unless a restraint of them is logged already', async () => {
  const program = await followed('a', 'b');
  const line = 'look-ups are overdue: more came due than could be made in time';
  program.clock.advance(10 * MINUTE);
  await sweep(program.app, NEVER);
  expect(program.log.with(line)).toEqual([]);
  program.clock.advance(10 * MINUTE);
  await sweep(program.app, NEVER);
  expect(program.log.with(line)).toMatchObject([{ level: 'warn', overdue: 2 }]);
  expect(program.activity.overdue?.orders).toBe(2);
  const pause = { kind: 'all-paused', since: program.clock.now(), until: null, reason: 'r', actor: 'ann' } as const;
  await program.app.store.writer.write((tx) => setHold(tx, program.app.account, pause, program.clock.now()));
  await program.app.restraints.read();
  await sweep(program.app, NEVER);
  expect(program.log.with(line)).toHaveLength(1);
});
