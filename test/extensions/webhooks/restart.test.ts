import { expect, it } from 'vitest';
import { delivering, endpointAt, nameOf, names, rowsOf, webhookReceiver } from '../../support/webhooks.ts';
import { withWebhooks } from '../../support/webhook-tables.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it('sends nothing again that came before what the process before it was refused', async () => {
  const receiver = await webhookReceiver((event) => (nameOf(event) === 'a 2' ? 400 : 204));
  const program = await delivering([endpointAt(receiver)]);
  for (const value of ['1', '2']) await program.add('a', value);
  await receiver.came(2);
  await program.webhooks.idle();
  expect(await rowsOf(program, 'retrying')).toMatchObject([{ event_id: 2, attempts: 1 }]);
  // The row and the cursor are written together: a process that is killed now has written both.
  expect(await withWebhooks(program.store.db).selectFrom('webhook_cursors').select('event_id').execute()).toEqual([
    { event_id: 2 },
  ]);
  await program.stop();
  await program.add('a', '3');
  receiver.answer = () => 204;
  await program.start();
  await program.pass(HOUR);
  expect(names(receiver.deliveries.map(({ event }) => event))).toEqual(['a 1', 'a 2', 'a 2', 'a 3']);
  expect(await withWebhooks(program.store.db).selectFrom('webhook_deliveries').selectAll().execute()).toEqual([]);
});

it('sends nothing once more after another process may own the account', async () => {
  const receiver = await webhookReceiver();
  let isTrusted = true;
  const program = await delivering([endpointAt(receiver)], { isTrusted: () => isTrusted });
  await program.add('a', '1');
  await receiver.came(1);
  await program.webhooks.idle();
  receiver.answer = () => (response) => {
    isTrusted = false;
    response.destroy();
  };
  await program.add('a', '2');
  await receiver.came(2);
  await program.webhooks.idle();
  expect(receiver.deliveries).toHaveLength(2);
  expect(program.webhooks.facts[0]?.failing).toBeNull();
});

it('says since when a receiver has taken nothing, also after a restart', async () => {
  const receiver = await webhookReceiver();
  const program = await delivering([endpointAt(receiver)]);
  const noted = async () =>
    await withWebhooks(program.store.db)
      .selectFrom('webhook_endpoints')
      .select(['failing_since', 'cause'])
      .executeTakeFirstOrThrow();
  await receiver.close();
  await program.add('a', '1');
  await program.pass(MINUTE);
  const before = await noted();
  expect(before).toEqual({ failing_since: expect.any(String) as string, cause: expect.any(String) as string });

  await program.stop();
  await program.start();
  expect(await noted()).toEqual(before);
  await program.pass(MINUTE);
  expect(await noted()).toMatchObject({ failing_since: before.failing_since });

  await receiver.open();
  await program.pass(HOUR);
  expect(await noted()).toEqual({ failing_since: null, cause: null });
  await receiver.close();
  await program.add('a', '2');
  await program.pass(MINUTE);
  expect((await noted()).failing_since! > before.failing_since!).toBe(true);
});
