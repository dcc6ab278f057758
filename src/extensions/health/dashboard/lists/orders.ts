import { withCommas } from '../../../../base/words.ts';
import { ORDER_STATES } from '../../../../orders/rules/states.ts';
import type { OrderRow } from '../../../../store/orders/order-columns.ts';
import { utcTime } from '../../../commands/options.ts';
import type { Row } from '../../../documents/document.ts';
import { headlineOf } from '../../../documents/headline.ts';
import { FINAL_OUTCOMES, listOrders, ORDER_SORTS, type OrderPlace } from '../../../operate/tables/listed-orders.ts';
import { pairOf } from '../../../reports/reconciliation/rows.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { choiceOf, listText, PAGE_ROWS, PAIR, valueIn, type Field, type Query } from './list.ts';

/** The most orders that a page examines. The limit is low, because the query blocks the daemon. */
const MOST_READ = 5_000;

const SORTS = { newest: 'newest first', oldest: 'oldest first', id: 'by id' } as const;
const NEED_A_PERSON = 'orders that need a person first, then the newest';
const SORT = choiceOf('sort', 'Sort', ORDER_SORTS, SORTS);
const ID: Field<string> = { name: 'q', label: 'Id, or its beginning', read: (text) => text };
const STATE = choiceOf('state', 'State', ORDER_STATES);
const OUTCOME = choiceOf('outcome', 'Outcome', FINAL_OUTCOMES, {
  '': 'any',
  succeeded: 'paid',
  failed: 'failed',
  outcome_unknown: 'not known whether it paid',
});
const time = { example: '2026-01-31', read: utcTime };
const SINCE: Field<string> = { ...time, name: 'since', label: 'Inserted since (UTC)', option: 'from' };
const UNTIL: Field<string> = { ...time, name: 'until', label: 'Inserted before (UTC)', option: 'to' };
const AFTER: Field<OrderPlace> = { name: 'after', label: 'Page', read: placeOf };
const FIELDS = [STATE, OUTCOME, PAIR, SINCE, UNTIL];

export async function ordersText({ store, clock }: OpsPages, account: string | undefined, query: Query) {
  const { [ID.name]: id } = query;
  const sort = account === undefined ? undefined : (valueIn(query, SORT) ?? (id === undefined ? 'newest' : 'id'));
  const { rows, isCut, lookedUntil } = await listOrders(store.db, {
    account,
    order: id === undefined ? undefined : { id, isPrefix: true },
    state: valueIn(query, STATE),
    outcome: valueIn(query, OUTCOME),
    pair: valueIn(query, PAIR),
    from: valueIn(query, SINCE),
    to: valueIn(query, UNTIL),
    sort,
    after: sort && valueIn(query, AFTER),
    limit: PAGE_ROWS + 1,
    mostRead: MOST_READ,
  });
  const cut = `This page looked at ${withCommas(MOST_READ)} orders, and there are more.`;
  const isExported = account !== undefined && id === undefined;
  return listText<OrderPlace & Partial<OrderRow>>({
    noun: 'order',
    none: 'There are no orders yet.',
    account,
    query: { ...query, ...(sort && { sort }) },
    fields: [ID, ...FIELDS, ...(sort === undefined ? [] : [SORT])],
    about: [sort === undefined ? NEED_A_PERSON : SORTS[sort], isCut && cut],
    columns: [
      { key: 'state', label: 'State', kind: 'state' },
      { key: 'headline', label: 'What happened', kind: 'text' },
      { key: 'pair', label: 'Pair', kind: 'text' },
      { key: 'asset', label: 'Amount', kind: 'decimal' },
      { key: 'since', label: 'Unchanged since', kind: 'time', agesAt: clock.now().toISOString() },
      { key: 'state_reason', label: 'Why', kind: 'text' },
    ],
    found: rows,
    rowOf: (row) => rowOf(row as OrderRow),
    after: [(last) => `${last.created_at}\n${last.external_order_id}`, isCut ? lookedUntil : undefined],
    command: isExported
      ? ['All orders of this filter as a CSV file:', 'orders export --out orders.csv', query]
      : undefined,
  });
}

/** Replaces bytes, which SQLite accepts in a column of text, by `<bytes>`. */
function rowOf(row: OrderRow): Row {
  const since = row.changed_at ?? row.sent_at ?? row.created_at;
  const cells = Object.entries({ ...row, headline: headlineOf(row), pair: pairOf(row), since });
  return Object.fromEntries(cells.map(([key, value]) => [key, ArrayBuffer.isView(value) ? '<bytes>' : value]));
}

function placeOf(text: string): OrderPlace {
  const [, created_at, external_order_id] = /^(.*?)\n(.*)$/s.exec(text) ?? [];
  if (created_at === undefined || external_order_id === undefined) throw new Error('Go to the first page.');
  return { created_at, external_order_id };
}
