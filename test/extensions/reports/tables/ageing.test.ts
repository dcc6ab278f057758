import { beforeEach, describe, expect, it } from 'vitest';
import { type AgeGroup, Ages } from '../../../../src/extensions/reports/ageing.ts';
import { seededRandom } from '../../../../src/extensions/sandbox/random.ts';
import { readAges, type AgeingScope } from '../../../../src/extensions/reports/tables/summary.ts';
import { eventWriter } from '../../../support/events.ts';
import { unguarded } from '../../../support/unguarded.ts';
import { newTestDatabase } from '../../../support/database.ts';
import type { Merchant } from '../../../support/merchant.ts';
import type { Store } from '../../../../src/store/port.ts';

const SCOPE = { account: 'default', asOf: '2026-02-01T00:00:00.000Z' };
const FIELDS = ['state', 'order.status', 'cryptoTransaction.status'];

interface Order {
  readonly id: string;
  readonly to: string;
  readonly createdAt: string;
  readonly events: readonly { field: string; value: string; at: string }[];
}

let store: Store;
let merchant: Merchant;
beforeEach(async () => {
  const database = await newTestDatabase();
  store = await database.open();
  merchant = database.connect();
});

function put(orders: readonly Order[]): void {
  const order = merchant.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at) values (?, '1', 'BTC', ?, ?)`,
  );
  const change = merchant.prepare(`update merchant_orders set revision = revision + 1, state = ?, order_status = ?,
    updated_at = ? where external_order_id = ?`);
  const write = eventWriter(merchant);
  unguarded(merchant, () => {
    for (const { id, to, createdAt, events } of orders) {
      order.run(id, to, createdAt);
      const last = (name: string) => events.findLast(({ field }) => field === name)?.value;
      change.run(last('state') ?? 'pending', last('order.status') ?? null, events.at(-1)?.at ?? createdAt, id);
      for (const { field, value, at } of events) {
        write({ external_order_id: id, field, new_value: value, observed_at: at });
      }
    }
  });
}

async function read(scope: Partial<AgeingScope> = {}, limit = 0): Promise<Ages> {
  const all = { ...SCOPE, ...scope };
  const ages = new Ages(all.asOf, limit);
  await readAges(store, all, ages);
  return ages;
}

/** A number of orders with histories of January, by a seed. */
function someOrders(count: number, seed: number): readonly Order[] {
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const begin = Date.parse('2026-01-01T00:00:00.000Z');
  return Array.from({ length: count }, (_, index) => {
    let ms = begin + below(20 * 86_400_000);
    const createdAt = new Date(ms).toISOString();
    const events = Array.from({ length: below(6) }, () => {
      ms += below(4 * 86_400_000);
      const field = FIELDS[below(3)] ?? 'state';
      const value = field === 'state' ? ['open', 'final', 'held'][below(3)] : ['REQUEST', 'DONE'][below(2)];
      return { field, value: value ?? '', at: new Date(ms).toISOString() };
    });
    return { id: `order-${index}`, to: below(3) === 0 ? 'USD' : 'EUR', createdAt, events };
  });
}

/** The same by plain means: the state of each order, and the ages of each group sorted. */
function reckon(orders: readonly Order[], asOf: string, withPair: boolean): AgeGroup[] {
  const groups = new Map<string, number[]>();
  for (const { to, createdAt, events } of orders) {
    if (createdAt > asOf) continue;
    const past = events.filter(({ at }) => at <= asOf);
    const state = past.findLast(({ field }) => field === 'state')?.value ?? 'pending';
    const status = past.findLast(({ field }) => field === 'order.status')?.value ?? null;
    const since = past.findLast(({ field }) => field === 'state' || field === 'order.status')?.at ?? createdAt;
    const key = JSON.stringify([state, status, withPair ? `BTC/${to}` : null]);
    groups.set(key, [...(groups.get(key) ?? []), Date.parse(asOf) - Date.parse(since)]);
  }
  return [...groups].map(([key, ages]) => {
    const [state, status, pair] = JSON.parse(key) as [string, string | null, string | null];
    const youngestFirst = ages.toSorted((a, b) => a - b);
    const at = (percent: number) => youngestFirst[Math.ceil((percent / 100) * ages.length) - 1] ?? null;
    const halves = { p1: at(1), p25: at(25), p50: at(50), p75: at(75) };
    return { state, status, pair, orders: ages.length, ...halves, p90: at(90), p99: at(99), longest: at(100) };
  });
}

const sorted = (groups: readonly AgeGroup[]) =>
  groups.map((group) => JSON.stringify(group, Object.keys(group).toSorted())).toSorted();

describe('the states of orders', () => {
  it.each([1, 2, 3])('has percentiles that are exact at any moment, seed %i', async (seed) => {
    const orders = someOrders(400, seed);
    put(orders);
    for (const asOf of [SCOPE.asOf, '2026-01-15T06:00:00.000Z', '2026-01-03T00:00:00.000Z']) {
      const ageing = await read({ asOf });
      expect(ageing.orders).toBe(orders.filter(({ createdAt }) => createdAt <= asOf).length);
      expect(sorted(ageing.byStatus())).toEqual(sorted(reckon(orders, asOf, false)));
      expect(sorted(ageing.byPair())).toEqual(sorted(reckon(orders, asOf, true)));
    }
  });

  it('of a moment stays as it was, whatever happens after it', async () => {
    const orders = someOrders(50, 4);
    put(orders.slice(0, 40));
    const told = async () => {
      const ageing = await read({}, 10);
      return JSON.stringify([ageing.byPair(), ageing.oldest()]);
    };
    const before = await told();
    const later = '2026-02-01T00:00:00.001Z';
    put(orders.slice(40).map((order) => ({ ...order, createdAt: later })));
    const ids = merchant.prepare('select external_order_id from merchant_orders').pluck().all() as string[];
    const write = eventWriter(merchant);
    for (const external_order_id of ids) write({ external_order_id, new_value: 'final', observed_at: later });
    expect(await told()).toBe(before);
  });

  it('is that of the orders inserted in the period', async () => {
    const orders = someOrders(100, 5);
    put(orders);
    const [from, to] = ['2026-01-05T00:00:00.000Z', '2026-01-10T00:00:00.000Z'];
    const ageing = await read({ from, to });
    const inPeriod = orders.filter(({ createdAt }) => createdAt >= from && createdAt < to);
    expect(inPeriod.length).toBeGreaterThan(0);
    expect(sorted(ageing.byPair())).toEqual(sorted(reckon(inPeriod, SCOPE.asOf, true)));
  });

  it('counts every order once, however many there are, also one whose id is empty', async () => {
    const at = '2026-01-05T00:00:00.000Z';
    put([{ id: '', to: 'EUR', createdAt: at, events: [] }]);
    merchant.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into merchant_orders (external_order_id, asset, created_at) select 'order-' || i, '1', '${at}' from n`);
    const ageing = await read({}, 1);
    expect(ageing.orders).toBe(20_001);
    expect(ageing.byPair()).toMatchObject([
      { pair: '?/?', orders: 20_000, p50: Date.parse(SCOPE.asOf) - Date.parse(at) },
      { pair: 'BTC/EUR', orders: 1 },
    ]);
    expect(ageing.oldest()).toMatchObject([{ id: '' }]);
  });

  it('names the orders that have stood the longest in the states that are asked for', async () => {
    const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
    const state = (value: string, day: number) => ({ field: 'state', value, at: at(day) });
    put([
      { id: 'young', to: 'EUR', createdAt: at(1), events: [state('open', 8)] },
      { id: 'old', to: 'EUR', createdAt: at(1), events: [state('held', 3), { ...state('X', 9), field: 'finding' }] },
      { id: 'ended', to: 'EUR', createdAt: at(1), events: [state('final', 2)] },
      { id: 'oldest', to: 'USD', createdAt: at(2), events: [] },
    ]);
    expect((await read({}, 2)).oldest()).toEqual([
      { account: 'default', id: 'oldest', pair: 'BTC/USD', state: 'pending', status: null, since: at(2) },
      { account: 'default', id: 'old', pair: 'BTC/EUR', state: 'held', status: null, since: at(3) },
    ]);
  });
});
