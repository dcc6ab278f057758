import { insertHappenings } from '../../../store/tables/events.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { queries, statement } from '../../../store/statement.ts';
import { happeningOf, type FindingRow } from '../../../store/tables/findings.ts';

export async function findingsById(db: Database, account: string, ids: readonly number[]): Promise<FindingRow[]> {
  return await db.selectFrom('findings').selectAll().where('account', '=', account).where('id', 'in', ids).execute();
}

/** Acknowledges a finding. Returns false if the finding is not open or has other values than `row`. */
export async function acknowledge(
  tx: Transaction,
  row: FindingRow,
  { now, ...by }: { readonly actor: string; readonly reason: string; readonly now: Date },
): Promise<boolean> {
  const { id, account, expected, actual, external_order_id: externalOrderId } = row;
  const result = await tx
    .updateTable('findings')
    .set({ status: 'acknowledged', changed_by: by.actor, reason: by.reason, changed_at: now.toISOString() })
    .where((finding) => finding.and({ account, id, status: 'open' }))
    .where('expected', 'is not distinct from', expected)
    .where('actual', 'is not distinct from', actual)
    .executeTakeFirstOrThrow();
  if (result.numUpdatedRows !== 1n) return false;
  const happening = happeningOf('finding.acknowledged', { account, externalOrderId }, row);
  await insertHappenings(tx, [{ ...happening, source: 'operator', ...by }], now);
  return true;
}

const ofOrderStatement = statement((v: { account: string; externalOrderId: string; limit: number }) =>
  queries
    .selectFrom('findings')
    .select(['id', 'class', 'severity', 'status', 'expected', 'actual', 'first_seen_at', 'last_seen_at'])
    .select(['resolved_at', 'changed_by', 'reason'])
    .where('account', '=', v.account)
    .where('external_order_id', '=', v.externalOrderId)
    // Ordered by `class` first, to use the index of orders: by `id` alone all findings of the account may be read.
    .orderBy('class')
    .orderBy('id', 'desc')
    .limit(v.limit),
);

export async function findingsOfOrder(
  db: Database,
  query: { readonly account: string; readonly externalOrderId: string; readonly limit: number },
): Promise<readonly Omit<FindingRow, 'account' | 'external_order_id' | 'changed_at'>[]> {
  return (await ofOrderStatement(db, query)).rows;
}
