import type { Database } from '../../../store/port.ts';

export async function seenStatuses(db: Database, { account, limit }: { account: string; limit: number }) {
  return await db
    .selectFrom('seen_statuses')
    .select(['value', 'first_seen_at'])
    .where('account', '=', account)
    .where('field', '=', 'order.status')
    .orderBy('first_seen_at', 'desc')
    .limit(limit)
    .execute();
}
