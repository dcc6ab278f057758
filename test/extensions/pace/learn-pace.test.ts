import { describe, expect, it } from 'vitest';
import type { PacedOrder } from '../../../src/orders/rules/lookup.ts';
import { OwnedAccount } from '../../../src/accounts/account.ts';
import { MOST_STATUSES, PaceLearner } from '../../../src/extensions/pace/pace.ts';
import { statusKey } from '../../../src/extensions/pace/status.ts';
import { lookUpDue } from '../../../src/orders/follow.ts';
import { syncOnce } from '../../../src/orders/sync.ts';
import { sweep, sweepWithoutFindings } from '../../../src/extensions/sweep/sweep.ts';
import { readHistory } from '../../../src/extensions/pace/learn-pace.ts';
import { eventWriter } from '../../support/events.ts';
import { learningPaceOf } from '../../support/paces.ts';
import { NOT_FOUND, record, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { acceptedOrders, scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;
const LEARNED = { ORDER_SYNC_FOLLOW_PACE: 'learned', ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED' };
const OPEN: PacedOrder = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: 'NEW', fiatStatus: 'NEW' };
const ACCEPTED: PacedOrder = { state: 'accepted', orderStatus: null, cryptoStatus: null, fiatStatus: null };
const AGES = [0, 30 * SECOND, 10 * MINUTE, DAY];

/** The gaps of orders of some ages. */
const gaps = ({ app }: TestProgram, order = OPEN) => AGES.map((age) => app.settings.pace.gapMs(order, age));
const assumed = ({ app }: TestProgram, order = OPEN) => {
  const pace = new PaceLearner().pace(learningPaceOf(app).limits);
  return AGES.map((age) => pace.gapMs(order, age));
};

/** History of orders that were accepted for `acceptedMs` and then open for `openMs`, until an hour ago. */
function writeHistory(program: TestProgram, count: number, acceptedMs: number, openMs: number): void {
  const write = eventWriter(program.merchant);
  const end = program.clock.now().getTime() - HOUR;
  const at = (ms: number) => new Date(end - ms).toISOString();
  for (let index = 0; index < count; index += 1) {
    const order = { external_order_id: `past-${index}` };
    const [accepted, taken] = [acceptedMs + openMs, openMs];
    const open = { ...order, observed_at: at(taken), looked_up_before: at(taken + SECOND) };
    write({ ...order, old_value: 'pending', new_value: 'accepted', observed_at: at(accepted), source: 'create' });
    write({ ...open, old_value: 'accepted', new_value: 'open' });
    write({ ...open, field: 'order.status', new_value: 'REQUEST' });
    write({ ...open, field: 'cryptoTransaction.status', new_value: 'NEW' });
    write({ ...open, field: 'fiatTransaction.status', new_value: 'NEW' });
    write({ ...order, old_value: 'open', new_value: 'final', observed_at: at(0), looked_up_before: at(SECOND) });
  }
}

/** Writes an event for each `i` from 1 to `count`: its columns as SQL. */
function writeMany({ merchant }: TestProgram, count: number, columns: Readonly<Record<string, string>>): void {
  const all = {
    account: `'default'`,
    type: `'order'`,
    source: `'lookup'`,
    previous_hash: `''`,
    hash: `''`,
    ...columns,
  };
  merchant.exec(`insert into events (${Object.keys(all).join(', ')})
    with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${count})
    select ${Object.values(all).join(', ')} from numbers`);
}

describe('the history', () => {
  it('says how long the orders of this program stayed in each status', async () => {
    const { program, answers, lookUp } = await acceptedOrders(['a'], { environment: LEARNED });
    await lookUp(20 * SECOND);
    answers.set('a', record('a'));
    await lookUp(10 * SECOND);
    await lookUp(30 * SECOND);
    answers.set('a', record('a', { fiat: 'PAID' }));
    await lookUp(MINUTE);
    answers.set('a', record('a', { status: 'COMPLETED', fiat: 'PAID' }));
    await lookUp(MINUTE);
    const { stays, from: begin } = await readHistory(program.app, NEVER);
    expect(begin).toBeNull();
    expect(stays.map(({ key, from, to }) => [key, from / SECOND, to / SECOND])).toEqual([
      [statusKey(ACCEPTED), 20, 30],
      [statusKey(OPEN), 30, 90],
      [statusKey({ ...OPEN, fiatStatus: 'PAID' }), 0, 60],
    ]);
  });

  it('counts by its newest changes alone, with what came before them of orders that are among them', async () => {
    const { program } = await scriptedProgram({ environment: LEARNED });
    const write = eventWriter(program.merchant);
    const entered = { old_value: 'pending', new_value: 'accepted', observed_at: '2026-01-01T00:00:00.000Z' };
    const left = { old_value: 'accepted', new_value: 'abandoned', observed_at: '2026-01-01T01:00:00.000Z' };
    for (const id of ['old', 'long']) write({ external_order_id: id, ...entered });
    write({ external_order_id: 'old', ...left });
    const filler = { field: `'state'`, subject: `concat('o', i % 100)`, observed_at: `'2026-01-02T00:00:00.000Z'` };
    writeMany(program, 19_999, { ...filler, old_value: `'final'`, new_value: `'open'` });
    write({ external_order_id: 'long', ...left, observed_at: '2026-01-03T00:00:00.000Z' });
    expect(await readHistory(program.app, NEVER)).toMatchObject({
      stays: [{ key: 'accepted', to: 2 * DAY }],
      from: new Date('2026-01-01T01:00:00.000Z'),
    });
  });

  it.each([
    [
      'when the first orders are looked up',
      async ({ app }: TestProgram) => await app.settings.pace.learnFirst(app, NEVER),
    ],
    ['before sync asks for any order', async ({ app }: TestProgram) => void (await syncOnce(app, 'due', NEVER))],
    ['at the start, if findings are not', async ({ app }: TestProgram) => await sweepWithoutFindings(app, NEVER)],
  ])('of the time before is gone by from the first look-up on: %s', async (_, begin) => {
    const { program } = await scriptedProgram({ environment: LEARNED });
    writeHistory(program, 50, 10 * MINUTE, 40 * SECOND);
    program.insert({ external_order_id: 'waits' });
    expect(gaps(program)).toEqual(assumed(program));
    await begin(program);
    expect(learningPaceOf(program.app).isNew).toBe(false);
    expect(program.app.settings.pace.gapMs(OPEN, 0)).toBeLessThan(45 * SECOND);
    expect(program.app.settings.pace.gapMs(ACCEPTED, 0)).toBeGreaterThan(assumed(program, ACCEPTED)[0]!);
  });

  it('is not read for a pace that does not learn', async () => {
    const { program } = await scriptedProgram({ environment: { ORDER_SYNC_FOLLOW_PACE: 'every-tick' } });
    const store = {
      ...program.app.store,
      get db(): never {
        throw new Error('the database is read');
      },
    };
    await program.app.settings.pace.learnFirst({ ...program.app, store }, NEVER);
    expect(learningPaceOf(program.app).isNew).toBe(false);
  });

  it.each([
    ['that ends before it begins', `'2026-01-04T00:00:00.000Z'`],
    ['that ends in a time to come', `'2999-01-04T00:00:00.000Z'`],
    ['whose times cannot be read', `'yesterday'`],
  ])('of 10,000 statuses, each %s, leaves what is assumed', async (_, at) => {
    const { program } = await scriptedProgram({ environment: LEARNED });
    const now = `'${program.clock.now().toISOString()}'`;
    const order = { subject: `concat('o', i)` };
    writeMany(program, 10_000, {
      ...order,
      field: `'state'`,
      old_value: `'pending'`,
      new_value: `'open'`,
      observed_at: now,
    });
    writeMany(program, 10_000, {
      ...order,
      field: `'order.status'`,
      old_value: `concat('S', i)`,
      new_value: `concat('T', i)`,
      observed_at: at,
    });
    await sweep(program.app, NEVER);
    const { learned } = learningPaceOf(program.app);
    expect(learned.statuses.length).toBeLessThanOrEqual(MOST_STATUSES + 1);
    expect(learned.statuses.reduce((sum, { stays }) => sum + stays, 0)).toBe(0);
    expect(gaps(program, { ...OPEN, orderStatus: 'S7' })).toEqual(assumed(program));
  });
});

describe('the sweep', () => {
  it('solves the price from the orders that are followed, anew each time', async () => {
    // A look-up a second.
    const environment = { ...LEARNED, ORDER_SYNC_FOLLOW_SHARE: '0.00001' };
    const ids = Array.from({ length: 30 }, (_, index) => `o${index}`);
    const { program, answers, lookUp } = await acceptedOrders(ids, { environment });
    const pace = learningPaceOf(program.app);
    await sweep(program.app, NEVER);
    const dear = pace.learned.priceMs;
    expect(dear).toBeGreaterThan(2 * pace.limits.worthMs);
    expect(pace.learned.demand).toBeLessThanOrEqual(pace.limits.budget);
    for (const id of ids.slice(3)) answers.set(id, record(id, { status: 'COMPLETED' }));
    await lookUp(MINUTE);
    await sweep(program.app, NEVER);
    expect(pace.learned.priceMs).toBe(pace.limits.worthMs);
    expect(pace.learned.statuses.reduce((sum, { orders }) => sum + orders, 0)).toBe(3);
  });
});

describe('sync', () => {
  it('keeps to the share if each one is a process of its own: the price is solved before orders are looked up', async () => {
    // A look-up each ten seconds.
    const environment = { ...LEARNED, ORDER_SYNC_FOLLOW_SHARE: '0.000001' };
    const ids = Array.from({ length: 30 }, (_, index) => `o${index}`);
    const { program, exchange } = await acceptedOrders(ids, { environment });
    const prices: number[] = [];
    exchange.answer = () => {
      prices.push(learningPaceOf(program.app).learned.priceMs);
      return NOT_FOUND;
    };
    await program.restart();
    program.clock.advance(MINUTE);
    await syncOnce(program.app, 'due', NEVER);
    expect(prices).toHaveLength(30);
    expect(Math.min(...prices)).toBeGreaterThan(10 * learningPaceOf(program.app).limits.worthMs);
  });
});

describe('what was learned', () => {
  it('is learned from the history again once that has grown by a part', async () => {
    const { program } = await scriptedProgram({ environment: LEARNED });
    const pace = learningPaceOf(program.app);
    writeHistory(program, 1_000, 10 * MINUTE, 40 * SECOND);
    await sweep(program.app, NEVER);
    expect(pace.history).toBeUndefined();
    // If no order waits, nothing must be paced.
    program.insert({ external_order_id: 'waits' });
    await sweep(program.app, NEVER);
    const { history } = pace;
    expect(history).toMatchObject({ changes: 5_000 });
    writeMany(program, 99, { subject: `'x'`, field: `'state'`, observed_at: `'2026-01-04T00:00:00.000Z'` });
    await sweep(program.app, NEVER);
    expect(pace.history).toBe(history);
    writeMany(program, 1, { subject: `'x'`, field: `'state'`, observed_at: `'2026-01-04T00:00:00.000Z'` });
    await sweep(program.app, NEVER);
    expect(pace.history).toMatchObject({ changes: 5_100 });
  });

  /** When each order is due after the same answers, whether the process was begun anew in between or not. */
  async function dueTimes(between: (program: TestProgram) => Promise<void>): Promise<unknown[]> {
    const { program, answers, lookUp } = await acceptedOrders(['a', 'b', 'c'], { environment: LEARNED });
    writeHistory(program, 30, 7 * MINUTE, 90 * SECOND);
    const shown: Record<string, ScriptedAnswer> = { b: record('b'), c: record('c', { fiat: 'PAID' }) };
    for (const [id, answer] of Object.entries(shown)) answers.set(id, answer);
    await lookUp(MINUTE);
    await between(program);
    await sweep(program.app, NEVER);
    await lookUp(30 * SECOND);
    return program.merchant
      .prepare('select next_action_at from merchant_orders order by external_order_id')
      .pluck()
      .all();
  }

  it('is the same for equal databases, whatever the process has learned before', async () => {
    const first = await dueTimes(async () => {});
    expect(new Set(first).size).toBe(3);
    expect(await dueTimes((program) => program.restart())).toEqual(first);
    const learnedOften = async ({ app, clock }: TestProgram) => {
      for (let times = 0; times < 3; times += 1) await sweep(app, NEVER);
      await lookUpDue(app, () => clock.now(), AbortSignal.abort());
    };
    expect(await dueTimes(learnedOften)).toEqual(first);
  });

  it('is kept while the account is not wired', async () => {
    const { program } = await scriptedProgram({ environment: LEARNED });
    const given: unknown[] = [];
    const account = new OwnedAccount({ account: 'default', ending: NEVER } as never, {
      wire: async ({ pace }) => {
        given.push(pace);
        return { ...program.app, [Symbol.asyncDispose]: async () => {} };
      },
      passes: {} as never,
      stop: NEVER,
      onPass: async () => {},
      onFailure: (_, error) => {
        throw error;
      },
    });
    for (let times = 0; times < 2; times += 1) {
      const used = await account.use();
      used?.[Symbol.dispose]();
      account.wired?.stop();
      await account.life;
    }
    expect(given).toEqual([undefined, program.app.settings.pace]);
  });
});
