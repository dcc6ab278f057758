import { accountsIn } from '../../commands/tables/accounts.ts';
import { sql, type SqlBool } from 'kysely';
import type { LinkDecision } from '../link.ts';
import type { LinkRow } from './link-row.ts';
import { listAccounts, newestFirst, type ListQuery, type OfAccount } from '../../operate/tables/listed.ts';
import { accountsWhere } from '../../../store/orders/due-times.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { insertEvents } from '../../../store/tables/events.ts';

function withLinks(db: Database) {
  return db.withTables<{ links: LinkRow }>();
}

/** A place in the list of links to check. Each page begins after such a place, so a pass checks a link once. */
export type CheckKey = Pick<LinkRow, 'link_id' | 'last_checked_at'>;

export const FIRST_CHECK: CheckKey = { last_checked_at: '', link_id: '' };

/** Reads links after `from` with a last check before `before` and no final status, the longest waiting first. */
export async function linksToCheck(
  db: Database,
  query: { account: string; finalStatuses: readonly string[]; before: Date; from: CheckKey; limit: number },
): Promise<CheckKey[]> {
  const { account, finalStatuses, before, from, limit } = query;
  let links = withLinks(db)
    .selectFrom('links')
    .select(['link_id', 'last_checked_at'])
    .where('account', '=', account)
    .where('last_checked_at', '<', before.toISOString())
    .where(sql<SqlBool>`(last_checked_at, link_id) > (${from.last_checked_at}, ${from.link_id})`)
    .orderBy('last_checked_at')
    .orderBy('link_id')
    .limit(limit);
  if (finalStatuses.length > 0) links = links.where('status', 'not in', finalStatuses);
  return await links.execute();
}

export async function readLink(db: Database, account: string, linkId: string): Promise<LinkRow | undefined> {
  return await withLinks(db)
    .selectFrom('links')
    .selectAll()
    .where((link) => link.and({ account, link_id: linkId }))
    .executeTakeFirst();
}

export async function listLinks(db: Database, query: ListQuery & { readonly status?: string | undefined }) {
  const compare = (one: LinkRow, other: LinkRow) => newestFirst(one.created_at, other.created_at);
  const list = async ({ account, status, limit }: OfAccount<typeof query>) => {
    let links = withLinks(db).selectFrom('links').selectAll().where('account', '=', account);
    if (status !== undefined) links = links.where('status', '=', status);
    const rows = await links.orderBy('created_at', 'desc').orderBy('link_id').limit(limit).execute();
    return { rows, isCut: false };
  };
  return (await listAccounts(query, () => accountsIn(db, 'links'), list, compare)).rows;
}

type CheckCorrection = Readonly<{ account: string; latest: Date; to: Date; limit: number }>;

function checksAfter(db: Database, { account, latest, limit }: Omit<CheckCorrection, 'to'>) {
  return (
    withLinks(db)
      .selectFrom('links')
      .select('link_id')
      .where('account', '=', account)
      .where('last_checked_at', '>', latest.toISOString())
      // PostgreSQL then uses the index even if it expects that most links are ahead.
      .orderBy('last_checked_at')
      .limit(limit)
  );
}

/** True if a clock ahead of this one wrote checks, because the next checks of these links would come too late. */
export async function areChecksAhead(db: Database, account: string, now: Date): Promise<boolean> {
  return (await checksAfter(db, { account, latest: now, limit: 1 }).executeTakeFirst()) !== undefined;
}

/** Sets up to `limit` checks that are later than `latest` to another time. Returns how many. */
export async function correctCheckTimes(tx: Transaction, correction: CheckCorrection): Promise<number> {
  const ids = (await checksAfter(tx, correction).execute()).map((row) => row.link_id);
  if (ids.length === 0) return 0;
  await withLinks(tx)
    .updateTable('links')
    .set({ last_checked_at: correction.to.toISOString() })
    .where('account', '=', correction.account)
    .where('link_id', 'in', ids)
    .execute();
  return ids.length;
}

/** Writes a decision about a link, row and events together. `before` is the row as this transaction read it. */
export async function saveLink(
  tx: Transaction,
  before: LinkRow | undefined,
  { link, events }: LinkDecision,
  now: Date,
): Promise<void> {
  const { account, link_id, source: _source, created_at: _madeAt, ...changing } = link;
  await withLinks(tx)
    .insertInto('links')
    .values(link)
    .onConflict((conflict) => conflict.columns(['account', 'link_id']).doUpdateSet(changing))
    .execute();
  const lookedUpBefore = before === undefined ? null : new Date(before.last_checked_at);
  await insertEvents(tx, { account, type: 'link', subject: link_id, lookedUpBefore, now }, events);
}

export const accountsWithLinks = accountsWhere(() => [
  sql`select 1 from links where links.account = account_owners.account`,
]);

export async function linkEvents(db: Database, account: string, linkId: string) {
  return await db
    .selectFrom('events')
    .select(['id', 'account', 'subject as link_id', 'field', 'old_value', 'new_value', 'observed_at'])
    .select(['source', 'reason'])
    .where((event) => event.and({ account, type: 'link', subject: linkId }))
    .orderBy('id')
    .execute();
}
