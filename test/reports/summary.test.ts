import { describe, expect, it } from 'vitest';
import { summarize, SUMMARY_COLUMNS, type SummaryInput } from '../../src/reports/summary.ts';

const ROW: SummaryInput = {
  from_currency: 'BTC',
  to_currency: 'EUR',
  state: 'open',
  order_status: 'REQUEST',
  asset: '1',
};

async function summaryOf(...rows: Partial<SummaryInput>[]) {
  async function* given() {
    for (const row of rows) yield { ...ROW, ...row };
  }
  return await summarize(given());
}

describe('the summary', () => {
  it('is empty where there are no orders', async () => {
    expect(await summaryOf()).toEqual([]);
  });

  it('has a line for each pair, state and status, in their order', async () => {
    const lines = await summaryOf(
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

  it('counts separately what differs by case or by where a name ends', async () => {
    const lines = await summaryOf({ state: 'open' }, { state: 'OPEN' }, { from_currency: 'BTC/EUR', to_currency: 'x' });
    expect(lines.map(({ orders }) => orders)).toEqual([1, 1, 1]);
  });

  it.each([
    [['12345678901234567.123456789012345678'], '12345678901234567.123456789012345678'],
    [['12345678901234567.123456789012345678', '0.000000000000000001'], '12345678901234567.123456789012345679'],
    [['0.1', '0.2'], '0.3'],
    [['9007199254740993', '1'], '9007199254740994'],
    [['1e-18', '1e21'], '1000000000000000000000.000000000000000001'],
    [['1.50'], '1.5'],
    [['5.0', '-5'], '0'],
    [[], '0'],
  ])('sums %j to exactly %s, in plain digits', async (assets, sum) => {
    const lines = await summaryOf(...assets.map((asset) => ({ asset })), { asset: null });
    expect(lines).toEqual([expect.objectContaining({ asset: sum, orders: assets.length + 1, unreadable: 1 })]);
  });

  it('sums many small amounts without a loss', async () => {
    const lines = await summaryOf(...Array.from({ length: 10_000 }, () => ({ asset: '0.000000000000000001' })));
    expect(lines[0]?.asset).toBe('0.00000000000001');
  });

  it('counts orders whose asset is no number, and sums the others', async () => {
    const lines = await summaryOf({ asset: 'one' }, { asset: null }, { asset: Buffer.from('1') }, { asset: '2' });
    expect(lines).toEqual([expect.objectContaining({ orders: 4, asset: '2', unreadable: 3 })]);
  });

  it('has a question mark for a currency that is missing', async () => {
    expect((await summaryOf({ from_currency: null, to_currency: null }))[0]?.pair).toBe('?/?');
  });
});
