import { sql, type SqlBool } from 'kysely';
import type { LinkDecision, LinkRow } from '../link.ts';
import { listNewest, type ListQuery, type OfAccount } from '../../operate/tables/listed.ts';
import { allOf } from '../../../store/dialect.ts';
import { accountsWhere } from '../../../store/orders/due-times.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { insertEvents } from '../../../store/tables/events.ts';

/** Sorts the links to check. A page begins after the last key of the page before, so a pass checks a link once. */
export type CheckKey = Pick<LinkRow, 'link_id' | 'last_checked_at'>;

export const FIRST_CHECK: CheckKey = { last_checked_at: '', link_id: '' };

/** Reads links after `from` that have no final status and were last checked before `before`, the oldest check first. */
export async function linksToCheck(
  db: Database,
  query: { account: string; finalStatuses: readonly string[]; before: Date; from: CheckKey; limit: number },
): Promise<CheckKey[]> {
  const { account, finalStatuses, before, from, limit } = query;
  const isOpen = finalStatuses.length === 0 ? undefined : sql<SqlBool>`status not in (${sql.join(finalStatuses)})`;
  const links = sql<CheckKey>`select link_id, last_checked_at from links
    where account = ${account} and last_checked_at < ${before.toISOString()}
      and (last_checked_at, link_id) > (${from.last_checked_at}, ${from.link_id}) and ${allOf(isOpen)}
    order by last_checked_at, link_id limit ${limit}`;
  return (await links.execute(db)).rows;
}

export async function readLink(db: Database, account: string, linkId: string): Promise<LinkRow | undefined> {
  const link = sql<LinkRow>`select * from links where account = ${account} and link_id = ${linkId}`;
  return (await link.execute(db)).rows[0];
}

export async function listLinks(db: Database, { status, ...query }: ListQuery & { status?: string | undefined }) {
  const isWanted = allOf(status === undefined ? undefined : sql`status = ${status}`);
  const select = ({ account, limit }: OfAccount<ListQuery>) => sql<LinkRow>`select * from links
    where account = ${account} and ${isWanted} order by created_at desc, link_id limit ${limit}`;
  return await listNewest(db, query, { table: 'links', by: 'created_at' }, select);
}

type CheckCorrection = Readonly<{ account: string; latest: Date; to: Date; limit: number }>;

/** Sorts as the index does, because PostgreSQL then uses the index even for many expected rows. */
function checksAfter({ account, latest, limit }: Omit<CheckCorrection, 'to'>) {
  return sql<{ link_id: string }>`select link_id from links
    where account = ${account} and last_checked_at > ${latest.toISOString()} order by last_checked_at limit ${limit}`;
}

/** True if a check is in the future: another clock wrote it, and the next check of its link would come too late. */
export async function areChecksAhead(db: Database, account: string, now: Date): Promise<boolean> {
  return (await checksAfter({ account, latest: now, limit: 1 }).execute(db)).rows.length > 0;
}

/** Sets up to `limit` checks that are later than `latest` to the time `to`. Returns their number. */
export async function correctCheckTimes(tx: Transaction, correction: CheckCorrection): Promise<number> {
  const ids = (await checksAfter(correction).execute(tx)).rows.map((row) => row.link_id);
  if (ids.length === 0) return 0;
  await sql`update links set last_checked_at = ${correction.to.toISOString()}
    where account = ${correction.account} and link_id in (${sql.join(ids)})`.execute(tx);
  return ids.length;
}

/** Writes the row and the events of a decision. `before` is the row as `tx` read it. */
export async function saveLink(tx: Transaction, before: LinkRow | undefined, decision: LinkDecision, now: Date) {
  const { link, events } = decision;
  const { account, link_id, source: _source, created_at: _madeAt, ...changing } = link;
  await tx
    .withTables<{ links: LinkRow }>()
    .insertInto('links')
    .values(link)
    .onConflict((conflict) => conflict.columns(['account', 'link_id']).doUpdateSet(changing))
    .execute();
  const lookedUpBefore = before === undefined ? null : new Date(before.last_checked_at);
  await insertEvents(tx, { account, type: 'link', subject: link_id, lookedUpBefore, now }, events);
}

const hasLinks = sql`select 1 from links where links.account = account_owners.account`;
export const accountsWithLinks = accountsWhere(() => [hasLinks]);

export async function linkEvents(db: Database, account: string, linkId: string) {
  return await db
    .selectFrom('events')
    .select(['id', 'account', 'subject as link_id', 'field', 'old_value', 'new_value', 'observed_at'])
    .select(['source', 'reason'])
    .where((event) => event.and({ account, type: 'link', subject: linkId }))
    .orderBy('id')
    .execute();
}
