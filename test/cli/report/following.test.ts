import { describe, expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { record } from '../../support/scripted-exchange.ts';
import { acceptedOrders, settingsOf } from '../../support/test-program.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

const ids = Array.from({ length: 12 }, (_, index) => `a-${index}`);

/** 12 orders that came to be half a minute before they were looked up, and one that did not. */
async function world(environment: Record<string, string> = {}) {
  const { program, answers, lookUp } = await acceptedOrders([...ids, 'b']);
  await lookUp(3 * MINUTE);
  const seenAt = program.clock.now().getTime() + MINUTE;
  const modificationDate = new Date(seenAt - 30 * SECOND).toISOString();
  for (const id of ids) answers.set(id, record(id, { modificationDate }));
  await lookUp(MINUTE);
  const options = { environment: { ...settingsOf(program), ...environment } };
  return async (...args: string[]) => await runProgram(args, options);
}

describe('report following', () => {
  it('says in every form how late changes were seen and how long orders stay', async () => {
    const run = await world();
    const { code, stdout, stderr } = await run('report', 'following', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const { schema, sections } = JSON.parse(stdout) as { schema: string; sections: Record<string, unknown> };
    expect(schema).toBe('order-sync.following/1');
    const late = { late_changes: 12, late_mean_seconds: '30.000', late_95_seconds: '30.000' };
    expect(sections['accounts']).toMatchObject([{ pace: 'learned', orders: 13, stays: 12, ...late }]);
    expect(sections['statuses']).toMatchObject([
      { state: 'open', order_status: 'REQUEST', orders: 12, stays: 0 },
      { state: 'accepted', orders: 1, stays: 12, ...late },
    ]);
    for (const more of [[], ['--section', 'statuses', '--format', 'csv'], ['--format', 'html']]) {
      const written = await run('report', 'following', ...more);
      expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('REQUEST')]);
    }
  });

  it('is of all accounts too, and of a pace that is not learned', async () => {
    const run = await world({ ORDER_SYNC_FOLLOW_PACE: 'every-tick' });
    const { code, stdout } = await run('report', 'following', '--account', 'all', '--json');
    const { sections } = JSON.parse(stdout) as { sections: Record<string, unknown> };
    expect([code, sections['accounts']]).toMatchObject([0, [{ account: 'default', pace: 'every-tick' }]]);
  });
});

it('orders explain says how long others stayed in the status of the order', async () => {
  const run = await world();
  const { code, stdout } = await run('orders', 'explain', 'b', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ pace: { kind: 'learned', status: 'accepted', stays: 12 } });
  const before = await run('orders', 'explain', 'b', '--json', '--as-of', '2026-01-05T12:01:00Z');
  expect(JSON.parse(before.stdout)).toMatchObject({ state: 'accepted', pace: null });
});
