import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/extensions/feed/event.ts';
import { delivering, endpointAt, nameOf, names, rowsOf, webhookReceiver } from '../../support/webhooks.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const asking = (response: ServerResponse) => response.writeHead(429, { 'retry-after': '60' }).end();

describe('a receiver that asks to wait', () => {
  it.each([
    ['and takes what was under way beside it', 204],
    ['after another answer without a wait', 503],
  ])('is waited for as long as it asks %s', async (_what, beside) => {
    const held: ServerResponse[] = [];
    const receiver = await webhookReceiver(() => (response) => void held.push(response));
    const program = await delivering([endpointAt(receiver)], { accounts: ['default', 'shop-2'] });
    await program.add('a', '1');
    await program.add('b', '1', 'shop-2');
    await receiver.came(2);
    const [one, other] = held as [ServerResponse, ServerResponse];
    const answers = [() => asking(one), () => other.writeHead(beside).end()];
    for (const answer of beside === 204 ? answers : answers.toReversed()) {
      const { failedAt, takenAt } = program.webhooks.facts[0] ?? {};
      program.clock.advance(1);
      answer();
      await expect.poll(() => program.webhooks.facts[0]).not.toMatchObject({ failedAt, takenAt });
    }
    await program.webhooks.idle();
    receiver.answer = () => 204;
    await program.pass(59 * SECOND);
    expect(receiver.deliveries).toHaveLength(2);
    await program.pass(2 * SECOND);
    expect(receiver.deliveries.length).toBeGreaterThan(2);
  });

  it('is waited for by all accounts, also if the account of the event has another owner by then', async () => {
    const held: ServerResponse[] = [];
    const receiver = await webhookReceiver(() => (response) => void held.push(response));
    let isTrusted = true;
    const accounts = ['default', 'shop-2'];
    const program = await delivering([endpointAt(receiver)], { accounts, isTrusted: () => isTrusted });
    await program.add('a', '1');
    await receiver.came(1);
    isTrusted = false;
    asking(held[0]!);
    await program.webhooks.idle();
    isTrusted = true;
    receiver.answer = () => 204;
    await program.add('b', '1', 'shop-2');
    await program.pass(59 * SECOND);
    expect(receiver.deliveries).toHaveLength(1);
    await program.pass(2 * SECOND);
    expect(names(receiver.taken).toSorted()).toEqual(['a 1', 'b 1']);
  });
});

describe('an event that a receiver fails at for ever', () => {
  const fails = (event: FeedEvent) => nameOf(event).startsWith('bad');

  it('keeps no later event waiting once it is retried, after a quiet time or a restart', async () => {
    const receiver = await webhookReceiver((event) => (fails(event) ? 500 : 204));
    const program = await delivering([endpointAt(receiver)]);
    await program.add('bad', '1');
    await program.add('a', '1');
    await program.pass(30 * SECOND);
    expect(await rowsOf(program, 'retrying')).toHaveLength(1);
    for (const [order, begin] of [
      ['b', async () => {}],
      [
        'c',
        async () => {
          await program.stop();
          await program.start();
        },
      ],
    ] as const) {
      await begin();
      await program.pass(5 * HOUR);
      await program.add(order, '1');
      await program.pass(2 * HOUR);
      expect(names(receiver.taken)).toContain(`${order} 1`);
    }
  });

  it('keeps no other order waiting, however many events of its own come before', async () => {
    const receiver = await webhookReceiver((event) => (fails(event) ? 500 : 204));
    const program = await delivering([endpointAt(receiver)]);
    for (let index = 1; index <= 250; index += 1) await program.add('bad', String(index));
    await program.add('a', '1');
    await program.pass(HOUR);
    expect(names(receiver.taken)).toEqual(['a 1']);
  });

  it('keeps no event of another account waiting, if it is answered by nothing', async () => {
    const receiver = await webhookReceiver((event) => (fails(event) ? (response) => void response.destroy() : 204));
    const program = await delivering([endpointAt(receiver)], { accounts: ['default', 'shop-2'] });
    await program.add('bad', '1');
    await program.add('bad', '1', 'shop-2');
    await program.pass(HOUR);
    await program.add('a', '1', 'shop-2');
    await program.pass(3 * HOUR);
    expect(names(receiver.taken)).toEqual(['a 1']);
  });

  it('keeps no other waiting that it failed at with it', async () => {
    const receiver = await webhookReceiver(() => 503);
    const program = await delivering([endpointAt(receiver)]);
    for (const order of ['bad', 'a', 'b']) await program.add(order, '1');
    await program.pass(HOUR);
    receiver.answer = (event) => (fails(event) ? 500 : 204);
    await program.pass(5 * HOUR);
    expect(names(receiver.taken).toSorted()).toEqual(['a 1', 'b 1']);
  });
});
