import { expect, it } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { openListeners, type Listen } from '../../../src/orders/pass/process-events.ts';
import { echo, record } from '../../support/scripted-exchange.ts';
import { scriptedProgram } from '../../support/test-program.ts';
import { DAY } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

it('an account without listeners logs each failure and each new status by itself', async () => {
  const { program, exchange } = await scriptedProgram({ overrides: { listeners: [] } });
  program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
  exchange.answer = (request) => (request.method === 'POST' ? { status: 429 } : record(request.externalOrderId));
  await createPass(program.app, NEVER);
  program.clock.advance(DAY);
  await createPass(program.app, NEVER);
  expect(program.log.with('order was not taken')).toMatchObject([{ level: 'warn' }, { level: 'warn' }]);
  exchange.answer = (request) =>
    request.method === 'POST' ? echo(request) : record(request.externalOrderId, { status: 'ODD' });
  program.clock.advance(DAY);
  await createPass(program.app, NEVER);
  program.clock.advance(DAY);
  await followPass(program.app, 'all', NEVER);
  const unseen = program.log.with('the exchange uses a status that was not seen before');
  expect(unseen).toMatchObject([{ level: 'info', field: 'order.status', value: 'ODD' }]);
  await program.app.eachSecond();
});

it('listeners hear of each event in turn, and the opened ones are closed if another cannot be', async () => {
  const heard: string[] = [];
  const listen =
    (name: string): Listen =>
    async ({ account }) => ({
      hear: ({ kind }) => void heard.push(`${name} ${account} ${kind}`),
      eachSecond: async () => void heard.push(`${name} second`),
      close: () => void heard.push(`${name} closes`),
    });
  const account = { account: 'default' } as Parameters<Listen>[0];
  {
    using listeners = await openListeners(account, [listen('a'), listen('b')]);
    listeners.tell({ kind: 'record.read' });
    await listeners.eachSecond();
  }
  const each = ['a default record.read', 'b default record.read', 'a second', 'b second'];
  expect(heard.splice(0)).toEqual([...each, 'b closes', 'a closes']);
  const failing: Listen = () => Promise.reject(new Error('the database is gone'));
  await expect(openListeners(account, [listen('a'), failing])).rejects.toThrow('gone');
  expect(heard).toEqual(['a closes']);
});
