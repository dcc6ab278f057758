import { capitalized, inWords } from '../formats/words.ts';
import { accountColumns } from '../formats/sections.ts';
import type { Column, Row, Section } from '../formats/document.ts';
import { instantMs } from '../../domain/instant.ts';
import { UNCHECKED_REASONS, type UncheckedReason } from './judge.ts';

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
  /** Why the order is in its state. */
  state_reason: string | null;
}>;

/** So many orders of a reason are listed, those that have waited the longest; the others are only counted. */
export const MOST_UNCHECKED = 500;

/** Every reason, what may be wrong first, what only time brings last. */
export const UNCHECKED_ORDER: readonly UncheckedReason[] = [
  'outcomeUnknown',
  'olderRecord',
  'noAmount',
  'noPair',
  'otherPosition',
  'neverLookedUp',
  'lookedUpLongAgo',
  'givenUp',
  'notCompared',
  'inFlight',
  'changedAfter',
];

const SYNC = 'Run order-sync sync, then make the report again.';
const ADVICE: Readonly<Record<UncheckedReason, string>> = {
  outcomeUnknown: 'Ask the exchange for the order, then record its answer with order-sync orders resolve.',
  olderRecord: 'Ask the exchange which record of the order is right.',
  noAmount: 'Ask the exchange for the amount of the order.',
  noPair: 'Ask the exchange for the currency pair of the order.',
  otherPosition:
    'Set exchange.outputPosition when you know which amount the position OUTPUT means; of other positions nothing is known.',
  neverLookedUp: SYNC,
  lookedUpLongAgo: SYNC,
  givenUp: SYNC,
  notCompared: SYNC,
  inFlight: 'Make the report again in a minute: its outcome is known then.',
  changedAfter: 'Make a report of a later moment: what the order was at this one is not known any more.',
};

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

/** What a report is of: all accounts where none is named. */
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
        const reason = UNCHECKED_ORDER.find((one) => UNCHECKED_REASONS[one] === value) ?? 'neverLookedUp';
        const all = counts.get(reason) ?? 0;
        const most = `Of ${all} orders those ${MOST_UNCHECKED} are listed that have waited the longest.`;
        const lines = [`What to do: ${ADVICE[reason]}`, ...(all > MOST_UNCHECKED ? [most] : [])];
        return { title: capitalized(UNCHECKED_REASONS[reason]), tone: 'warning', lines };
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

/** The section of the counts of unchecked orders, for programs. */
export function uncheckedSection(counts: ReadonlyMap<UncheckedReason, number>): Section {
  const rows = (Object.keys(UNCHECKED_REASONS) as UncheckedReason[]).flatMap((reason) => {
    const orders = counts.get(reason) ?? 0;
    return orders === 0 ? [] : [{ reason: UNCHECKED_REASONS[reason], orders }];
  });
  return { name: 'unchecked', title: 'Unchecked orders', columns: COUNT_COLUMNS, rows, isForPrograms: true };
}

function* orderRows(orders: Iterable<UncheckedOrder>, asOfMs: number): Generator<Row> {
  for (const { reason, ...order } of orders) {
    const sinceMs = instantMs(order.since);
    const age = sinceMs === undefined ? null : inWords(asOfMs - sinceMs);
    yield { ...order, reason: reason === 'disputed' ? null : UNCHECKED_REASONS[reason], age };
  }
}
