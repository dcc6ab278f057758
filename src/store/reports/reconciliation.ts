import { sql, type Compilable, type SqlBool } from 'kysely';
import type { KnownFindingRow, ReconciledRow } from '../../reports/reconciliation/rows.ts';
import { ORDER_COLUMNS, type OrderRow, type OrderColumn } from '../order-columns.ts';
import { queries } from '../statement.ts';

/** The orders of a report; times are compared with `created_at`. The report ignores everything after `asOf`. */
export interface ReportScope {
  readonly account: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly asOf: string;
}

/** Selects every order of the scope with its newest record, in no order. */
export function reconciledRows(scope: ReportScope): Compilable<ReconciledRow> {
  return ordersOf(scope)
    .leftJoin('order_records as record', (join) =>
      join
        .onRef('record.account', '=', 'merchant_orders.account')
        .onRef('record.external_order_id', '=', 'merchant_orders.external_order_id'),
    )
    .select([
      'merchant_orders.external_order_id',
      'merchant_orders.asset',
      'merchant_orders.asset_position',
      'merchant_orders.from_currency',
      'merchant_orders.to_currency',
      'merchant_orders.state',
      'merchant_orders.state_reason',
      'merchant_orders.order_status',
      'merchant_orders.outcome',
      'merchant_orders.created_at',
      'merchant_orders.sent_at',
      'merchant_orders.changed_at',
      'merchant_orders.last_lookup_at',
      'merchant_orders.stale_date',
      'merchant_orders.resends',
      'record.received_at',
      'record.compared_at',
      'record.input_asset',
      'record.output_asset',
      'record.from_currency as record_from',
      'record.to_currency as record_to',
      'record.fee',
      'record.reward',
      'record.creation_date',
      'record.completion_date',
    ]);
}

/** Selects findings of the scope that were unresolved at `asOf`. The report finds unchecked orders by itself. */
export function knownFindings(scope: ReportScope): Compilable<KnownFindingRow> {
  const { from, to, asOf } = scope;
  return queries
    .selectFrom('findings')
    .leftJoin('merchant_orders', (join) =>
      join
        .onRef('merchant_orders.account', '=', 'findings.account')
        .onRef('merchant_orders.external_order_id', '=', 'findings.external_order_id'),
    )
    .where('findings.account', '=', scope.account)
    .where('findings.class', '!=', 'UNCHECKED')
    .where('findings.first_seen_at', '<=', asOf)
    .where((where) => where.or([where('findings.status', '!=', 'resolved'), where('findings.resolved_at', '>', asOf)]))
    .where((where) =>
      // Of which period an order is whose row is gone nobody knows.
      where.or([
        where('merchant_orders.created_at', 'is', null),
        where.and([
          where('merchant_orders.created_at', '<=', asOf),
          where('merchant_orders.created_at', '>=', from ?? ''),
          ...(to === undefined ? [] : [where('merchant_orders.created_at', '<', to)]),
        ]),
      ]),
    )
    .select([
      'findings.id',
      'findings.class',
      'findings.severity',
      'findings.expected',
      'findings.actual',
      'findings.first_seen_at',
      'findings.status',
      'findings.changed_at',
      'findings.resolved_at',
      'findings.reason',
      'findings.external_order_id',
      'merchant_orders.state',
      'merchant_orders.outcome',
      'merchant_orders.changed_at as order_changed_at',
      'merchant_orders.asset_position',
      'merchant_orders.from_currency',
      'merchant_orders.to_currency',
      'merchant_orders.created_at',
    ]);
}

/** Counts the rows of other accounts, which nobody sends: one count before this account and one after it. */
export function rowsOfOtherAccounts({ account, asOf }: ReportScope): Compilable<{ rows: number }> {
  const others = (operator: '<' | '>') =>
    countOfRows().where('account', operator, account).where('created_at', '<=', asOf);
  return others('<').unionAll(others('>'));
}

/**
 * Counts the rows that belong to no period: their `created_at` is no time, or they were sent before it and the report would
 * not have them.
 */
export function rowsOfUnknownAge({ account, asOf }: ReportScope): Compilable<{ rows: number }> {
  const written = sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', created_at)`;
  const ours = countOfRows().where('account', '=', account);
  return ours
    .where('created_at', 'is distinct from', written)
    .unionAll(
      ours
        .where('created_at', 'is not distinct from', written)
        .where('created_at', '>', asOf)
        .where('sent_at', '<=', asOf),
    );
}

function countOfRows() {
  return queries.selectFrom('merchant_orders').select((one) => one.fn.countAll<number>().as('rows'));
}

/** The columns of an order that its pre-order is compared with. */
const PRE_ORDER_COLUMNS = ['created_at', 'pre_order_id', ...ORDER_COLUMNS] as const;
export type PreOrderRow = Pick<OrderRow, 'created_at' | 'pre_order_id' | OrderColumn>;

/** Selects the next orders of the scope with a pre-order, after `last`, oldest first. */
export function nextPreOrders(
  scope: ReportScope,
  last: PreOrderRow | undefined,
  limit: number,
): Compilable<PreOrderRow> {
  const orders = ordersOf(scope)
    .where('pre_order_id', 'is not', null)
    .select(PRE_ORDER_COLUMNS)
    .orderBy('created_at')
    .orderBy('external_order_id')
    .limit(limit);
  if (last === undefined) return orders;
  return orders.where(sql<SqlBool>`(created_at, external_order_id) > (${last.created_at}, ${last.external_order_id})`);
}

/** Selects the orders that have an unresolved finding of one of the classes. */
export function ordersWithFinding(
  account: string,
  names: readonly string[],
): Compilable<{ external_order_id: string | null }> {
  return queries
    .selectFrom('findings')
    .select('external_order_id')
    .where('account', '=', account)
    .where('status', '!=', 'resolved')
    .where('class', 'in', names);
}

/** Has one upper bound only: of two the database would use the first for its search, which may be the far one. */
function ordersOf({ account, from, to, asOf }: ReportScope) {
  const orders = queries
    .selectFrom('merchant_orders')
    .where('merchant_orders.account', '=', account)
    .where('merchant_orders.created_at', '>=', from ?? '');
  return to !== undefined && to <= asOf
    ? orders.where('merchant_orders.created_at', '<', to)
    : orders.where('merchant_orders.created_at', '<=', asOf);
}
