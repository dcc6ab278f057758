import { beforeEach, expect, it } from 'vitest';
import { feedEventOf, type FeedEvent } from '../../../src/extensions/feed/event.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { readFeed } from '../../../src/extensions/feed/tables/events.ts';
import { echo, NOT_FOUND, record, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { DAY } from '../../support/tracking.ts';
import { checkChains } from '../../../src/extensions/restore/tables/chain.ts';

const NEVER = new AbortController().signal;
const OUTAGE = { status: 503, body: '' };

let program: TestProgram;
let answer: ScriptedAnswer;
beforeEach(async () => {
  const scripted = await scriptedProgram();
  ({ program } = scripted);
  scripted.exchange.answer = (request) => (request.method === 'POST' ? echo(request) : answer);
});

async function lookUp(next: ScriptedAnswer): Promise<void> {
  answer = next;
  program.clock.advance(DAY);
  await followPass(program.app, 'all', NEVER);
}

async function feed(afterId = 0): Promise<readonly FeedEvent[]> {
  const rows = await readFeed(program.app.store.db, { account: 'default', afterId, limit: 100 });
  return rows.map(feedEventOf);
}

const typesOf = (events: readonly FeedEvent[]) => events.map(({ type }) => type);

it('tells of states, statuses, fields and findings in the order in which they were committed, each by an id of its own', async () => {
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, NEVER);
  await lookUp(NOT_FOUND);
  await lookUp(record('a', { status: 'PROCESSING' }));
  await lookUp(record('a', { status: 'PROCESSING', resultMessage: 'soon' }));
  const events = await feed();
  expect(typesOf(events).slice(0, 3)).toEqual(['order.state_changed', 'order.state_changed', 'finding.opened']);
  expect(events[2]?.data).toMatchObject({ externalOrderId: 'a', class: 'ORDER_MISSING', severity: 'warning' });
  expect(new Set(typesOf(events.slice(3)))).toEqual(
    new Set(['order.state_changed', 'order.status_changed', 'order.field_changed', 'finding.resolved']),
  );
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const [, , third] = events;
  expect(await feed(third?.cursor)).toEqual(events.slice(3));
  expect(await checkChains(program.app.store.db)).toEqual({ events: events.length, broken: null });
});

it('asks for attention when an order is disputed, beside the change of its state', async () => {
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, NEVER);
  const { cursor } = (await feed()).at(-1) ?? {};
  await lookUp(record('a', { orderType: 'WITHDRAWAL' }));
  const asking = (await feed(cursor)).filter(({ type }) => type === 'order.needs_attention');
  expect(asking.map(({ data }) => data)).toMatchObject([{ externalOrderId: 'a', newValue: 'disputed' }]);
});

it('tells once that the exchange is out of reach and once that it is back, also over a restart', async () => {
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' }, { external_order_id: 'c' });
  await createPass(program.app, NEVER);
  const reach = async () => typesOf(await feed()).filter((type) => type.startsWith('account.'));
  for (let tries = 0; tries < 4; tries += 1) await lookUp(OUTAGE);
  await program.app.eachSecond();
  expect(await reach()).toEqual(['account.out_of_reach']);
  await program.restart();
  for (let tries = 0; tries < 2; tries += 1) await lookUp(record('a'));
  expect(await reach()).toEqual(['account.out_of_reach', 'account.back']);
});

it('wakes who listens once events are committed, and not after that', async () => {
  const heard: string[] = [];
  const listening = program.app.store.newEvents.listen((account) => heard.push(account));
  program.insert({ external_order_id: 'a' });
  await createPass(program.app, NEVER);
  expect(heard.length).toBeGreaterThan(0);
  expect(new Set(heard)).toEqual(new Set(['default']));
  listening[Symbol.dispose]();
  const before = heard.length;
  await lookUp(record('a'));
  expect(heard).toHaveLength(before);
});
