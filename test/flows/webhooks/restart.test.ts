import { expect, it } from 'vitest';
import { park } from '../../../src/store/webhooks/parked.ts';
import { delivering, endpointAt, names, parkedOf, webhookReceiver } from '../../support/webhooks.ts';

const HOUR = 3_600_000;

it('sends nothing again that came before what the process before it has parked', async () => {
  const receiver = await webhookReceiver();
  const program = await delivering([endpointAt(receiver)]);
  await program.stop();
  for (const value of ['1', '2', '3']) await program.add('a', value);
  // It was killed when the endpoint had taken the first event and refused the second one, before the cursor was written.
  const since = new Date(program.clock.now().getTime() - HOUR).toISOString();
  const key = { endpoint: 'shop', account: 'default', kind: 'order', subject: 'a' } as const;
  const row = { ...key, from_event_id: 2, tries: 1, next_try_at: since, status: 500, since };
  await program.store.writer.write(async (tx) => await park(tx, row));
  await program.start();
  await program.pass(HOUR);
  expect(names(receiver.deliveries.map(({ event }) => event))).toEqual(['a 2', 'a 3']);
  expect(await parkedOf(program)).toEqual([]);
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
