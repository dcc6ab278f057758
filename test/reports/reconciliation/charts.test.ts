import { describe, expect, it } from 'vitest';
import type { Chart } from '../../../src/reports/formats/document.ts';
import { ReconciliationCharts } from '../../../src/reports/reconciliation/charts.ts';
import type { Judgement } from '../../../src/reports/reconciliation/judge.ts';
import type { ReconciledRow } from '../../../src/reports/reconciliation/rows.ts';

const AS_OF = new Date('2026-01-10T00:00:00.000Z');
const CHECKED: Judgement = { kind: 'checked' };
const ROW: ReconciledRow = {
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
  sent_at: null,
  changed_at: '2026-01-01T00:00:00.000Z',
  last_lookup_at: null,
  resends: 0,
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

function chartsOf(rows: readonly Partial<ReconciledRow>[], judgement = CHECKED): Readonly<Record<string, Chart>> {
  const charts = new ReconciliationCharts();
  for (const row of rows) charts.addOrder({ row: { ...ROW, ...row }, judgement }, AS_OF);
  return Object.fromEntries(charts.charts([]).map((chart) => [chart.title.split(':')[0], chart]));
}

describe('charts of the reconciliation report', () => {
  it('are none where there are no orders', () => {
    expect(chartsOf([])).toEqual({});
  });

  it('show the orders from pair to state to order status, without a way back', () => {
    const { links = [] } =
      chartsOf([{}, {}, { state: 'pending', order_status: null }])['Orders by pair, state and order status'] ?? {};
    expect(links).toEqual([
      { from: 'pair BTC/EUR', to: 'state final', value: 2 },
      { from: 'pair BTC/EUR', to: 'state pending', value: 1 },
      { from: 'state final', to: 'order DONE', value: 2 },
      { from: 'state pending', to: 'no order', value: 1 },
    ]);
  });

  it('leave out what the moment of the report cannot be known of', () => {
    expect(chartsOf([{}], { kind: 'unchecked', reason: 'changedAfter' })).toEqual({});
  });

  it('count how long orders have waited, since they last changed or were inserted', () => {
    const open = { state: 'open', changed_at: '2026-01-09T23:00:00.001Z' };
    const { categories, series } = chartsOf([
      open,
      { ...open, changed_at: '2026-01-09T23:00:00.000Z' },
      { state: 'pending', changed_at: null },
      {},
    ])['Ageing'] ?? { categories: [], series: [] };
    expect(categories).toEqual(['pending', 'open']);
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['under 1 h', [0, 1]],
      ['1 h to 1 d', [0, 1]],
      ['1 d to 3 d', [0, 0]],
      ['3 d to 7 d', [0, 0]],
      ['over 7 d', [1, 0]],
    ]);
  });

  it('show within which time so many percent of a pair were final, to a tenth', () => {
    const minutes = (count: number) => ({ completion_date: new Date(Date.UTC(2026, 0, 1, 0, count)).toISOString() });
    const rows = Array.from({ length: 100 }, (_, index) => minutes(index + 1));
    const backwards = { completion_date: '2025-12-31T00:00:00Z' };
    const { categories, series } = chartsOf([...rows, { completion_date: null }, backwards])[
      'Time from creation to completion'
    ] ?? {
      categories: [],
      series: [],
    };
    expect(categories).toEqual(['BTC/EUR']);
    const [half = 0, most = 0, nearlyAll = 0] = series.map(({ values }) => (values[0] ?? 0) * 60);
    expect([Math.abs(half / 50 - 1) < 0.1, Math.abs(most / 90 - 1) < 0.1, Math.abs(nearlyAll / 99 - 1) < 0.1]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('draw many pairs as a few and the others together', () => {
    const days = Array.from({ length: 12 }, (_, index) => ({
      day: '2026-01-01',
      pair: `P${index}/EUR`,
      orders: index + 1,
    }));
    const [volume] = new ReconciliationCharts().charts(days);
    expect(volume?.series).toHaveLength(9);
    expect(volume?.series.at(-1)).toEqual({ name: 'other pairs', values: [1 + 2 + 3 + 4] });
    expect(volume?.series.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)).toBe(78);
  });
});
