import { describe, expect, it } from 'vitest';
import { PaceLearner } from '../../../src/domain/orders/pace/pace.ts';
import { orderOfKey, statusKey, type PacedOrder } from '../../../src/domain/orders/pace/status.ts';
import { followingDocument } from '../../../src/reports/following/document.ts';
import { lateSentence, type FollowedAccount } from '../../../src/reports/following/statuses.ts';
import type { Row, SpanChart } from '../../../src/reports/formats/document.ts';

const NOW = new Date('2026-01-05T12:00:00.000Z');
const MINUTE = 60_000;
const FACTS = { account: 'default', asOf: NOW.toISOString() };
const LIMITS = { leastMs: 4_500, mostMs: 12 * 60 * MINUTE, worthMs: 2_000, budget: 5 / 1_000, rate: 10 / 1_000 };
const OPEN: PacedOrder = { state: 'open', orderStatus: 'REQUEST', cryptoStatus: null, fiatStatus: 'NEW' };
const ACCEPTED: PacedOrder = { state: 'accepted', orderStatus: null, cryptoStatus: null, fiatStatus: null };

interface World {
  readonly pace?: FollowedAccount['pace'];
  readonly followed?: number;
  readonly lateMs?: readonly number[];
  readonly budget?: number;
}

/** An account of which orders left REQUEST after 1 to 20 minutes, and accepted orders are followed. */
function followed({ pace = 'learned', followed: count = 30, lateMs = [], ...limits }: World = {}): FollowedAccount {
  const learner = new PaceLearner(
    Array.from({ length: 20 }, (_, index) => ({
      key: statusKey(OPEN),
      state: 'open' as const,
      from: index * MINUTE,
      to: (index + 1) * MINUTE,
      isByExchange: true,
      lateMs: lateMs[index],
    })),
  );
  const since = new Date(NOW.getTime() - 10 * MINUTE);
  const order = { ...ACCEPTED, changedAt: since, lastLookupAt: NOW, nextActionAt: '' };
  for (let added = 0; added < count; added += 1) learner.addOrder(order, NOW);
  const all = { ...LIMITS, ...limits };
  return { account: 'default', pace, budget: all.budget, learned: learner.pace(all) };
}

const rowsOf = (name: string, ...accounts: readonly FollowedAccount[]) =>
  followingDocument(FACTS, accounts).sections.find((section) => section.name === name)?.rows as readonly Row[];

describe('the report of following', () => {
  it('says for each status how long orders stay and how often they are looked up', () => {
    const [accepted, open] = rowsOf('statuses', followed());
    expect(accepted).toMatchObject({ state: 'accepted', order_status: null, orders: 30, stays: 0 });
    expect(open).toMatchObject({ state: 'open', order_status: 'REQUEST', crypto_status: null, fiat_status: 'NEW' });
    expect(open).toMatchObject({ orders: 0, stays: 20, late_changes: 0 });
    expect(Number(open?.['half_seconds']) / 60).toBeCloseTo(10, -1);
    expect(Number(open?.['ninety_seconds'])).toBeGreaterThan(Number(open?.['half_seconds']));
    expect(Number(open?.['lookups_per_order'])).toBeGreaterThan(1);
    expect(open?.['late_mean_seconds']).toBeUndefined();
  });

  it('says what is expected of the look-ups of all orders', () => {
    const account = followed();
    const [row] = rowsOf('accounts', account);
    expect(row).toMatchObject({ pace: 'learned', orders: 30, stays: 20, price_seconds: '2.000' });
    expect(Number(row?.['lookups_per_hour'])).toBeCloseTo(account.learned.demand * 3_600_000, 0);
    expect(Number(row?.['budget_used'])).toBeGreaterThan(0);
    expect(Number(row?.['news'])).toBeLessThan(100);
  });

  it('says how late changes were seen, of those that the exchange dates', () => {
    const seen = followed({ lateMs: [1_000, 2_000, 3_000] });
    const late = { late_changes: 3, late_mean_seconds: '2.000', late_95_seconds: '3.000' };
    expect(rowsOf('accounts', seen)[0]).toMatchObject(late);
    expect(rowsOf('statuses', seen)[1]).toMatchObject(late);
    expect(lateSentence([seen.learned, seen.learned])).toMatch(/^6 changes .*\b2 s\b.*\b3 s\./);
    expect(lateSentence([followed().learned])).toBeUndefined();
  });

  it('expects nothing where look-ups do not go by what was learned', () => {
    const fixed = followed({ pace: 'spaced', lateMs: [1_000] });
    const [row] = rowsOf('accounts', fixed);
    expect(row).toMatchObject({ pace: 'spaced', stays: 20, late_changes: 1 });
    for (const key of ['price', 'lookups_per_hour', 'budget_used', 'news']) expect(row).not.toHaveProperty(key);
    expect(rowsOf('statuses', fixed)[1]).not.toHaveProperty('lookups_per_order');
    const [chart] = followingDocument(FACTS, [fixed]).charts as readonly SpanChart[];
    expect(chart?.rows[0]?.marks).toBeUndefined();
  });

  it('warns where there are more orders than look-ups for them', () => {
    const tone = (world: World) => followingDocument(FACTS, [followed(world)]).verdict?.tone;
    expect(tone({ lateMs: [1_000] })).toBe('info');
    expect(tone({})).toBe('neutral');
    expect(tone({ followed: 1_000, budget: 1e-6 })).toBe('warning');
  });

  it('draws the stays of a status with its look-ups, and how late changes were', () => {
    const lateMs = Array.from({ length: 20 }, (_, index) => index * 1_000);
    const [stays, late] = followingDocument(FACTS, [followed({ lateMs })]).charts as readonly SpanChart[];
    expect(stays?.rows).toHaveLength(1);
    expect(stays?.rows[0]?.marks?.length).toBeGreaterThan(2);
    expect(late?.rows[0]?.span).toMatchObject({ p25: 4_000, p50: 9_000, p75: 14_000 });
    expect(followingDocument(FACTS, []).charts).toEqual([]);
  });

  it('tells the statuses of several accounts from each other', () => {
    const { sections, charts } = followingDocument({ ...FACTS, account: undefined }, [
      { ...followed(), account: 'shop-1' },
      { ...followed(), account: 'shop-2' },
    ]);
    const rows = sections.map((section) => section.rows as readonly Row[]);
    expect(rows.map((some) => new Set(some.map(({ account }) => account)).size)).toEqual([2, 2]);
    expect(sections.every(({ columns }) => columns[0]?.key === 'account')).toBe(true);
    expect((charts[0] as SpanChart).rows.map(({ name }) => name.split(':')[0])).toEqual(['shop-1', 'shop-2']);
  });
});

it('a key names the order that it is of', () => {
  for (const order of [OPEN, ACCEPTED, { ...OPEN, state: 'disputed' as const }]) {
    expect(orderOfKey(statusKey(order))).toEqual(order);
  }
  expect(orderOfKey('')).toBeUndefined();
});
