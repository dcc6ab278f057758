import type { Compilable } from 'kysely';
import type { KnownFindingRow, ReconciledRow } from '../reports/reconciliation-rows.ts';
import { queries } from './dialect.ts';

/** Which orders a report is about; times are compared with `created_at`. Nothing after `asOf` exists for it. */
export interface ReportScope {
  readonly account: string;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly asOf: string;
}

/** Every order of the scope beside the newest record of it, in no order. */
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
      'merchant_orders.order_status',
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

/** Findings of the orders of the scope that stood at `asOf`. What is unchecked the report finds out by itself. */
export function knownFindings(scope: ReportScope): Compilable<KnownFindingRow> {
  // A cross join is done in the order in which it stands: there are fewer findings than orders.
  let findings = queries
    .selectFrom('findings')
    .crossJoin('merchant_orders')
    .whereRef('merchant_orders.account', '=', 'findings.account')
    .whereRef('merchant_orders.external_order_id', '=', 'findings.external_order_id')
    .where('findings.account', '=', scope.account)
    .where('findings.class', '!=', 'UNCHECKED')
    .where('findings.first_seen_at', '<=', scope.asOf)
    .where('merchant_orders.created_at', '<=', scope.asOf)
    .where((where) =>
      where.or([where('findings.status', '!=', 'resolved'), where('findings.resolved_at', '>', scope.asOf)]),
    );
  if (scope.from !== undefined) findings = findings.where('merchant_orders.created_at', '>=', scope.from);
  if (scope.to !== undefined) findings = findings.where('merchant_orders.created_at', '<', scope.to);
  return findings.select([
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
    'merchant_orders.external_order_id',
    'merchant_orders.from_currency',
    'merchant_orders.to_currency',
    'merchant_orders.created_at',
  ]);
}

/** An order whose pre-order is known by its id. */
export interface PreOrderKey {
  readonly created_at: string;
  readonly external_order_id: string;
  readonly pre_order_id: string | null;
}

/** The next orders of the scope with a pre-order, behind `last`, oldest first. */
export function nextPreOrders(
  scope: ReportScope,
  last: PreOrderKey | undefined,
  limit: number,
): Compilable<PreOrderKey> {
  const orders = ordersOf(scope)
    .where('pre_order_id', 'is not', null)
    .select(['created_at', 'external_order_id', 'pre_order_id'])
    .orderBy('created_at')
    .orderBy('external_order_id')
    .limit(limit);
  if (last === undefined) return orders;
  return orders.where((where) =>
    where(where.refTuple('created_at', 'external_order_id'), '>', where.tuple(last.created_at, last.external_order_id)),
  );
}

/** Orders of which a finding of the class stands. */
export function ordersWithFinding(account: string, name: string): Compilable<{ external_order_id: string | null }> {
  return queries
    .selectFrom('findings')
    .select('external_order_id')
    .where('account', '=', account)
    .where('status', '!=', 'resolved')
    .where('class', '=', name);
}

/** One upper bound only: of two the database would use the first for its search, which may be the far one. */
function ordersOf({ account, from, to, asOf }: ReportScope) {
  const orders = queries
    .selectFrom('merchant_orders')
    .where('merchant_orders.account', '=', account)
    .where('merchant_orders.created_at', '>=', from ?? '');
  return to !== undefined && to <= asOf
    ? orders.where('merchant_orders.created_at', '<', to)
    : orders.where('merchant_orders.created_at', '<=', asOf);
}
