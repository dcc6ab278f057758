import type { Selectable } from 'kysely';
import type { FindingChanges, FindingStatus, KnownFinding } from '../domain/findings/lifecycle.ts';
import { FINDING_CLASSES, type FindingClassName, type Severity } from '../domain/findings/classes.ts';

import type { Database, Transaction } from './port.ts';
import type { FindingsTable } from './schema.ts';
import { queries, statement } from './statement.ts';

const knownStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('findings')
    .select(['id', 'class', 'expected', 'actual', 'status'])
    .where('account', '=', v.account)
    .where('external_order_id', '=', v.externalOrderId)
    .orderBy('id'),
);

/** Reads the findings of one order, resolved ones too. */
export async function findingsOf(
  db: Database,
  account: string,
  externalOrderId: string,
): Promise<readonly KnownFinding[]> {
  const { rows } = await knownStatement(db, { account, externalOrderId });
  // This version does not judge the classes of another one.
  const judged = rows.filter((row) => Object.hasOwn(FINDING_CLASSES, row.class));
  return judged.map((row) => ({
    id: row.id,
    class: row.class as FindingClassName,
    expected: row.expected,
    actual: row.actual,
    status: row.status as FindingStatus,
  }));
}

/** Writes the changes of an order's findings. */
export async function saveFindings(
  tx: Transaction,
  order: { account: string; externalOrderId: string },
  { opened, reopened, seenAgain, resolved }: FindingChanges,
  now: Date,
): Promise<void> {
  const at = now.toISOString();
  for (const finding of opened) {
    await tx
      .insertInto('findings')
      .values({
        account: order.account,
        external_order_id: order.externalOrderId,
        class: finding.class,
        severity: FINDING_CLASSES[finding.class].severity,
        expected: finding.expected,
        actual: finding.actual,
        first_seen_at: at,
        last_seen_at: at,
      })
      .execute();
  }
  for (const { id, expected, actual } of reopened) {
    const anew = { status: 'open', resolved_at: null, changed_by: null, reason: null, changed_at: null };
    await tx
      .updateTable('findings')
      .set({ expected, actual, last_seen_at: at, ...anew })
      .where('id', '=', id)
      .execute();
  }
  for (const { id, expected, actual } of seenAgain) {
    await tx.updateTable('findings').set({ expected, actual, last_seen_at: at }).where('id', '=', id).execute();
  }
  for (const { id } of resolved) {
    await tx.updateTable('findings').set({ status: 'resolved', resolved_at: at }).where('id', '=', id).execute();
  }
}

/** A row of `findings` as it is stored. */
export type FindingRow = Selectable<FindingsTable>;

/** Selects the findings of a list. */
export interface FindingFilter {
  readonly account: string;
  readonly class?: FindingClassName | undefined;
  readonly severity?: Severity | undefined;
  readonly status?: FindingStatus | undefined;
  readonly limit: number;
}

/** Lists the newest findings that match the filter. */
export async function listFindings(db: Database, filter: FindingFilter): Promise<FindingRow[]> {
  let rows = db.selectFrom('findings').selectAll().where('account', '=', filter.account);
  if (filter.class !== undefined) rows = rows.where('class', '=', filter.class);
  if (filter.severity !== undefined) rows = rows.where('severity', '=', filter.severity);
  if (filter.status !== undefined) rows = rows.where('status', '=', filter.status);
  return await rows.orderBy('id', 'desc').limit(filter.limit).execute();
}

/** Reads the findings with these ids; ids without a finding are left out. */
export async function findingsById(db: Database, account: string, ids: readonly number[]): Promise<FindingRow[]> {
  return await db.selectFrom('findings').selectAll().where('account', '=', account).where('id', 'in', ids).execute();
}

/**
 * Marks an open finding as known to a person. False when it is no longer open, or has other values than the person was
 * shown.
 */
export async function acknowledge(
  tx: Transaction,
  { id, account, expected, actual }: Pick<FindingRow, 'id' | 'account' | 'expected' | 'actual'>,
  by: { readonly actor: string; readonly reason: string; readonly now: Date },
): Promise<boolean> {
  const result = await tx
    .updateTable('findings')
    .set({ status: 'acknowledged', changed_by: by.actor, reason: by.reason, changed_at: by.now.toISOString() })
    .where('account', '=', account)
    .where('id', '=', id)
    .where('status', '=', 'open')
    .where('expected', 'is not distinct from', expected)
    .where('actual', 'is not distinct from', actual)
    .executeTakeFirstOrThrow();
  return result.numUpdatedRows === 1n;
}

/** A finding that is not resolved, as the sweep compares it. */
export interface UnresolvedFinding {
  readonly id: number;
  readonly externalOrderId: string;
  readonly class: string;
  readonly actual: string | null;
  readonly status: string;
  readonly lastSeenAt: string;
}

/** Reads the unresolved findings of some classes, of orders with these ids. */
export async function unresolvedFindings(
  db: Database,
  query: { account: string; classes: readonly FindingClassName[]; externalOrderIds: readonly string[] },
): Promise<UnresolvedFinding[]> {
  const rows = await unresolved(db)
    .where('account', '=', query.account)
    .where('external_order_id', 'in', query.externalOrderIds)
    .where('class', 'in', query.classes)
    .where('status', '<>', 'resolved')
    .execute();
  return rows.map(unresolvedFinding);
}

/** Reads the findings of one class and status in the order of their ids, after `fromId`. */
export async function unresolvedPage(
  db: Database,
  query: { account: string; class: FindingClassName; status: string; fromId: number; limit: number },
): Promise<UnresolvedFinding[]> {
  const rows = await unresolved(db)
    .where('account', '=', query.account)
    .where('status', '=', query.status)
    .where('class', '=', query.class)
    .where('id', '>', query.fromId)
    .orderBy('id')
    .limit(query.limit)
    .execute();
  return rows.map(unresolvedFinding);
}

/** Counts the open findings, without those that only explain something. */
export async function countOpenFindings(db: Database, account: string): Promise<number> {
  const row = await db
    .selectFrom('findings')
    .select((select) => select.fn.countAll<number | bigint>().as('findings'))
    .where('account', '=', account)
    .where('status', '=', 'open')
    .where('severity', '<>', 'info')
    .executeTakeFirstOrThrow();
  return Number(row.findings);
}

function unresolved(db: Database) {
  return db.selectFrom('findings').select(['id', 'external_order_id', 'class', 'actual', 'status', 'last_seen_at']);
}

function unresolvedFinding(
  row: Awaited<ReturnType<ReturnType<typeof unresolved>['execute']>>[number],
): UnresolvedFinding {
  return {
    id: row.id,
    externalOrderId: row.external_order_id ?? '',
    class: row.class,
    actual: row.actual,
    status: row.status,
    lastSeenAt: row.last_seen_at,
  };
}
