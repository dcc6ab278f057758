import { sql } from 'kysely';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { Database } from '../../../store/port.ts';

export async function unresolvedFindings(
  db: Database,
  query: { account: string; classes: readonly FindingClassName[]; externalOrderIds: readonly string[] },
) {
  type Row = Readonly<Record<'externalOrderId' | 'class' | 'lastSeenAt', string> & { actual: string | null }>;
  const { rows } = await sql<Row>`
    select external_order_id as "externalOrderId", class, actual, last_seen_at as "lastSeenAt" from findings
    where account = ${query.account} and external_order_id in (${sql.join(query.externalOrderIds)})
      and class in (${sql.join(query.classes)}) and status <> 'resolved'`.execute(db);
  return rows;
}

export async function unresolvedPage(
  db: Database,
  query: { account: string; class: FindingClassName; status: string; fromId: number; limit: number },
): Promise<{ id: number; externalOrderId: string }[]> {
  const { rows } = await sql<{ id: number; externalOrderId: string }>`
    select id, external_order_id as "externalOrderId" from findings
    where account = ${query.account} and class = ${query.class} and status = ${query.status} and id > ${query.fromId}
      and external_order_id is not null order by id limit ${query.limit}`.execute(db);
  return rows;
}
