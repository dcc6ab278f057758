import { describe, expect, it } from 'vitest';
import { summarize, SUMMARY_COLUMNS, type SummaryPart } from '../../../src/extensions/reports/summary.ts';

const PART: SummaryPart = {
  account: 'default',
  from_currency: 'BTC',
  to_currency: 'EUR',
  state: 'open',
  order_status: 'REQUEST',
  outcome: null,
  asset_position: 'INPUT',
  orders: 1,
  asset: '1',
  unreadable: 0,
};

function summaryOf(...parts: Partial<SummaryPart>[]) {
  return summarize(parts.map((part) => ({ ...PART, ...part })));
}

describe('the summary', () => {
  it('is empty if there are no orders', () => {
    expect(summaryOf()).toEqual([]);
  });

  it('has a line for each pair, state and status, in their order', () => {
    const lines = summaryOf(
      { state: 'pending', order_status: null },
      { account: 'default', from_currency: 'ETH' },
      {},
      { order_status: 'DONE' },
      {},
      { to_currency: 'USD' },
    );
    expect(lines.map(({ pair, state, status, orders }) => [pair, state, status, orders])).toEqual([
      ['BTC/EUR', 'open', 'DONE', 1],
      ['BTC/EUR', 'open', 'REQUEST', 2],
      ['BTC/EUR', 'pending', null, 1],
      ['BTC/USD', 'open', 'REQUEST', 1],
      ['ETH/EUR', 'open', 'REQUEST', 1],
    ]);
    expect(Object.keys(lines[0] ?? {})).toEqual(SUMMARY_COLUMNS.map(({ key }) => key));
  });

  it('never adds what paid to what failed, is open or disputed, nor one asset position to another', () => {
    const final = { state: 'final', order_status: 'DONE' };
    const lines = summaryOf(
      { ...final, outcome: 'succeeded', asset: '1' },
      { ...final, outcome: 'failed', asset: '2' },
      { asset: '4' },
      { ...final, asset: '8' },
      { state: 'disputed', order_status: 'DONE', asset: '16' },
      { ...final, outcome: 'succeeded', asset: '32', asset_position: 'OUTPUT' },
    );
    const keys = ['outcome', 'position', 'asset', 'succeeded', 'failed', 'open', 'outcome_unknown'] as const;
    expect(new Set(lines.map((line) => keys.map((key) => line[key]).join(' ')))).toEqual(
      new Set([
        'succeeded INPUT 1 1 0 0 0',
        'failed INPUT 2 0 2 0 0',
        'open INPUT 4 0 0 4 0',
        'outcome_unknown INPUT 8 0 0 0 8',
        'disputed INPUT 16 0 0 0 0',
        'succeeded OUTPUT 32 32 0 0 0',
      ]),
    );
  });

  it('counts separately what differs by case or by the end of a name', () => {
    const lines = summaryOf(
      { state: 'open' },
      { state: 'OPEN' },
      { account: 'default', from_currency: 'BTC/EUR', to_currency: 'x' },
    );
    expect(lines.map(({ orders }) => orders)).toEqual([1, 1, 1]);
  });

  it('adds up the parts of a group, to the last digit', () => {
    const lines = summaryOf(
      { orders: 3, asset: '12345678901234567.123456789012345678', unreadable: 1 },
      { orders: 2, asset: '0.000000000000000001', unreadable: 1 },
    );
    const asset = '12345678901234567.123456789012345679';
    expect(lines).toEqual([expect.objectContaining({ orders: 5, asset, unreadable: 2 })]);
  });

  it('has a question mark for a currency that is missing', () => {
    expect(summaryOf({ account: 'default', from_currency: null, to_currency: null })[0]?.pair).toBe('?/?');
  });
});
