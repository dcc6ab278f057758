import { describe, expect, it } from 'vitest';
import { learnedText } from '../../../src/extensions/pace/explain.ts';
import { learningPaces } from '../../../src/extensions/pace/follow-pace.ts';
import { trackingOf } from '../../../src/store/orders/order-columns.ts';
import { readOrder } from '../../../src/store/orders/orders.ts';
import { record } from '../../support/scripted-exchange.ts';
import { acceptedOrders, type TestProgram } from '../../support/test-program.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

const { signal } = new AbortController();
const ids = Array.from({ length: 12 }, (_, index) => `a-${index}`);
const LEARNED = { environment: { ORDER_SYNC_FOLLOW_PACE: 'learned' } };

async function paceOf({ app, config, clock }: TestProgram, externalOrderId: string) {
  const row = await readOrder(app.store.db, 'default', externalOrderId);
  if (row === undefined) throw new Error('there is no order');
  const deps = { account: 'default', store: app.store, clock };
  return await learningPaces(1)(config).explain(deps, trackingOf(row), MINUTE, signal);
}

it('an order is compared with all that have left its status', async () => {
  const { program, answers, lookUp } = await acceptedOrders([...ids, 'b'], LEARNED);
  await lookUp(3 * MINUTE);
  for (const id of ids) answers.set(id, record(id));
  await lookUp(MINUTE);
  const { kind, learned, text } = await paceOf(program, 'b');
  expect([kind, learned]).toMatchObject(['learned', { stays: 12 }]);
  const { halfMs } = learned as { halfMs: number };
  expect(halfMs / MINUTE).toBeGreaterThan(2.5);
  expect(halfMs / MINUTE).toBeLessThan(4);
  expect(text).toMatch(/\b12 accepted orders\b.*\b1 min\b/);
  const fresh = await paceOf(program, 'a-0');
  expect(fresh).toMatchObject({ learned: { stays: 0 } });
  expect(fresh.text).toContain('REQUEST / NEW / NEW');
});

it('an order may be looked up at each tick, whatever others did', async () => {
  const cron = await acceptedOrders(['a'], { environment: { ORDER_SYNC_FOLLOW_PACE: 'every-tick' } });
  await cron.lookUp(SECOND);
  const { kind, learned, text } = await paceOf(cron.program, 'a');
  expect([kind, learned]).toEqual(['every-tick', undefined]);
  expect(text).toContain('schedule.cron');
});

describe('what was learned of a status', () => {
  const LEARNED_OF = { status: 'accepted', stays: 1_204, halfMs: 240_000, forMs: 360_000 };

  it('is compared with how long an order has been in it', () => {
    expect(learnedText(LEARNED_OF)).toMatch(/\b1,204 .*\baccepted\b.*\b4 min\b.*\b6 min\b/);
    expect(learnedText({ ...LEARNED_OF, halfMs: Number.POSITIVE_INFINITY })).not.toMatch(/Infinity|NaN/);
    expect(learnedText({ ...LEARNED_OF, stays: 9 })).not.toContain('4 min');
  });
});
