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

/** The findings of one order, resolved ones too. */
export async function findingsOf(
  db: Database,
  account: string,
  externalOrderId: string,
): Promise<readonly KnownFinding[]> {
  const { rows } = await knownStatement(db, { account, externalOrderId });
  // A class of another version is not this one's to judge.
  const judged = rows.filter((row) => Object.hasOwn(FINDING_CLASSES, row.class));
  return judged.map((row) => ({
    id: row.id,
    class: row.class as FindingClassName,
    expected: row.expected,
    actual: row.actual,
    status: row.status as FindingStatus,
  }));
}

/** Writes down what became of an order's findings. */
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

/** Which findings are listed. */
export interface FindingFilter {
  readonly account: string;
  readonly class?: FindingClassName | undefined;
  readonly severity?: Severity | undefined;
  readonly status?: FindingStatus | undefined;
  readonly limit: number;
}

/** The newest findings that the filter lets through. */
export async function listFindings(db: Database, filter: FindingFilter): Promise<FindingRow[]> {
  let rows = db.selectFrom('findings').selectAll().where('account', '=', filter.account);
  if (filter.class !== undefined) rows = rows.where('class', '=', filter.class);
  if (filter.severity !== undefined) rows = rows.where('severity', '=', filter.severity);
  if (filter.status !== undefined) rows = rows.where('status', '=', filter.status);
  return await rows.orderBy('id', 'desc').limit(filter.limit).execute();
}

/** Findings with these ids; those that are not there are left out. */
export async function findingsById(db: Database, account: string, ids: readonly number[]): Promise<FindingRow[]> {
  return await db.selectFrom('findings').selectAll().where('account', '=', account).where('id', 'in', ids).execute();
}

/**
 * Says of an open finding that a person knows of it; false when it is not open any more, or has other values than the
 * person was shown.
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
