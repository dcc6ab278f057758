import { describe, expect, it } from 'vitest';
import type { Chart } from '../../../../src/extensions/documents/document.ts';
import { ReconciliationCharts } from '../../../../src/extensions/reports/reconciliation/charts.ts';
import type { Judgement } from '../../../../src/extensions/reports/reconciliation/judge.ts';
import type { ReconciledRow } from '../../../../src/extensions/reports/tables/reconciliation.ts';
import type { GroupTotals } from '../../../../src/extensions/reports/reconciliation/totals.ts';

const AS_OF = new Date('2026-01-10T00:00:00.000Z');
const CHECKED: Judgement = 'checked';
const ROW: ReconciledRow = {
  account: 'default',
  external_order_id: 'a',
  asset: '1',
  asset_position: 'INPUT',
  from_currency: 'BTC',
  to_currency: 'EUR',
  state: 'final',
  state_reason: null,
  outcome: null,
  order_status: 'DONE',
  created_at: '2026-01-01T00:00:00.000Z',
  sent_at: '2026-01-01T00:00:00.000Z',
  changed_at: '2026-01-01T00:00:00.000Z',
  last_lookup_at: null,
  modification_date: null,
  attempts: 1,
  resends: 0,
  fail_over: null,
  stale_date: null,
  received_at: null,
  compared_at: null,
  input_asset: null,
  output_asset: null,
  record_from: null,
  record_to: null,
  fee: null,
  reward: null,
  creation_date: '2026-01-01T00:00:00Z',
  completion_date: '2026-01-01T01:00:00Z',
  at: '2026-01-01T00:00:00.000Z',
};

const MINUTE_MS = 60_000;
const GROUP: GroupTotals = {
  day: '2026-01-01',
  pair: 'BTC/EUR',
  outcome: 'succeeded',
  position: 'INPUT',
  currency: 'BTC',
  orders: 1,
  unreadable: 0,
  compared: 0,
  asset: '1',
  ours: '0',
  theirs: '0',
};

interface Given {
  readonly rows?: readonly Partial<ReconciledRow>[];
  readonly judgement?: Judgement;
  readonly groups?: readonly Partial<GroupTotals>[];
  readonly period?: readonly string[];
}

function chartsOf({ rows = [], judgement = CHECKED, groups = [], period = [] }: Given): readonly Chart[] {
  const charts = new ReconciliationCharts();
  for (const row of rows) charts.addOrder({ row: { ...ROW, ...row }, judgement }, AS_OF);
  return charts.charts(
    groups.map((group) => ({ ...GROUP, ...group })),
    period,
  );
}

/** The charts of a kind whose title has the word. */
function charted<Kind extends Chart['kind']>(given: Given, kind: Kind, word: string) {
  const isIt = (chart: Chart): chart is Extract<Chart, { kind: Kind }> =>
    chart.kind === kind && chart.title.includes(word);
  return chartsOf(given).find(isIt);
}

const TWO_DAYS = ['2026-01-01', '2026-01-02'];

describe('charts of the reconciliation report', () => {
  it('are none if there is nothing to show', () => {
    expect(chartsOf({ period: ['2026-01-01', '2026-01-31'] })).toEqual([]);
    // One column says no more than a table.
    expect(chartsOf({ groups: [{}], period: ['2026-01-01', '2026-01-01'] })).toEqual([]);
  });

  it('leave out what the moment of the report cannot be known of', () => {
    expect(chartsOf({ rows: [{}], judgement: 'changedAfter' })).toEqual([]);
  });

  it('count the orders of each day of the period by outcome, also of days without orders', () => {
    const groups = [
      { day: '2026-01-02', orders: 3 },
      { day: '2026-01-02', outcome: 'failed', orders: 2 },
      { day: '2026-01-04', outcome: null, orders: 1 },
      { day: '2026-01-04', orders: 4, pair: 'ETH/EUR' },
      { day: '?', orders: 5 },
    ];
    const chart = charted({ groups, period: ['2026-01-01', '2026-01-04'] }, 'columns', 'orders');
    expect(chart?.steps).toEqual(['1 Jan', '2', '3', '4']);
    expect(chart?.series.map(({ name, note }) => [name, note])).toEqual([
      ['Succeeded', '7'],
      ['Failed', '2'],
      ['No order at the exchange', '1'],
    ]);
    expect(chart?.panels).toEqual([
      {
        unit: 'orders',
        values: [
          [0, 3, 0, 4],
          [0, 2, 0, 0],
          [0, 0, 0, 1],
        ],
      },
    ]);
    expect(chart?.text).toContain('5 orders without a known day');
  });

  it('never add amounts of two currencies, nor draw amounts of an unknown currency', () => {
    const groups = [
      { asset: '1.5', orders: 2 },
      { asset: '2', pair: 'BTC/USD', orders: 2 },
      { asset: '9', currency: 'EUR', outcome: 'failed' },
      { asset: '7', currency: null },
      { asset: '7', currency: '?' },
    ];
    expect(charted({ groups, period: TWO_DAYS }, 'columns', 'money')?.panels).toEqual([
      {
        unit: 'BTC',
        values: [
          [3.5, 0],
          [0, 0],
        ],
      },
      {
        unit: 'EUR',
        values: [
          [0, 0],
          [9, 0],
        ],
      },
    ]);
  });

  it('show a difference only in currencies that have one, exactly', () => {
    const groups = [
      { ours: '0.3', theirs: '0.1' },
      { ours: '0', theirs: '0.2' },
      { currency: 'EUR', ours: '1', theirs: '1.5' },
      { currency: 'EUR', ours: '2', theirs: '1', day: '2026-01-02' },
    ];
    expect(charted({ groups }, 'columns', 'differ')?.panels).toEqual([{ unit: 'EUR', values: [[0.5, -1]] }]);
    expect(charted({ groups: groups.slice(0, 2), period: TWO_DAYS }, 'columns', 'differ')).toBeUndefined();
  });

  it('show how long orders have waited, since they last changed or were inserted', () => {
    const open = { state: 'open', changed_at: '2026-01-09T23:00:00.000Z' };
    const { rows = [] } =
      charted({ rows: [open, open, { state: 'pending', changed_at: null }, {}] }, 'spans', 'waiting') ?? {};
    expect(rows.map(({ name, note }) => [name, note])).toEqual([
      ['pending', expect.stringContaining('1 order')],
      ['open', expect.stringContaining('2 orders')],
    ]);
    for (const [index, hours] of [9 * 24, 1].entries()) {
      expect(Math.abs((rows[index]?.span.p50 ?? 0) / (hours * 60 * MINUTE_MS) - 1)).toBeLessThan(0.1);
    }
  });

  it('show within which time a percentage of a pair were final, to a tenth', () => {
    const minutes = (count: number) => ({ completion_date: new Date(Date.UTC(2026, 0, 1, 0, count)).toISOString() });
    const hundred = Array.from({ length: 100 }, (_, index) => minutes(index + 1));
    const rows = [...hundred, { completion_date: null }, { completion_date: '2025-12-31T00:00:00Z' }];
    const { rows: [pair] = [] } = charted({ rows }, 'spans', 'final') ?? {};
    expect([pair?.name, pair?.note]).toEqual(['BTC/EUR', expect.stringContaining('100 orders')]);
    for (const percent of [25, 50, 75, 99] as const) {
      expect(Math.abs((pair?.span[`p${percent}`] ?? 0) / (percent * MINUTE_MS) - 1)).toBeLessThan(0.1);
    }
  });

  it("show how late changes were seen: from the exchange's date to ours, and nothing that was not ours to see", () => {
    const seen = { changed_at: '2026-01-01T01:10:00.000Z' };
    const rows = [
      { ...seen, modification_date: '2026-01-01T01:00:00Z' },
      { ...seen, modification_date: '2026-01-01T01:00:00Z', state: 'open', order_status: 'REQUEST' },
      // Dated anew since, before it was sent, of another merchant's order, and without a date.
      { ...seen, modification_date: '2026-01-01T02:00:00Z' },
      { ...seen, modification_date: '2025-12-31T23:59:59Z' },
      { ...seen, modification_date: '2026-01-01T01:00:00Z', sent_at: null },
      { ...seen, modification_date: '2026-01-01T01:00:00Z', state: 'disputed' },
      { ...seen, modification_date: null },
    ];
    const { rows: drawn = [] } = charted({ rows }, 'spans', 'late') ?? {};
    expect(drawn.map(({ name, note }) => [name, note])).toEqual([
      ['DONE', expect.stringContaining('1 change')],
      ['REQUEST', expect.stringContaining('1 change')],
    ]);
    for (const { span } of drawn) expect(Math.abs(span.p50 / (10 * MINUTE_MS) - 1)).toBeLessThan(0.1);
  });

  it('draw many pairs and many statuses as a few and the others together', () => {
    const rows = Array.from({ length: 300 }, (_, index) => ({
      from_currency: `P${index}`,
      order_status: `S${index}`,
      modification_date: '2026-01-01T00:00:00.000Z',
    }));
    for (const word of ['final', 'late']) {
      const { rows: drawn = [] } = charted({ rows }, 'spans', word) ?? {};
      expect([drawn.length, drawn.at(-1)?.note]).toEqual([9, expect.stringContaining('292')]);
    }
  });

  it('have one look for an outcome in all charts', () => {
    const groups = ['succeeded', 'failed', 'open', 'outcome_unknown', 'disputed', null].map((outcome) => ({ outcome }));
    const looks = (word: string) =>
      charted({ groups, period: TWO_DAYS }, 'columns', word)?.series.map(({ name, look }) => [name, look]) ?? [];
    expect(looks('orders')).toEqual(looks('money'));
    expect(new Set(looks('orders').map(([, look]) => JSON.stringify(look))).size).toBe(6);
  });
});
