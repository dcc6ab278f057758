import { describe, expect, it, vi } from 'vitest';
import { controlSocket, failureIn, scriptedControlSocket } from '../../support/control-socket.ts';
import type { ScriptedAnswer } from '../../support/scripted-exchange.ts';

describe('POST /sync', () => {
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('answers with one pass, in lines that end with its result', async () => {
    const on = await controlSocket();
    on.program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    const { status, headers, text } = await on.ask('POST', '/sync?scope=due&timeoutMs=60000');
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    expect(linesOf(text).at(-1)).toMatchObject({ type: 'result', end: 'done', summary: { sent: 2, accepted: 2 } });
  });

  it('tells its progress while it runs', async () => {
    const on = await scriptedControlSocket();
    on.program.insert({ external_order_id: 'a' });
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<ScriptedAnswer>();
    on.exchange.answer = () => {
      arrived.resolve();
      return released.promise;
    };
    const asked = on.ask('POST', '/sync');
    await arrived.promise;
    on.program.clock.advance(250);
    await on.program.clock.turn();
    released.resolve('reset');
    const lines = linesOf((await asked).text);
    expect(lines[0]).toMatchObject({ type: 'progress', counts: { failed: 0 }, requests: 2 });
    expect(lines.at(-1)).toMatchObject({ type: 'result', end: 'look', summary: { unknown: 1 } });
  });

  it('ends with an error when the pass fails, and the log says why', async () => {
    const on = await controlSocket();
    on.program.merchant.exec('alter table merchant_orders rename to gone');
    const { status, text } = await on.ask('POST', '/sync');
    expect([status, linesOf(text).at(-1)]).toMatchObject([200, { type: 'error' }]);
    expect(on.log.with('a request to the API began a pass, and the pass failed')).toHaveLength(1);
  });

  it.each(['scope=other', 'timeoutMs=0', 'timeoutMs=soon', 'timeoutMs=1e99'])('refuses %s with 400', async (query) => {
    const on = await controlSocket();
    const answer = await on.ask('POST', `/sync?${query}`);
    expect([answer.status, failureIn(answer).kind]).toEqual([400, 'invalid']);
  });

  it('stops the pass when its reader is gone, and finishes what is in flight', async () => {
    const on = await scriptedControlSocket({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' } });
    on.program.insert({ external_order_id: 'a' }, { external_order_id: 'b' }, { external_order_id: 'c' });
    const turns = vi.spyOn(on.program.app.exchange, 'turnToCreate');
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const { answer } = on.exchange;
    on.exchange.answer = async (request) => {
      arrived.resolve();
      await released.promise;
      return await answer(request);
    };
    const reader = new AbortController();
    const asked = on.ask('POST', '/sync', undefined, { signal: reader.signal });
    await arrived.promise;
    const [[, signal] = expect.fail()] = turns.mock.calls;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    reader.abort();
    await expect(asked).rejects.toThrow(/abort/);
    await stopped;
    released.resolve();
    await on.control.close();
    const states = on.program.merchant.prepare('select state from merchant_orders order by external_order_id').pluck();
    expect(states.all()).toEqual(['accepted', 'pending', 'pending']);
  });
});
