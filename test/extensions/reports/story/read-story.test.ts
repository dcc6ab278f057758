import { expect, it } from 'vitest';
import { describeKeptBack } from '../../../../src/extensions/operate/rules/problems.ts';
import { Ages } from '../../../../src/extensions/reports/ageing.ts';
import { readAges } from '../../../../src/extensions/reports/tables/summary.ts';
import { configOf } from '../../../../src/settings/config.ts';
import { isCommand } from '../../../../src/extensions/reports/story/next.ts';
import { storyOf } from '../../../../src/extensions/reports/story/read-story.ts';
import { createPass } from '../../../../src/orders/create.ts';
import { followPass } from '../../../../src/orders/follow.ts';
import { insertHappenings } from '../../../../src/store/tables/events.ts';
import { NOT_FOUND, record } from '../../../support/scripted-exchange.ts';
import { acceptedOrders, scriptedProgram } from '../../../support/test-program.ts';
import { HOUR, SECOND } from '../../../support/tracking.ts';

const NEVER = new AbortController().signal;

it('says of an order that the database does not let its owner write why nothing is done for it', async () => {
  const { program } = await acceptedOrders(['a']);
  const { app, clock, config } = program;
  const nextOf = async (blocked?: ReturnType<typeof describeKeptBack>) => {
    const told = await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now(), blocked });
    return told?.story.next.join('\n') ?? '';
  };
  const kept = await nextOf(describeKeptBack({ externalOrderId: 'a', cause: 'a trigger refuses it' }));
  expect(kept).toContain('a trigger refuses it');
  expect(kept).toContain('merchant_orders');
  expect(await nextOf()).not.toContain('a trigger refuses it');
});

const OUTAGE = {
  account: 'default',
  type: 'account',
  subject: 'default',
  field: 'exchange',
  source: 'exchange',
  old_value: null,
  new_value: 'out of reach',
  reason: 'ECONNREFUSED',
  actor: null,
} as const;

it('says of an order during an outage that it waits for the exchange, and not for a pass', async () => {
  const { program } = await acceptedOrders(['a']);
  const { app, clock, config } = program;
  await app.store.writer.write((tx) => insertHappenings(tx, [OUTAGE], clock.now()));
  const told = await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now() });
  expect(told?.story.next.slice(0, 2)).toEqual([
    expect.stringMatching(/not looked up: .*out of reach .*ECONNREFUSED.* by itself/),
    'order-sync doctor',
  ]);
  expect(told?.story.next.join()).not.toContain('when a pass runs');
  const now = await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now(), failure: 'HTTP 503' });
  expect(now?.story.next[0]).toMatch(/HTTP 503/);
});

it('says of an order that has ended that it waits for the exchange only when its look-up is due', async () => {
  const { program, answers, lookUp } = await acceptedOrders(['a'], {
    environment: { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED' },
  });
  const { app, clock, config } = program;
  answers.set('a', record('a', { status: 'COMPLETED' }));
  await lookUp(SECOND);
  await app.store.writer.write((tx) => insertHappenings(tx, [OUTAGE], clock.now()));
  const nextOf = async () =>
    (await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now() }))?.story.next.join() ?? '';
  expect(await nextOf()).not.toContain('out of reach');
  clock.advance(HOUR);
  expect(await nextOf()).toContain('out of reach');
});

it('says of an order that a person must decide about that it waits for the exchange, only when its look-up is due', async () => {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = ({ method }) => (method === 'POST' ? { status: 500 } : NOT_FOUND);
  const { app, clock, config } = program;
  program.insert({ external_order_id: 'a' });
  await createPass(app, NEVER);
  while (program.row('a')['state'] !== 'held') {
    clock.advance(HOUR);
    await followPass(app, 'due', NEVER);
  }
  await app.store.writer.write((tx) => insertHappenings(tx, [OUTAGE], clock.now()));
  const nextOf = async () =>
    (await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now() }))?.story.next ?? [];
  expect((await nextOf()).join()).not.toContain('out of reach');
  clock.advance(25 * HOUR);
  const next = await nextOf();
  const outage = next.findIndex((line) => line.includes('out of reach'));
  expect(outage).toBeGreaterThan(next.findIndex(isCommand));
});

it('has when the order is looked up now, and never of the past nor of an order that has ended', async () => {
  const { program, answers, lookUp } = await acceptedOrders(['a'], {
    environment: { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED' },
  });
  const { app, clock, config } = program;
  const spacing = { facts: { kind: 'strange' }, text: 'It is looked up at a strange pace.' };
  const told = async (asOf: Date) =>
    await storyOf(app.store, configOf(config, 'default'), 'a', { asOf, readSpacing: async () => spacing });
  const { story } = (await told(clock.now())) ?? {};
  expect(story?.pace).toEqual(spacing.facts);
  expect(story?.next).toContain(spacing.text);
  expect((await told(new Date('2026-01-05T11:59:59.000Z')))?.story.pace).toBeNull();
  answers.set('a', record('a', { status: 'COMPLETED', creationDate: '2025-01-05T12:00:00.000Z' }));
  await lookUp();
  expect((await told(clock.now()))?.story).toMatchObject({ state: 'disputed', pace: null });
});

it('has the state of a row that was inserted again, not the state of the deleted row with its id', async () => {
  const { program } = await scriptedProgram();
  const { app, clock, config } = program;
  program.insert({ external_order_id: 'a', asset: '-1' });
  await createPass(app, NEVER);
  expect(program.row('a')['state']).toBe('invalid');
  clock.advance(24 * HOUR);
  await app.store.writer.write((tx) => tx.deleteFrom('merchant_orders').where('external_order_id', '=', 'a').execute());
  program.insert({ external_order_id: 'a', asset: '1' });
  const asOf = new Date(Date.now() + SECOND);
  const again = (await storyOf(app.store, configOf(config, 'default'), 'a', { asOf }))?.story;
  expect(again).toMatchObject({ state: 'pending', headline: expect.stringContaining('2026-01-06') as string });
  expect(again?.next.join()).toContain('The order is sent');
  // The history of the id stays.
  expect(again?.told.map(({ at }) => at.slice(0, 10))).toEqual(['2026-01-05', '2026-01-06']);
  const ages = new Ages(asOf.toISOString(), 10);
  await readAges(app.store, { account: 'default', asOf: asOf.toISOString() }, ages);
  expect(ages.oldest()).toEqual([
    expect.objectContaining({ id: 'a', state: 'pending', since: clock.now().toISOString() }),
  ]);
});
