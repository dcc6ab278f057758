import { expect, it } from 'vitest';
import { configOf } from '../../../../src/settings/config.ts';
import { paceOfOrder, storyOf } from '../../../../src/extensions/reports/story/read-story.ts';
import { learningPaces } from '../../../../src/extensions/pace/follow-pace.ts';
import { readStory } from '../../../../src/extensions/reports/tables/story.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { acceptedOrders, type TestProgram } from '../../../support/test-program.ts';
import { MINUTE, SECOND } from '../../../support/tracking.ts';

const { signal } = new AbortController();
const ids = Array.from({ length: 12 }, (_, index) => `a-${index}`);
const LEARNED = { environment: { ORDER_SYNC_FOLLOW_PACE: 'learned' } };

async function makePaces({ app, config, clock }: TestProgram, externalOrderId: string) {
  const rows = await readStory(app.store, 'default', externalOrderId);
  if (rows === undefined) throw new Error('there is no order');
  const deps = { account: 'default', store: app.store, clock, pace: learningPaces(1)(config) };
  return await paceOfOrder(deps, rows.order, signal);
}

it('an order is compared with all that have left its status', async () => {
  const { program, answers, lookUp } = await acceptedOrders([...ids, 'b'], LEARNED);
  await lookUp(3 * MINUTE);
  for (const id of ids) answers.set(id, record(id));
  await lookUp(MINUTE);
  const pace = await makePaces(program, 'b');
  expect(pace).toMatchObject({ kind: 'learned', status: 'accepted', since: '2026-01-05T12:00:00.000Z', stays: 12 });
  const { halfMs } = pace as { halfMs: number };
  expect(halfMs / MINUTE).toBeGreaterThan(2.5);
  expect(halfMs / MINUTE).toBeLessThan(4);
  expect(await makePaces(program, 'a-0')).toMatchObject({ status: 'REQUEST / NEW / NEW', stays: 0 });
});

it('an order may be looked up at each tick, whatever others did', async () => {
  const cron = await acceptedOrders(['a'], { environment: { ORDER_SYNC_FOLLOW_PACE: 'every-tick' } });
  await cron.lookUp(SECOND);
  expect(await makePaces(cron.program, 'a')).toMatchObject({ kind: 'every-tick', status: 'accepted' });
});

it('says of an order that the database does not let its owner write why nothing is done for it', async () => {
  const { program } = await acceptedOrders(['a', 'b']);
  const { app, clock, config } = program;
  const keptBack = [{ externalOrderId: 'a', since: clock.now().toISOString(), cause: 'a trigger refuses it' }];
  const nextOf = async (id: string) => {
    const told = await storyOf(app.store, configOf(config, 'default'), id, { asOf: clock.now(), keptBack });
    return told?.story.next.join('\n') ?? '';
  };
  expect(await nextOf('a')).toContain('a trigger refuses it');
  expect(await nextOf('a')).toContain('merchant_orders');
  expect(await nextOf('b')).not.toContain('a trigger refuses it');
});
