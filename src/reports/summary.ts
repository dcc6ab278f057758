import { DecimalSum, readDecimal } from '../domain/decimal.ts';

/** The columns of an order that the summary needs. */
export interface SummaryInput {
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  readonly state: string;
  readonly order_status: string | null;
  readonly asset: unknown;
}

/** Orders of one pair, state and status, with the exact sum of their assets. */
export interface SummaryLine {
  readonly pair: string;
  readonly state: string;
  readonly status: string | null;
  readonly orders: number;
  /** Exact decimal text. */
  readonly asset: string;
  /** Orders whose asset is not a number; they are counted and not summed. */
  readonly unreadable: number;
}

/** The columns of the summary, in order. */
export const SUMMARY_COLUMNS = [
  'pair',
  'state',
  'status',
  'orders',
  'asset',
  'unreadable',
] as const satisfies readonly (keyof SummaryLine)[];

/** Counts and sums orders by pair, state and status. Memory grows with the groups, not with the rows. */
export async function summarize(rows: AsyncIterable<SummaryInput>): Promise<SummaryLine[]> {
  const groups = new Map<
    string,
    { key: [string, string, string | null]; orders: number; unreadable: number; sum: DecimalSum }
  >();
  for await (const row of rows) {
    const key: [string, string, string | null] = [
      `${row.from_currency ?? '?'}/${row.to_currency ?? '?'}`,
      row.state,
      row.order_status,
    ];
    const id = JSON.stringify(key);
    const group = groups.get(id) ?? { key, orders: 0, unreadable: 0, sum: new DecimalSum() };
    groups.set(id, group);
    group.orders += 1;
    const asset = readDecimal(row.asset);
    if (asset.ok) group.sum.add(asset.text);
    else group.unreadable += 1;
  }
  return [...groups.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { key, orders, unreadable, sum }]) => ({
      pair: key[0],
      state: key[1],
      status: key[2],
      orders,
      asset: sum.toString(),
      unreadable,
    }));
}
