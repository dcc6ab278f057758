import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { nextGeneration } from '../../../src/store/tables/accounts.ts';
import { moveWebhookCursor, webhookCursor } from '../../../src/extensions/webhooks/tables/endpoints.ts';
import { delivering, endpointAt, webhookReceiver } from '../../support/webhooks.ts';
import { withWebhooks } from '../../support/webhook-tables.ts';

const KEY = { endpoint: 'shop', account: 'default' };

/** A worker with an event under way to its receiver; `answer` lets the receiver answer it. */
async function withEventUnderWay(isTrusted = () => true) {
  const receiver = await webhookReceiver(() => (response) => (waiting = response));
  const program = await delivering([endpointAt(receiver)], { isTrusted });
  let waiting: ServerResponse | undefined;
  await program.add('a', '1');
  await program.add('a', '2');
  await receiver.came(1);
  const answer = async (status: number) => {
    receiver.answer = () => 204;
    waiting?.writeHead(status).end();
    await program.webhooks.idle();
    await program.webhooks.eachSecond();
    await program.webhooks.idle();
  };
  return { receiver, program, answer };
}

it.each([
  ['takes', 204],
  ['refuses', 400],
])(
  'a worker that another has followed writes neither its cursor nor what was refused: the receiver %s',
  async (_how, status) => {
    const { program, answer } = await withEventUnderWay();
    const { store } = program;
    await store.forAccount('default').writer.write(async (tx) => {
      await nextGeneration(tx, 'default');
      await moveWebhookCursor(tx, { ...KEY, eventId: 7 });
    });
    await answer(status);
    expect(await webhookCursor(store.db, KEY)).toBe(7);
    expect(await withWebhooks(store.db).selectFrom('webhook_deliveries').selectAll().execute()).toEqual([]);
    expect(program.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  },
);

it('a worker sends no further event of an order while it may have been followed, and continues when it was not', async () => {
  let isTrusted = true;
  const { receiver, program, answer } = await withEventUnderWay(() => isTrusted);
  isTrusted = false;
  await answer(204);
  expect(receiver.deliveries).toHaveLength(1);
  isTrusted = true;
  await program.webhooks.eachSecond();
  await receiver.came(2);
  await program.webhooks.idle();
  await program.webhooks.eachSecond();
  expect(await webhookCursor(program.store.db, KEY)).toBe(2);
});
