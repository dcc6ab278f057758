import { insertHappenings } from '../../../store/tables/events.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { sql } from 'kysely';
import { statement } from '../../../store/statement.ts';
import { happeningOf, type FindingRow } from '../../../store/tables/findings.ts';

export async function findingsById(db: Database, account: string, ids: readonly number[]): Promise<FindingRow[]> {
  return await db.selectFrom('findings').selectAll().where('account', '=', account).where('id', 'in', ids).execute();
}

/** Returns false if the finding is not open, or its `expected` or `actual` differs from `row`. */
export async function acknowledge(
  tx: Transaction,
  row: FindingRow,
  { now, ...by }: { readonly actor: string; readonly reason: string; readonly now: Date },
): Promise<boolean> {
  const { id, account, expected, actual, external_order_id: externalOrderId } = row;
  const result = await sql`update findings
    set status = 'acknowledged', changed_by = ${by.actor}, reason = ${by.reason}, changed_at = ${now.toISOString()}
    where account = ${account} and id = ${id} and status = 'open'
      and expected is not distinct from ${expected} and actual is not distinct from ${actual}`.execute(tx);
  if (result.numAffectedRows !== 1n) return false;
  const happening = happeningOf('finding.acknowledged', { account, externalOrderId }, row);
  await insertHappenings(tx, [{ ...happening, source: 'operator', ...by }], now);
  return true;
}

type OfOrder = Omit<FindingRow, 'account' | 'external_order_id' | 'changed_at'>;

/** Sorts by `class`, to use the index `findings_of_order`. A sort by `id` alone may read all findings of an account. */
const ofOrderStatement = statement(
  (v: { account: string; externalOrderId: string; limit: number }) => sql<OfOrder>`
    select id, class, severity, status, expected, actual, first_seen_at, last_seen_at, resolved_at, changed_by, reason
    from findings where account = ${v.account} and external_order_id = ${v.externalOrderId}
    order by class, id desc limit 0 + ${v.limit}`,
);

export async function findingsOfOrder(db: Database, query: Parameters<typeof ofOrderStatement>[1]) {
  return (await ofOrderStatement(db, query)).rows;
}
