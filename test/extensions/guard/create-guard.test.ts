import { describe, expect, it } from 'vitest';
import { assumeRowSent } from '../../../src/orders/fail-over.ts';
import { createPass } from '../../../src/orders/create.ts';
import { endHolds } from '../../../src/store/tables/account-holds.ts';
import { readFeed } from '../../../src/extensions/feed/tables/events.ts';
import { lockOrder } from '../../../src/store/orders/orders.ts';
import { echo, refusal } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { HOUR, MINUTE } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;

async function guarded(environment: Record<string, string>) {
  const { program, exchange } = await scriptedProgram({ environment });
  exchange.answer = (request) => echo(request, { id: request.externalOrderId });
  const insert = (count: number, prefix = 'o', asset = '1') =>
    program.insert(
      ...Array.from({ length: count }, (_, index) => ({ external_order_id: `${prefix}${String(index)}`, asset })),
    );
  return { program, exchange, insert, create: () => createPass(program.app, NEVER) };
}

const resume = async ({ app, clock }: TestProgram) => {
  await app.store.writer.write((tx) =>
    endHolds(tx, app.account, ['guarded'], { reason: 'checked', actor: 'ann', now: clock.now() }),
  );
  await app.restraints.read();
};
const kinds = ({ app }: TestProgram) => app.restraints.all.map(({ kind }) => kind);
const pending = ({ merchant }: TestProgram) =>
  Number(merchant.prepare(`select count(*) from merchant_orders where state = 'pending'`).pluck().get());

describe('guard.createsPerHour', () => {
  const environment = { ORDER_SYNC_GUARD_CREATES_PER_HOUR: '10' };

  it('stops creates before one more passes it, with many at a time, and says so in the feed', async () => {
    const { program, exchange, insert, create } = await guarded(environment);
    insert(30);
    await create();
    expect([exchange.count('POST'), pending(program), kinds(program)]).toEqual([10, 20, ['guarded']]);
    expect(program.app.restraints.all[0]?.reason).toContain('guard.createsPerHour is 10');
    const { account, store } = program.app;
    const feed = await readFeed(store.db, { account, afterId: 0, limit: 1_000 });
    expect(feed.filter(({ type }) => type === 'account').map((one) => one.new_value)).toEqual(['guarded']);
    // The hour alone changes nothing: a person allows more creates.
    program.clock.advance(2 * HOUR);
    await create();
    expect(exchange.count('POST')).toBe(10);
  });

  it('outlasts a crash, counts what the process before has sent, and counts anew once a person allows more creates', async () => {
    const { program, exchange, insert, create } = await guarded(environment);
    insert(6);
    await create();
    await program.restart();
    insert(30, 'p');
    await create();
    expect([exchange.count('POST'), kinds(program)]).toEqual([10, ['guarded']]);
    await program.restart();
    await create();
    expect([exchange.count('POST'), kinds(program)]).toEqual([10, ['guarded']]);
    program.clock.advance(MINUTE);
    await resume(program);
    await create();
    expect([exchange.count('POST'), kinds(program)]).toEqual([20, ['guarded']]);
    program.clock.advance(MINUTE);
    await resume(program);
    program.clock.advance(1);
    await program.restart();
    await create();
    expect([exchange.count('POST'), kinds(program)]).toEqual([30, ['guarded']]);
  });

  it('counts no create that was not taken', async () => {
    const { program, exchange, insert, create } = await guarded(environment);
    exchange.answer = (request) =>
      request.externalOrderId.startsWith('bad') ? refusal(400, 'no such pair') : echo(request);
    insert(30, 'bad');
    insert(10);
    await create();
    expect([pending(program), exchange.count('POST'), kinds(program)]).toEqual([0, 40, []]);
  });

  it('counts no order that a fail-over left in doubt, though an earlier create of it was sent within the hour', async () => {
    const { program, exchange, insert, create } = await guarded(environment);
    const { account, store } = program.app;
    const answer = exchange.answer;
    exchange.answer = () => ({ status: 429, headers: { 'retry-after': '1' } });
    insert(1, 'doubted');
    await create();
    program.clock.advance(MINUTE);
    await store.writer.write(async (tx) => {
      const row = await lockOrder(tx, account, 'doubted0');
      if (row !== undefined)
        await assumeRowSent(tx, row, { source: 'create', reason: 'a fail-over', failOver: 1 }, program.app);
    });
    await program.restart();
    exchange.answer = answer;
    insert(10);
    await create();
    const doubted = program.merchant.prepare(`select state, attempts from merchant_orders where state <> 'accepted'`);
    expect(doubted.all()).toEqual([{ state: 'unknown', attempts: 2 }]);
    expect([pending(program), kinds(program)]).toEqual([0, []]);
  });

  it('counts over a sliding hour', async () => {
    const { program, exchange, insert, create } = await guarded(environment);
    for (const prefix of ['a', 'b', 'c']) {
      insert(5, prefix);
      await create();
      program.clock.advance(31 * MINUTE);
    }
    expect([exchange.count('POST'), kinds(program)]).toEqual([15, []]);
  });
});

describe('guard.assetPerHour', () => {
  it('stops creates before the amounts of a pair pass it, to the last digit', async () => {
    const limits = JSON.stringify([{ from: 'BTC', to: 'EUR', asset: '2.00000000000000000001' }]);
    const { program, exchange, insert, create } = await guarded({ ORDER_SYNC_GUARD_ASSET_PER_HOUR: limits });
    insert(1, 'a', '2');
    insert(1, 'b', '0.00000000000000000001');
    await create();
    expect(kinds(program)).toEqual([]);
    insert(1, 'c', '0.00000000000000000001');
    await create();
    expect([exchange.count('POST'), kinds(program), pending(program)]).toEqual([2, ['guarded'], 1]);
  });
});
