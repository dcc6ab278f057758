import { describe, expect, it } from 'vitest';
import { summarize, SUMMARY_COLUMNS, type SummaryPart } from '../../src/reports/summary.ts';

const PART: SummaryPart = {
  from_currency: 'BTC',
  to_currency: 'EUR',
  state: 'open',
  order_status: 'REQUEST',
  orders: 1,
  asset: '1',
  unreadable: 0,
};

function summaryOf(...parts: Partial<SummaryPart>[]) {
  return summarize(parts.map((part) => ({ ...PART, ...part })));
}

describe('the summary', () => {
  it('is empty where there are no orders', () => {
    expect(summaryOf()).toEqual([]);
  });

  it('has a line for each pair, state and status, in their order', () => {
    const lines = summaryOf(
      { state: 'pending', order_status: null },
      { from_currency: 'ETH' },
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

  it('counts separately what differs by case or by where a name ends', () => {
    const lines = summaryOf({ state: 'open' }, { state: 'OPEN' }, { from_currency: 'BTC/EUR', to_currency: 'x' });
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
    expect(summaryOf({ from_currency: null, to_currency: null })[0]?.pair).toBe('?/?');
  });
});
