import { utcTime, readPair } from '../../../documents/commands/options.ts';
import { headlineOf } from '../../../documents/headline.ts';
import type { Column, Row } from '../../../documents/document.ts';
import { FINAL_OUTCOMES, listOrders, ORDER_SORTS, type OrderPlace } from '../../../operate/tables/listed-orders.ts';
import { pairOf } from '../../../reports/reconciliation/rows.ts';
import { accountWords } from '../../../../accounts/rules/name.ts';
import { shellWord } from '../../../../base/text.ts';
import { counted, withCommas } from '../../../../base/words.ts';
import { ORDER_STATES } from '../../../../orders/rules/states.ts';
import type { OrderRow } from '../../../../store/orders/order-columns.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { empty, rowPath, table } from '../markup.ts';
import { choicesOf, listText, PAGE_ROWS } from './list.ts';
import { choiceIn, readIn, type Query } from './query.ts';

/** A page looks at no more orders than this: the daemon does nothing else meanwhile. */
const MOST_READ = 5_000;

const SORTS = { newest: 'newest first', oldest: 'oldest first', id: 'by id' } as const;
const TIME_HINT = '2026-01-31';
const FIELDS = [
  { name: 'q', label: 'Id, or its beginning' },
  { name: 'state', label: 'State', options: choicesOf(ORDER_STATES) },
  {
    name: 'outcome',
    label: 'Outcome',
    options: { '': 'any', succeeded: 'paid', failed: 'failed', outcome_unknown: 'final, not known whether it paid' },
  },
  { name: 'pair', label: 'Pair', hint: 'BTC/EUR' },
  { name: 'since', label: 'Inserted since (UTC)', hint: TIME_HINT },
  { name: 'until', label: 'Inserted before (UTC)', hint: TIME_HINT },
] as const;

function columnsOf(account: string | undefined, at: string): readonly Column[] {
  return [
    { key: 'external_order_id', label: 'Order', kind: 'text', href: rowPath, isCopied: true },
    ...(account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' } as const] : []),
    { key: 'state', label: 'State', kind: 'state' },
    { key: 'headline', label: 'What happened', kind: 'text' },
    { key: 'pair', label: 'Pair', kind: 'text' },
    { key: 'asset', label: 'Amount', kind: 'decimal' },
    { key: 'since', label: 'Unchanged since', kind: 'time', agesAt: at },
    { key: 'state_reason', label: 'Why', kind: 'text', rank: 1 },
  ];
}

/** Writes the page of the orders that match the filter of its address. */
export async function ordersText(
  { store, clock }: OpsPages,
  account: string | undefined,
  query: Query,
): Promise<string> {
  const { q } = query;
  const filter = {
    state: choiceIn(query, 'state', ORDER_STATES),
    outcome: choiceIn(query, 'outcome', FINAL_OUTCOMES),
    pair: readIn(query, 'pair', readPair),
    from: readIn(query, 'since', utcTime),
    to: readIn(query, 'until', utcTime),
  };
  // Of all accounts the first page alone is read, in the order of the command.
  const sort =
    account === undefined ? undefined : (choiceIn(query, 'sort', ORDER_SORTS) ?? (q === undefined ? 'newest' : 'id'));
  const { rows, isCut, lookedUntil } = await listOrders(store.db, {
    ...filter,
    account,
    sort,
    order: q === undefined ? undefined : { id: q, isPrefix: true },
    after: sort && readIn(query, 'after', placeOf),
    limit: PAGE_ROWS + 1,
    mostRead: MOST_READ,
  });
  const shown = rows.slice(0, PAGE_ROWS);
  const isMore = rows.length > PAGE_ROWS;
  const goesOn = isMore ? shown.at(-1) : isCut ? lookedUntil : undefined;
  const isUnread = isCut && !isMore;
  const how = sort === undefined ? 'those that need a person first, then the newest' : SORTS[sort];
  const about = [
    `${counted(shown.length, 'order')}, ${how}.`,
    isUnread ? `These are all among the ${withCommas(MOST_READ)} orders that this page looked at.` : '',
    isUnread && goesOn === undefined ? 'Enter more of the id, or another filter, to see others.' : '',
    isMore && sort === undefined ? 'There are more: choose an account to see them.' : '',
  ];
  return listText({
    path: '/orders',
    title: 'Orders',
    account,
    query,
    fields: [...FIELDS, ...(sort === undefined ? [] : [{ name: 'sort', label: 'Sort', options: SORTS }])],
    about: about.filter((one) => one !== '').join(' '),
    table:
      shown.length === 0
        ? empty('No order matches this filter.')
        : table('Orders', columnsOf(account, clock.now().toISOString()), shown.map(rowOf)),
    next: sort && goesOn && { after: afterOf(goesOn), label: isMore ? 'Next page' : 'Look at the next orders' },
    command:
      account === undefined || q !== undefined
        ? undefined
        : ['All orders of this filter, as a CSV file:', exportOf(account, filter)],
  });
}

/** A database takes bytes in place of text. */
function rowOf(row: OrderRow): Row {
  const since = row.changed_at ?? row.sent_at ?? row.created_at;
  const cells = Object.entries({ ...row, headline: headlineOf(row), pair: pairOf(row), since });
  return Object.fromEntries(cells.map(([key, value]) => [key, ArrayBuffer.isView(value) ? '<bytes>' : value]));
}

function afterOf({ created_at, external_order_id }: OrderPlace): string {
  return JSON.stringify([created_at, external_order_id]);
}

function placeOf(text: string): OrderPlace {
  const place: unknown = JSON.parse(text);
  const [created_at, external_order_id] = Array.isArray(place) ? (place as readonly unknown[]) : [];
  if (typeof created_at === 'string' && typeof external_order_id === 'string') return { created_at, external_order_id };
  throw new Error('Go to the first page.');
}

interface ExportedFilter {
  readonly state: string | undefined;
  readonly outcome: string | undefined;
  readonly pair: Readonly<Record<'from' | 'to', string>> | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

function exportOf(account: string, { pair, ...filter }: ExportedFilter): string {
  const options = Object.entries({ ...filter, pair: pair && `${pair.from}/${pair.to}`, out: 'orders.csv' });
  const words = options.flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellWord(value)}`]));
  return `order-sync orders export${words.join('')}${accountWords(account)}`;
}
