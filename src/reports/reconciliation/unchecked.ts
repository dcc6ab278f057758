import { capitalized, inWords } from '../formats/text.ts';
import { accountColumns } from '../formats/sections.ts';
import type { Column, Row, Section } from '../formats/document.ts';
import { instantMs } from '../../domain/instant.ts';
import { UNCHECKED, UNCHECKED_REASONS, type UncheckedReason } from './judge.ts';

/** An order that was not compared with the exchange, or is disputed. Times are UTC, ISO 8601. */
export type UncheckedOrder = Readonly<{
  reason: UncheckedReason | 'disputed';
  account: string;
  external_order_id: string;
  pair: string;
  state: string;
  /** When the order last changed, or was inserted. */
  since: string;
  last_lookup: string | null;
  state_reason: string | null;
}>;

/** So many orders of a reason are listed, those that have waited the longest; the others are only counted. */
export const MOST_UNCHECKED = 500;

const COLUMNS: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'reason', label: 'Reason', kind: 'text' },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 1 },
  { key: 'state', label: 'State', kind: 'state' },
  { key: 'age', label: 'Unchanged for', kind: 'text' },
  { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 },
  { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 1 },
];
const DISPUTED_COLUMNS: readonly Column[] = [
  { key: 'external_order_id', label: 'Order', kind: 'text' },
  { key: 'state_reason', label: 'Why', kind: 'text' },
  { key: 'pair', label: 'Pair', kind: 'text', rank: 1 },
  { key: 'age', label: 'Unchanged for', kind: 'text', rank: 1 },
  { key: 'since', label: 'Unchanged since', kind: 'time', rank: 2 },
  { key: 'last_lookup', label: 'Last look-up', kind: 'time', rank: 2 },
];
const COUNT_COLUMNS: readonly Column[] = [
  { key: 'reason', label: 'Reason', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
];

type OfReport = { readonly account: string | undefined; readonly asOf: string };

/** The section of the orders that were not checked, by reason. `counts` are those of all of them. */
export function uncheckedOrdersSection(
  orders: Iterable<UncheckedOrder>,
  counts: ReadonlyMap<UncheckedReason, number>,
  { account, asOf }: OfReport,
): Section {
  return {
    name: 'unchecked_orders',
    title: 'Orders that could not be checked',
    part: 'attention',
    empty: 'No order is left unchecked.',
    columns: [...accountColumns(account), ...COLUMNS],
    rows: orderRows(orders, instantMs(asOf) ?? 0),
    groups: {
      key: 'reason',
      describe: (value) => {
        const reason = UNCHECKED_REASONS.find((one) => UNCHECKED[one][0] === value) ?? 'neverLookedUp';
        const [text, advice] = UNCHECKED[reason];
        const all = counts.get(reason) ?? 0;
        const most = `Of ${all} orders those ${MOST_UNCHECKED} are listed that have waited the longest.`;
        const lines = [`What to do: ${advice}`, ...(all > MOST_UNCHECKED ? [most] : [])];
        return { title: capitalized(text), tone: 'warning', lines };
      },
    },
  };
}

/** The section of the disputed orders; at most so many as of a reason above. */
export function disputedOrdersSection(
  orders: Iterable<UncheckedOrder>,
  count: number,
  { account, asOf }: OfReport,
): Section {
  const lead =
    'An order of the exchange answers for the id of ours and contradicts it. Pay and deliver nothing for it until a person has decided: order-sync orders resolve ORDER --as ours|abandoned --reason TEXT.';
  const most = ` Of ${count} orders those ${MOST_UNCHECKED} are listed that have been disputed the longest.`;
  return {
    name: 'disputed_orders',
    title: 'Disputed orders',
    part: 'attention',
    lead: count > MOST_UNCHECKED ? lead + most : lead,
    isForPrograms: count === 0,
    columns: [...accountColumns(account), ...DISPUTED_COLUMNS],
    rows: orderRows(orders, instantMs(asOf) ?? 0),
  };
}

export function uncheckedSection(counts: ReadonlyMap<UncheckedReason, number>): Section {
  const rows = UNCHECKED_REASONS.map((reason) => ({ reason: UNCHECKED[reason][0], orders: counts.get(reason) ?? 0 }));
  const found = rows.filter(({ orders }) => orders > 0);
  return { name: 'unchecked', title: 'Unchecked orders', columns: COUNT_COLUMNS, rows: found, isForPrograms: true };
}

function* orderRows(orders: Iterable<UncheckedOrder>, asOfMs: number): Generator<Row> {
  for (const { reason, ...order } of orders) {
    const sinceMs = instantMs(order.since);
    const age = sinceMs === undefined ? null : inWords(asOfMs - sinceMs);
    yield { ...order, reason: reason === 'disputed' ? null : UNCHECKED[reason][0], age };
  }
}
