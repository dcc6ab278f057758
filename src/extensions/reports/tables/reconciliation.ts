import { sql, type InferResult, type SqlBool } from 'kysely';
import { isInPeriod } from '../../operate/tables/listed.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import { WAITING_STATES } from '../../../orders/rules/states.ts';
import { ORDER_COLUMNS } from '../../../store/orders/order-columns.ts';
import { isStoredTime, indexedBy, unindexed, type Query } from '../../../store/dialect.ts';
import { queries } from '../../../store/statement.ts';
import { hasDecision } from '../../operate/tables/decided-findings.ts';

export type OrderTime = 'insertion' | 'completion';

/**
 * The orders of a report: inserted, or completed, at or after `from`, before `to`, and not after `asOf`. By completion,
 * orders without a readable completion date are left out.
 */
export interface ReportScope {
  readonly account: string;
  /** `insertion` if undefined. */
  readonly by?: OrderTime | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly asOf: string;
  readonly ignore?: readonly FindingClassName[] | undefined;
}

export type ReconciledRow = Readonly<InferResult<ReturnType<typeof reconciledRows>>[number]>;

export function reconciledRows(scope: ReportScope) {
  return ordersOf(scope)
    .select(['o.account', 'o.external_order_id', 'o.asset', 'o.asset_position', 'o.from_currency', 'o.to_currency'])
    .select(['o.state', 'o.state_reason', 'o.order_status', 'o.outcome', 'o.created_at', 'o.sent_at', 'o.changed_at'])
    .select(['o.last_lookup_at', 'o.modification_date', 'o.stale_date', 'o.attempts', 'o.resends', 'o.fail_over'])
    .select(['record.received_at', 'record.compared_at', 'record.input_asset', 'record.output_asset'])
    .select(['record.from_currency as record_from', 'record.to_currency as record_to', 'record.fee', 'record.reward'])
    .select(['record.creation_date', 'record.completion_date', timeOf(scope).as('at')]);
}

export type KnownFindingRow = Readonly<InferResult<ReturnType<typeof knownFindings>>[number]>;

/** Selects findings that were unresolved at `asOf`, except UNCHECKED, because the report itself judges each order. */
export function knownFindings(scope: ReportScope) {
  const { account, from = '', to, asOf, ignore = [] } = scope;
  const at = timeOf(scope);
  // A finding without an order, or of an order whose row was deleted, belongs to every period.
  const isOfPeriod = sql<SqlBool>`(o.created_at is null
    or (o.created_at <= ${asOf} and ${at} <= ${asOf} and ${isInPeriod(at, from, to)}))`;
  return queries
    .selectFrom('findings as f')
    .leftJoin('merchant_orders as o', (join) =>
      join.onRef('o.account', '=', 'f.account').onRef('o.external_order_id', '=', 'f.external_order_id'),
    )
    .leftJoin('order_records as record', (join) =>
      join.onRef('record.account', '=', 'f.account').onRef('record.external_order_id', '=', 'f.external_order_id'),
    )
    .select(['f.id', 'f.account', 'f.external_order_id', 'f.class', 'f.severity', 'f.expected', 'f.actual', 'f.status'])
    .select(['f.first_seen_at', 'f.changed_at as acknowledged_at', 'f.reason', 'o.state', 'o.outcome', 'o.changed_at'])
    .select(['o.asset', 'o.asset_position', 'o.from_currency', 'o.to_currency', at.$castTo<string | null>().as('at')])
    .select(hasDecision('f', asOf).as('is_decided'))
    .where('f.account', '=', account)
    .where('f.class', 'not in', ['UNCHECKED', ...ignore])
    .where('f.first_seen_at', '<=', asOf)
    .where((where) => where.or([where('f.status', '!=', 'resolved'), where('f.resolved_at', '>', asOf)]))
    .where(isOfPeriod);
}

export function waitingRows({ account, asOf }: Pick<ReportScope, 'account' | 'asOf'>): Query<{ rows: number }> {
  // Without `indexedBy`, SQLite would read all rows of the account.
  return sql<{ rows: number }>`select count(*) as "rows" from merchant_orders ${indexedBy('merchant_orders_due')}
    where account = ${account} and state in (${sql.join(WAITING_STATES)}) and created_at <= ${asOf}`;
}

/** Counts rows whose `created_at` is no time, and rows that were sent by `asOf` although `created_at` is later. */
export function rowsOfUnknownAge(account: string | undefined, asOf: string): Query<{ rows: number }> {
  const all = queries.selectFrom('merchant_orders').select((one) => one.fn.countAll<number>().as('rows'));
  const ours = account === undefined ? all : all.where('account', '=', account);
  return ours
    .where((where) => where.not(isStoredTime('created_at')))
    .unionAll(ours.where(isStoredTime('created_at')).where('created_at', '>', asOf).where('sent_at', '<=', asOf));
}

const PRE_ORDER_COLUMNS = (['pre_order_id', ...ORDER_COLUMNS] as const).map((name) => `o.${name}` as const);
export type PreOrderRow = InferResult<ReturnType<typeof nextPreOrders>>[number];

export function nextPreOrders(
  scope: ReportScope,
  last: { readonly at: string; readonly external_order_id: string } | undefined,
  limit: number,
) {
  const table = scope.by === 'completion' ? 'record' : 'o';
  const [at, id] = [timeOf(scope), sql.ref(`${table}.external_order_id`)];
  const orders = ordersOf(scope)
    .where('o.pre_order_id', 'is not', null)
    .select(PRE_ORDER_COLUMNS)
    .select(at.as('at'))
    .orderBy(at)
    .orderBy(id)
    .limit(limit);
  if (last === undefined) return orders;
  return orders.where(sql<SqlBool>`(${at}, ${id}) > (${last.at}, ${last.external_order_id})`);
}

export function ordersWithFinding(account: string, names: readonly string[]) {
  return queries
    .selectFrom('findings')
    .select('external_order_id')
    .where('account', '=', account)
    .where('status', '!=', 'resolved')
    .where('class', 'in', names);
}

/**
 * Selects orders with their newest record. The query has only one upper bound of the time, because the database may
 * search the index by the later of two. By completion, `unindexed` keeps SQLite from the index of `created_at`.
 */
function ordersOf(scope: ReportScope) {
  const { account, by, from, to, asOf } = scope;
  const at = timeOf(scope);
  const orders = queries
    .selectFrom('merchant_orders as o')
    .leftJoin('order_records as record', (join) =>
      join.onRef('record.account', '=', 'o.account').onRef('record.external_order_id', '=', 'o.external_order_id'),
    )
    .where(by === 'completion' ? 'record.account' : 'o.account', '=', account)
    .where(at, '>=', from ?? '');
  const within = to !== undefined && to <= asOf ? orders.where(at, '<', to) : orders.where(at, '<=', asOf);
  return by === 'completion' ? within.where(unindexed('o.created_at'), '<=', asOf) : within;
}

function timeOf({ by }: ReportScope) {
  return sql<string>`${sql.ref(by === 'completion' ? 'record.completed_at' : 'o.created_at')}`;
}
