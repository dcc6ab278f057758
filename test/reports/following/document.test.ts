import { describe, expect, it } from 'vitest';
import { OverdueOrders } from '../../../src/domain/orders/pace/overdue.ts';
import { PaceLearner } from '../../../src/domain/orders/pace/pace.ts';
import { statusKey, type PacedOrder } from '../../../src/domain/orders/pace/status.ts';
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
  /** Orders whose look-up was due 20 minutes ago, and when any was looked up last. */
  readonly waiting?: number;
  readonly lookedUpAt?: Date;
  /** Orders that left REQUEST. */
  readonly left?: number;
}

/** An account of which orders left REQUEST after 1 to 20 minutes, and accepted orders are followed. */
function followed({
  pace = 'learned',
  followed: count = 30,
  lateMs = [],
  left = 20,
  ...rest
}: World = {}): FollowedAccount {
  const learner = new PaceLearner(
    Array.from({ length: left }, (_, index) => ({
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
  const { waiting = 0, lookedUpAt = NOW, ...limits } = rest;
  const overdue = new OverdueOrders(MINUTE);
  const due = { ...order, lastLookupAt: lookedUpAt, nextActionAt: new Date(NOW.getTime() - 20 * MINUTE).toISOString() };
  overdue.addAll(
    Array.from({ length: waiting }, () => due),
    NOW,
  );
  const all = { ...LIMITS, ...limits };
  return { account: 'default', pace, budget: all.budget, learned: learner.pace(all), overdue: overdue.all };
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

  it('warns where orders wait for a look-up that was due, and tells a rate that is used up from one that is not used', () => {
    const waiting = followed({ waiting: 1_200 });
    const { verdict, cards } = followingDocument(FACTS, [waiting]);
    expect(verdict).toMatchObject({ tone: 'warning' });
    expect(verdict?.reasons[0]).toMatch(/^1,200 orders .*2026-01-05T11:40Z.* rate\b/);
    expect(cards).toContainEqual(expect.objectContaining({ value: '1200', tone: 'warning' }));
    expect(rowsOf('accounts', waiting)[0]).toMatchObject({ overdue: 1_200, overdue_since: '2026-01-05T11:40:00.000Z' });
    expect(rowsOf('statuses', waiting).map(({ overdue }) => overdue)).toEqual([1_200, 0]);
    expect(rowsOf('accounts', followed())[0]).toMatchObject({ overdue: 0, overdue_since: null });
    const silent = followed({ waiting: 1, lookedUpAt: new Date(NOW.getTime() - 5 * MINUTE) });
    expect(followingDocument(FACTS, [silent]).verdict?.reasons[0]).toMatch(/^One order .*2026-01-05T11:40Z.*\bpass\b/);
  });

  it('names each pace with its accounts', () => {
    const { verdict } = followingDocument({ ...FACTS, account: undefined }, [
      { ...followed({ pace: 'spaced' }), account: 'one' },
      { ...followed({ pace: 'every-tick' }), account: 'two' },
      { ...followed({ pace: 'spaced' }), account: 'three' },
    ]);
    expect(verdict?.reasons.at(-1)).toMatch(/\bspaced\b[^;]*\bone, three; every-tick\b.*\btwo\./);
  });

  it('does not blame the exchange where nothing has changed yet', () => {
    const reasons = (world: World) => followingDocument(FACTS, [followed(world)]).verdict?.reasons.join();
    expect(reasons({})).toContain('modificationDate');
    expect(reasons({ left: 0 })).not.toContain('modificationDate');
  });

  it('names the statuses that have no row in the chart, and distinguishes those that begin alike', () => {
    const key = (fiatStatus: string) => statusKey({ ...OPEN, orderStatus: 'WAITING_FOR_THE_CUSTOMER', fiatStatus });
    const stay = { state: 'open' as const, from: 0, to: MINUTE, isByExchange: true, lateMs: undefined };
    const stays = [...Array<string>(10).fill(key('NEW')), ...Array<string>(10).fill(key('PAID')), key('RARE')];
    const learned = new PaceLearner(stays.map((one) => ({ key: one, ...stay }))).pace(LIMITS);
    const [chart] = followingDocument(FACTS, [{ ...followed(), learned }]).charts as readonly SpanChart[];
    expect(chart?.rows.map(({ name }) => name)).toEqual(['WAITING_FOR_THE_CU… NEW', 'WAITING_FOR_THE_C… PAID']);
    expect(chart?.text).toContain('WAITING_FOR_THE_CUSTOMER / none / RARE');
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
