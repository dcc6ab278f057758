import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { accountNames, accountsIn, otherAccounts } from '../../commands/tables/accounts.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import { type OrderState, WAITING_STATES } from '../../../orders/rules/states.ts';
import { listAccounts, newestFirst, isInPeriod, isLike } from './listed.ts';
import type { Listed, OfAccount, RowFilter } from './listed.ts';
import type { OrderRow } from '../../../store/orders/order-columns.ts';
import { allOf, unindexed, indexedBy } from '../../../store/dialect.ts';
import { MOST_COUNTED } from '../../../store/find-orders.ts';
import type { Database } from '../../../store/port.ts';

const MOST_READ = 50_000;
/** If the filter has no `sort`, orders in these states come first, because they may need a person. */
const FIRST_STATES = ['held', 'disputed', 'unknown'] as const satisfies readonly OrderState[];

export const ORDER_SORTS = ['newest', 'oldest', 'id'] as const;
type OrderSort = (typeof ORDER_SORTS)[number];
/** Outcomes of final orders. `outcome_unknown` stands for the outcome null. */
export const FINAL_OUTCOMES = ['succeeded', 'failed', 'outcome_unknown'] as const;
export type OrderPlace = Pick<OrderRow, 'created_at' | 'external_order_id'>;

const CREATED_AT = sql<string>`created_at`;
const NAMES = accountNames('merchant_orders');

interface OrderListFilter extends RowFilter {
  readonly outcome?: (typeof FINAL_OUTCOMES)[number] | undefined;
  readonly sort?: OrderSort | undefined;
  readonly after?: OrderPlace | undefined;
  readonly mostRead?: number;
}

/** `lookedUntil` is the last row that a cut list examined; the next page begins after that row. */
type ListedOrders = Listed<OrderRow> & { readonly lookedUntil?: OrderPlace | undefined };
type Filter = OfAccount<OrderListFilter>;

type Condition = RawBuilder<SqlBool>;

/** Reads and sorts the matches of an id, a class or a state of few orders. For other filters, reads along an index. */
export async function listOrders(db: Database, filter: OrderListFilter): Promise<ListedOrders> {
  const accounts = () => accountsToList(db, filter);
  return await listAccounts(filter, accounts, (one) => listOfAccount(db, one), compareRows);
}

/** Returns only accounts that may have rows of the list, because a query of every account may take a minute. */
async function accountsToList(db: Database, filter: OrderListFilter): Promise<readonly string[]> {
  const { order, class: name, state, pair, outcome, from, to, limit } = filter;
  const having = async (condition: Condition) => {
    const row = sql`select 1 from merchant_orders where account = named.account and ${condition}`;
    const found = sql<{ account: string }>`select account from (${NAMES}) named where exists (${row})`;
    return (await found.execute(db)).rows.map(({ account }) => account);
  };
  if (order !== undefined) return await having(isLike(order));
  if (name !== undefined) return await accountsIn(db, 'findings');
  if (state !== undefined) return await having(sql`state = ${state}`);
  if (pair !== undefined || outcome !== undefined) return await accountsIn(db, 'merchant_orders');
  const ofAccount = allOf(sql`account = named.account`, isInPeriod(sql`created_at`, from, to));
  const { rows } = await sql<{ account: string }>`select account
    from (select account, (select max(created_at) from merchant_orders where ${ofAccount}) as newest from (${NAMES}) named) aged
    where newest is not null order by newest desc limit ${limit}`.execute(db);
  const urgent = await having(sql`state in (${sql.join(FIRST_STATES)})`);
  return [...new Set([...urgent, ...rows.map((row) => row.account)])];
}

function compareRows(one: OrderRow, other: OrderRow): number {
  const placeOf = ({ state }: OrderRow) => {
    const place = FIRST_STATES.findIndex((first) => first === state);
    return place < 0 ? FIRST_STATES.length : place;
  };
  return placeOf(one) - placeOf(other) || newestFirst<OrderRow>('created_at')(one, other);
}

async function listOfAccount(db: Database, filter: Filter): Promise<ListedOrders> {
  const { account, order, class: name, state, sort, limit } = filter;
  if (order !== undefined) return await listAmong(db, filter, idsWhere(account, isLike(order)));
  if (name !== undefined) return await listAmong(db, filter, idsWithFinding(account, name));
  if (state !== undefined) return await listOfState(db, filter, state);
  if (sort !== undefined) return await listByIndex(db, filter);
  const lists = [];
  let left = limit;
  for (const first of FIRST_STATES) {
    const list = await listOfState(db, { ...filter, limit: left }, first);
    lists.push(list);
    left -= list.rows.length;
  }
  const isOther = sql<SqlBool>`${unindexed('state')} not in (${sql.join(FIRST_STATES)})`;
  lists.push(await listByIndex(db, { ...filter, limit: left }, isOther));
  return { rows: lists.flatMap(({ rows }) => rows), isCut: left > 0 && lists.some(({ isCut }) => isCut) };
}

async function listOfState(db: Database, filter: Filter, state: OrderState): Promise<ListedOrders> {
  const ids = idsWhere(filter.account, sql`state = ${state}`);
  // Most orders may be final. The index by `created_at` finds the newest of them soon.
  const isFew = state !== 'final' && !(await hasMore(db, filter, ids));
  if (isFew) return await listAmong(db, filter, ids);
  return await listByIndex(db, filter, sql`${unindexed('state')} = ${state}`);
}

/** Sorts few candidates. `unindexed` keeps SQLite from the indexes by age and by state, which have more rows. */
async function listAmong(db: Database, filter: Filter, ids: RawBuilder<unknown>): Promise<Listed<OrderRow>> {
  const { limit, sort, after, mostRead = MOST_READ } = filter;
  const createdAt = unindexed('created_at');
  const candidates = sql<SqlBool>`external_order_id in (${ids} limit ${mostRead})`;
  const place = FIRST_STATES.map((state, index) => sql`when ${state} then ${sql.lit(index)}`);
  const first = sql`case ${unindexed('state')} ${sql.join(place, sql` `)} else 9 end,`;
  const { rows } = await sql<OrderRow>`select * from merchant_orders
    where ${allOf(unsearched(filter), candidates, isAfter(sort, after, createdAt))}
    order by ${sort === undefined ? first : sql``} ${orderOf(sort, createdAt)} limit ${limit}`.execute(db);
  // The candidates are not the newest matches, so that a full list may lack rows too.
  return { rows, isCut: await hasMore(db, filter, ids) };
}

/** Reads rows in the order of an index, from `after`. Examines `mostRead` + 1 rows at most. */
async function listByIndex(db: Database, filter: Filter, condition?: Condition): Promise<ListedOrders> {
  const { account, limit, sort, mostRead = MOST_READ } = filter;
  const beyond = await sql<OrderPlace>`select created_at, external_order_id from merchant_orders
    where account = ${account} and ${rangeOf(filter)} order by ${orderOf(sort)} limit 1 offset ${mostRead}`.execute(db);
  const [last] = beyond.rows;
  const { rows } = await sql<OrderRow>`select * from merchant_orders
    where ${allOf(unsearched(filter), rangeOf(filter, last), condition)}
    order by ${orderOf(sort)} limit ${limit}`.execute(db);
  return { rows, isCut: rows.length < limit && last !== undefined, lookedUntil: last };
}

/** Returns one condition for each end of the range. Of two conditions, the database might search by the wider one. */
function rangeOf({ from, to, sort, after }: Filter, last?: OrderPlace): Condition {
  const ends = [isInPeriod(CREATED_AT, from, undefined), isInPeriod(CREATED_AT, undefined, to)];
  const [begin, end] = sort === 'id' ? [] : sort === 'oldest' ? ends : ends.toReversed();
  return allOf(isAfter(sort, after) ?? begin, isAfter(sort, last, CREATED_AT, true) ?? end);
}

function orderOf(sort: OrderSort = 'newest', createdAt = CREATED_AT): RawBuilder<unknown> {
  if (sort === 'id') return sql`external_order_id`;
  return sort === 'oldest' ? sql`${createdAt}, external_order_id` : sql`${createdAt} desc, external_order_id desc`;
}

/** Returns the condition that a row comes after `place`; if `isNot`, the opposite condition. */
function isAfter(sort: OrderSort = 'newest', place?: OrderPlace, createdAt = CREATED_AT, isNot = false) {
  if (place === undefined) return undefined;
  const sign = sql.raw(`${(sort === 'newest') === isNot ? '>' : '<'}${isNot ? '=' : ''}`);
  const { created_at: at, external_order_id: id } = place;
  if (sort === 'id') return sql<SqlBool>`external_order_id ${sign} ${id}`;
  return sql<SqlBool>`(${createdAt}, external_order_id) ${sign} (${at}, ${id})`;
}

function unsearched({ account, state, pair, outcome, class: name, from, to }: Filter): Condition {
  const finding = sql<SqlBool>`exists (select 1 from findings where findings.account = merchant_orders.account
    and findings.external_order_id = merchant_orders.external_order_id and class = ${name} and ${unindexed('status')} <> 'resolved')`;
  const ended = outcome === 'outcome_unknown' ? sql`outcome is null` : sql`outcome = ${outcome}`;
  return allOf(
    sql`account = ${account}`,
    state === undefined ? undefined : sql`${unindexed('state')} = ${state}`,
    pair === undefined ? undefined : sql`from_currency = ${pair.from} and to_currency = ${pair.to}`,
    name === undefined ? undefined : finding,
    outcome === undefined ? undefined : sql`${unindexed('state')} = 'final' and ${ended}`,
    isInPeriod(unindexed('created_at'), from, to),
  );
}

async function hasMore(db: Database, { mostRead = MOST_READ }: Filter, ids: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`select 1 from (${ids} limit 1 offset ${mostRead}) listed`.execute(db);
  return rows.length > 0;
}

const idsWhere = (account: string, condition: Condition) =>
  sql`select external_order_id from merchant_orders where account = ${account} and ${condition}`;

function idsWithFinding(account: string, name: FindingClassName): RawBuilder<unknown> {
  return sql`select external_order_id from findings
    where account = ${account} and status in ('open', 'acknowledged') and class = ${name} and ${unindexed('external_order_id')} is not null`;
}

export async function orderEvents(db: Database, account: string, externalOrderId: string) {
  return await db
    .selectFrom('order_events')
    .selectAll()
    .where((event) => event.and({ account, external_order_id: externalOrderId }))
    .orderBy('id')
    .execute();
}

/** Counts the waiting orders of accounts without an owner that are not in `accounts`, up to `MOST_COUNTED` in all. */
export async function countOfOthers(db: Database, accounts: readonly { readonly name: string }[]) {
  const named = accounts.map(({ name }) => name);
  const others = await otherAccounts(db, named);
  if (others.length === 0) return [];
  const { rows } = await sql<{ account: string; orders: number }>`select account, count(*) as orders
    from (select account from merchant_orders ${indexedBy('merchant_orders_due')}
      where account in (${sql.join(others)}) and state in (${sql.join(WAITING_STATES)}) limit ${MOST_COUNTED}) as waiting
    group by account order by account`.execute(db);
  return rows;
}
