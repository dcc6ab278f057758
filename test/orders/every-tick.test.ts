import { describe, expect, it } from 'vitest';
import { sweep } from '../../src/extensions/sweep/sweep.ts';
import { createPass } from '../../src/orders/create.ts';
import { lookUpDue } from '../../src/orders/follow.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { acceptedOrders, scriptedProgram } from '../support/test-program.ts';
import { DAY, HOUR, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const PERIOD_MS = 5 * SECOND;

/** Orders that are looked up at each tick, of which one takes a second; `shown` is what the exchange has of them. */
async function atEachTick(shown: Readonly<Record<string, ScriptedAnswer>>) {
  const environment = {
    ORDER_SYNC_FOLLOW_PACE: 'every-tick',
    ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'DONE',
    ORDER_SYNC_EXCHANGE_CONCURRENCY: '1',
  };
  const { program, exchange } = await scriptedProgram({ environment });
  const { app, clock } = program;
  let looked: string[] = [];
  exchange.answer = (request) => {
    if (request.method === 'POST') return request.externalOrderId === 'refused' ? refusal(400) : echo(request);
    looked.push(request.externalOrderId);
    clock.advance(SECOND);
    return shown[request.externalOrderId] ?? NOT_FOUND;
  };
  program.insert(...Object.keys(shown).map((external_order_id) => ({ external_order_id })));
  await createPass(app, NEVER);
  /** The tick that was last. */
  const tickedAt = () => new Date(Math.floor(clock.now().getTime() / PERIOD_MS) * PERIOD_MS);
  const passAfter = async (ms: number) => {
    clock.advance(ms);
    looked = [];
    await lookUpDue(app, tickedAt, NEVER);
    return looked;
  };
  return { program, passAfter };
}

const names = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}${index}`);

describe('with the pace every-tick', () => {
  it('each order is looked up once a tick, the least recently looked up first, and no tick begins before all are', async () => {
    const [accepted, open] = [names('accepted', 40), names('open', 6)];
    const { passAfter } = await atEachTick({
      ...Object.fromEntries(accepted.map((id) => [id, NOT_FOUND])),
      ...Object.fromEntries(open.map((id) => [id, record(id)])),
    });
    const all = [...accepted, ...open].toSorted();
    let before: readonly string[] | undefined;
    for (let pass = 0; pass < 4; pass += 1) {
      const looked = await passAfter(PERIOD_MS);
      expect(looked.toSorted()).toEqual(all);
      for (const kind of [accepted, open]) {
        const order = looked.filter((id) => kind.includes(id));
        // Two whose answers share a commit were looked up at the same time.
        const places = before?.filter((id) => kind.includes(id)) ?? order;
        for (const [place, id] of order.entries()) expect(Math.abs(places.indexOf(id) - place)).toBeLessThanOrEqual(1);
      }
      before = looked;
    }
  });

  it('an order is not looked up again within the tick', async () => {
    const { passAfter } = await atEachTick({ a: NOT_FOUND, b: record('b') });
    expect(await passAfter(PERIOD_MS)).toHaveLength(2);
    expect(await passAfter(SECOND)).toEqual([]);
    expect(await passAfter(PERIOD_MS)).toHaveLength(2);
  });

  it('orders with times of their own keep these', async () => {
    const { passAfter } = await atEachTick({
      done: record('done', { status: 'DONE' }),
      refused: NOT_FOUND,
      a: NOT_FOUND,
    });
    expect((await passAfter(PERIOD_MS)).toSorted()).toEqual(['a', 'done']);
    expect(await passAfter(PERIOD_MS)).toEqual(['a']);
    expect((await passAfter(DAY)).toSorted()).toEqual(['a', 'done', 'refused']);
    expect(await passAfter(PERIOD_MS)).toEqual(['a']);
  });

  it('a great many that have ended and are due do not keep the followed ones from their next tick', async () => {
    const ended = names('ended', 100);
    const { program, passAfter } = await atEachTick({
      open: record('open'),
      ...Object.fromEntries(ended.map((id) => [id, record(id, { status: 'DONE' })])),
    });
    await passAfter(PERIOD_MS);
    program.clock.advance(2 * HOUR);
    const looked = await passAfter(PERIOD_MS);
    expect(looked.filter((id) => id !== 'open')).toHaveLength(ended.length);
    expect(looked.filter((id) => id === 'open').length).toBeGreaterThan(2);
  });
});

it('a program that is made without a pace follows its orders at every tick', async () => {
  const { program, exchange, answers } = await acceptedOrders(['a', 'b']);
  const { clock } = program;
  await program.app[Symbol.asyncDispose]();
  program.app = await program.start({ makePaces: undefined, listeners: undefined, sweeps: undefined });
  answers.set('a', record('a'));
  for (let tick = 0; tick < 3; tick += 1) {
    clock.advance(PERIOD_MS);
    await lookUpDue(program.app, () => clock.now(), NEVER);
  }
  expect(exchange.count('GET')).toBe(6);
  clock.advance(DAY + SECOND);
  await sweep(program.app, NEVER);
  const stuck = program.merchant.prepare(`select external_order_id from findings where class = 'STUCK'`).pluck().all();
  expect(stuck).toEqual(['a']);
  expect((await syncOnce(program.app, 'all', NEVER)).summary.lookedUp).toBe(2);
});
