import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type FeedEvent, feedEventOf } from '../../../src/extensions/feed/event.ts';
import { readFeed } from '../../../src/extensions/feed/tables/events.ts';
import type { Delivery } from '../../../src/extensions/webhooks/delivery.ts';
import { writeDeliveries } from '../../../src/extensions/webhooks/tables/deliveries.ts';
import {
  delivering,
  nameOf,
  names,
  rowsOf,
  endpointAt,
  OLD_SECRET,
  SECRET,
  webhookReceiver,
  type Delivering,
} from '../../support/webhooks.ts';
import { DAY } from '../../support/tracking.ts';
import { withWebhooks } from '../../support/webhook-tables.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

describe('a receiver that takes events', () => {
  it('gets each event of the feed once, as the feed has it, signed, in order per order', async () => {
    const receiver = await webhookReceiver();
    const program = await delivering([endpointAt(receiver)], { accounts: ['default', 'shop-2'] });
    for (const value of ['1', '2', '3']) {
      for (const order of ['a', 'b']) await program.add(order, value, order === 'a' ? 'default' : 'shop-2');
    }
    await receiver.came(6);
    const events = await readFeed(program.store.db, { account: 'default', afterId: 0, limit: 10 });
    const ofDefault = receiver.taken.filter(({ account }) => account === 'default');
    expect(ofDefault).toEqual(events.map(feedEventOf));
    expect(names(ofDefault)).toEqual(['a 1', 'a 2', 'a 3']);
    expect(receiver.taken).toHaveLength(6);
    expect(receiver.deliveries[0]?.headers).toMatchObject({ 'webhook-id': receiver.taken[0]?.id });
  });

  it('begins with the events after it was first in the settings, and continues over a restart', async () => {
    const receiver = await webhookReceiver();
    const program = await delivering([]);
    await program.add('a', 'before');
    await program.stop();
    await program.start([endpointAt(receiver)]);
    await program.add('a', '1');
    await receiver.came(1);
    await program.webhooks.idle();
    await program.stop();
    await program.add('a', '2');
    await program.add('b', '1');
    await program.start([endpointAt(receiver)]);
    await receiver.came(3);
    await program.webhooks.idle();
    expect(names(receiver.taken).toSorted()).toEqual(['a 1', 'a 2', 'b 1']);
  });

  it('gets only the types that it asks for', async () => {
    const receiver = await webhookReceiver();
    const none = await webhookReceiver();
    const settings = { events: ['order.needs_attention'] };
    const others = { name: 'other', events: ['finding.*', 'order.state_changed'] };
    const program = await delivering([endpointAt(receiver, settings), endpointAt(none, others)]);
    await program.add('a', '1');
    await program.webhooks.idle();
    await program.stop();
    expect([names(receiver.taken), names(none.taken)]).toEqual([['a 1'], []]);
    const cursors = await withWebhooks(program.store.db).selectFrom('webhook_cursors').select('event_id').execute();
    expect(cursors.map(({ event_id }) => event_id)).toEqual([1, 1]);
  });

  it('verifies with the old secret as well as with the new one while both are set', async () => {
    const [before, after] = [await webhookReceiver(), await webhookReceiver()];
    before.secret = OLD_SECRET;
    const secrets = [SECRET, OLD_SECRET];
    const program = await delivering([
      endpointAt(before, { name: 'before', secrets }),
      endpointAt(after, { name: 'after', secrets }),
    ]);
    await program.add('a', '1');
    await Promise.all([before.came(1), after.came(1)]);
    expect(names([...before.taken, ...after.taken])).toEqual(['a 1', 'a 1']);
  });
});

describe('a receiver that fails as a whole', () => {
  it.each([
    ['answers 503', 503],
    ['answers 429', 429],
    ['answers 408', 408],
    ['redirects', 302],
  ])('%s: its cursor stands still, and it gets the same ids once it is back', async (_what, status) => {
    const receiver = await webhookReceiver(() => status);
    const program = await delivering([endpointAt(receiver)]);
    await program.add('a', '1');
    await program.add('a', '2');
    await receiver.came(1);
    await program.webhooks.idle();
    expect(program.webhooks.facts[0]?.failing).not.toBeNull();
    receiver.answer = () => 204;
    await program.pass(5 * SECOND);
    await program.webhooks.idle();
    expect(names(receiver.taken)).toEqual(['a 1', 'a 2']);
    expect(receiver.taken[0]?.id).toBe(receiver.deliveries[0]?.event.id);
    expect(await rowsOf(program, 'retrying')).toEqual([]);
    expect(program.log.with(/webhook endpoint accepts/).map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  it('is tried by one event, at most once an hour, and nothing is lost in a week', async () => {
    const receiver = await webhookReceiver();
    const program = await delivering([endpointAt(receiver)]);
    await receiver.close();
    for (const order of ['a', 'b', 'c']) await program.add(order, '1');
    await program.pass(7 * DAY);
    await program.add('a', '2');
    await receiver.open();
    await program.pass(HOUR);
    await program.webhooks.idle();
    expect(names(receiver.taken).toSorted()).toEqual(['a 1', 'a 2', 'b 1', 'c 1']);
    expect(await rowsOf(program, 'dead')).toEqual([]);
  });

  it('keeps no other receiver waiting', async () => {
    const [hanging, well] = [await webhookReceiver(() => () => {}), await webhookReceiver()];
    const program = await delivering([endpointAt(hanging, { name: 'hanging' }), endpointAt(well)]);
    for (let number = 1; number <= 300; number += 1) await program.add(`order ${number}`, '1');
    await well.came(300);
    expect(hanging.deliveries.length).toBeLessThanOrEqual(8);
  });

  it('is waited for as long as it asks, up to an hour', async () => {
    const busy = (response: ServerResponse) => response.writeHead(429, { 'retry-after': '60' }).end();
    const receiver = await webhookReceiver(() => busy);
    const program = await delivering([endpointAt(receiver)]);
    await program.add('a', '1');
    await receiver.came(1);
    await program.webhooks.idle();
    receiver.answer = () => 204;
    await program.pass(59 * SECOND);
    expect(receiver.deliveries).toHaveLength(1);
    await program.pass(SECOND);
    expect(names(receiver.taken)).toEqual(['a 1']);
  });

  it('that refuses whatever comes stands still, and retries the events of no more than ten orders', async () => {
    const receiver = await webhookReceiver(() => 404);
    const program = await delivering([endpointAt(receiver)]);
    for (let number = 1; number <= 50; number += 1) await program.add(`order ${number}`, '1');
    await program.webhooks.idle();
    await program.pass(2 * DAY);
    expect(await rowsOf(program, 'retrying')).toHaveLength(10);
    expect(await rowsOf(program, 'dead')).toEqual([]);
    receiver.answer = () => 204;
    await program.pass(HOUR + 2 * SECOND);
    expect(new Set(names(receiver.taken)).size).toBe(50);
    expect(await rowsOf(program, 'retrying')).toEqual([]);
  });
});

describe('a receiver that is back and refuses the event that tries it', () => {
  it('is failing by what it answers now, and takes the next events when it is tried again', async () => {
    const receiver = await webhookReceiver(() => 503);
    const program = await delivering([endpointAt(receiver)]);
    await program.add('bad', '1');
    await receiver.came(1);
    await program.webhooks.idle();
    receiver.answer = (event) => (nameOf(event) === 'bad 1' ? 400 : 204);
    await program.pass(6 * SECOND);
    const { failing } = program.webhooks.facts[0]!;
    expect(failing?.cause).toContain('400');
    expect(failing?.nextTryAt.getTime()).toBeGreaterThan(program.clock.now().getTime());
    await program.add('good', '1');
    await program.pass(10 * SECOND);
    expect(names(receiver.taken)).toEqual(['good 1']);
    expect(program.webhooks.facts[0]?.failing).toBeNull();
  });
});

describe('a receiver that fails at one event, and takes others', () => {
  it.each([
    ['answers 500', 500],
    ['breaks off', (response: ServerResponse) => void response.destroy()],
  ])('%s: it gets the others of all accounts, and that event is retried', async (_what, failure) => {
    const receiver = await webhookReceiver((event) => (nameOf(event) === 'bad 1' ? failure : 204));
    const program = await delivering([endpointAt(receiver)], { accounts: ['default', 'shop-2'] });
    for (const value of ['1', '2']) await program.add('bad', value);
    for (let number = 1; number <= 150; number += 1) await program.add(`order ${number}`, '1');
    await program.add('other', '1', 'shop-2');
    await program.pass(60 * SECOND);
    expect(receiver.taken).toHaveLength(151);
    expect(await rowsOf(program, 'retrying')).toMatchObject([{ subject: 'bad', event_id: 1 }]);
    expect(program.webhooks.facts[0]?.failing).toBeNull();
    receiver.answer = () => 204;
    await program.pass(DAY);
    expect(names(receiver.taken).slice(151)).toEqual(['bad 1', 'bad 2']);
  });
});

describe('a receiver that refuses one order', () => {
  const refusing = (value: string) => (event: FeedEvent) => (nameOf(event) === `bad ${value}` ? 400 : 204);

  it('gets the others, and the later events of that order behind the one that it refused', async () => {
    const receiver = await webhookReceiver(refusing('1'));
    const program = await delivering([endpointAt(receiver)]);
    for (const value of ['1', '2']) for (const order of ['bad', 'good']) await program.add(order, value);
    await receiver.came(3);
    await program.webhooks.idle();
    expect(names(receiver.taken)).toEqual(['good 1', 'good 2']);
    expect(await rowsOf(program, 'retrying')).toMatchObject([
      { kind: 'order', subject: 'bad', answer: 400, attempts: 1 },
    ]);
    await program.stop();
    receiver.answer = () => 204;
    await program.start();
    await program.add('bad', '3');
    await program.pass(61 * SECOND);
    expect(names(receiver.taken).slice(2)).toEqual(['bad 1', 'bad 2', 'bad 3']);
    expect(await rowsOf(program, 'retrying')).toEqual([]);
    await program.add('bad', '4');
    await receiver.came(7);
    expect(names(receiver.taken).at(-1)).toBe('bad 4');
  });

  it('is tried ten times in 24 h; then that event is a dead letter, and the order continues', async () => {
    const receiver = await webhookReceiver(refusing('1'));
    const program = await delivering([endpointAt(receiver)]);
    for (const [order, value] of [
      ['bad', '1'],
      ['good', '1'],
      ['bad', '2'],
    ] as const)
      await program.add(order, value);
    await receiver.came(2);
    await program.pass(23 * HOUR);
    expect(await rowsOf(program, 'dead')).toEqual([]);
    await program.pass(2 * HOUR);
    expect(receiver.deliveries.filter(({ status }) => status === 400)).toHaveLength(11);
    expect(await rowsOf(program, 'dead')).toMatchObject([{ event_id: 1, answer: 400 }]);
    expect(names(receiver.taken)).toEqual(['good 1', 'bad 2']);
    expect(await rowsOf(program, 'retrying')).toEqual([]);
  });
});

describe('a receiver that refuses events of a thousand orders', () => {
  it('gets the good ones all the same: what it refuses beyond them is a dead letter at once', async () => {
    const receiver = await webhookReceiver((event) => (nameOf(event).startsWith('bad') ? 400 : 204));
    const program = await delivering([]);
    await program.stop();
    await refusedLongAgo(program, 1_000);
    await program.start([endpointAt(receiver)]);
    for (const [order, value] of [
      ['bad', '1'],
      ['good', '1'],
      ['bad', '2'],
      ['worse bad', '1'],
      ['good', '2'],
    ] as const)
      await program.add(order, value);
    await receiver.came(5);
    await program.webhooks.idle();
    // Events of different orders are beside each other.
    expect(names(receiver.taken).toSorted()).toEqual(['good 1', 'good 2', 'worse bad 1']);
    expect(await rowsOf(program, 'dead')).toMatchObject([{ answer: 400 }, { answer: 400 }]);
    expect(await rowsOf(program, 'retrying')).toHaveLength(1_000);
    expect(program.webhooks.facts[0]?.failing).toBeNull();
    expect(program.log.with(/dead letters at once/)).toHaveLength(1);
  });

  it('stands still after ten refusals in a row, also when they are of one order', async () => {
    const receiver = await webhookReceiver(() => 401);
    const program = await delivering([]);
    await program.stop();
    await refusedLongAgo(program, 1_000);
    await program.start([endpointAt(receiver)]);
    for (let value = 1; value <= 30; value += 1) await program.add('a', String(value));
    await program.webhooks.idle();
    expect(program.webhooks.facts[0]?.failing).not.toBeNull();
    expect(await rowsOf(program, 'dead')).toHaveLength(10);
  });
});

/** Orders of which an event was refused, and is not sent again for a day. */
async function refusedLongAgo({ store }: Delivering, count: number): Promise<void> {
  const [since, next_attempt_at] = [new Date().toISOString(), new Date(Date.now() + DAY).toISOString()];
  const refused = { attempts: 9, next_attempt_at, failed_at: since, answer: 400, since } as const;
  const key = { endpoint: 'shop', account: 'default', kind: 'order', status: 'retrying' } as const;
  const kept = Array.from({ length: count }, (_, index): Delivery => ({
    ...key,
    ...refused,
    subject: `bad ${index + 1}`,
    event_id: 1_000_000 + index,
  }));
  await store.writer.write(async (tx) => await writeDeliveries(tx, { kept, ended: [], followed: [] }));
}
