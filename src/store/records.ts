import type { Kysely } from 'kysely';
import { queries } from './dialect.ts';
import type { ReceivedBodiesTable, Tables } from './schema.ts';
import { statement } from './statement.ts';

interface ReceivedBody {
  readonly account: string;
  readonly externalOrderId: string;
  readonly body: string;
  readonly receivedAt: string;
}

const keepRecordStatement = keepStatement('order_records');
const keepPreOrderStatement = keepStatement('pre_orders');

/** Keeps the newest order record (§2.7) of an order, as received. */
export async function keepOrderRecord(tx: Kysely<Tables>, received: ReceivedBody): Promise<void> {
  await keepRecordStatement(tx, received);
}

/** Keeps the pre-order (§2.6) of an order, as received. */
export async function keepPreOrder(tx: Kysely<Tables>, received: ReceivedBody): Promise<void> {
  await keepPreOrderStatement(tx, received);
}

const seenStatement = statement((v: { account: string; field: string; value: string; firstSeenAt: string }) =>
  queries
    .insertInto('seen_statuses')
    .values({ account: v.account, field: v.field, value: v.value, first_seen_at: v.firstSeenAt })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Remembers a status value; true when it was never seen before. */
export async function isNewStatus(
  tx: Kysely<Tables>,
  seen: { account: string; field: string; value: string; firstSeenAt: string },
): Promise<boolean> {
  const result = await seenStatement(tx, seen);
  return result.numAffectedRows === 1n;
}

/** Until when an owner may have sent requests, or undefined when none ever did. */
export async function requestsUntil(db: Kysely<Tables>, account: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('request_leases')
    .select('requests_until')
    .where('account', '=', account)
    .executeTakeFirst();
  return row === undefined ? undefined : new Date(row.requests_until);
}

const leaseStatement = statement((v: { account: string; until: string }) =>
  queries
    .insertInto('request_leases')
    .values({ account: v.account, requests_until: v.until })
    .onConflict((conflict) => conflict.column('account').doUpdateSet({ requests_until: v.until })),
);

/** Says until when this owner may send requests. */
export async function leaseRequests(tx: Kysely<Tables>, account: string, until: Date): Promise<void> {
  await leaseStatement(tx, { account, until: until.toISOString() });
}

function keepStatement(table: 'order_records' | 'pre_orders') {
  return statement((v: ReceivedBody) =>
    queries
      .insertInto(table)
      .values({
        account: v.account,
        external_order_id: v.externalOrderId,
        body: v.body,
        received_at: v.receivedAt,
      } satisfies ReceivedBodiesTable)
      .onConflict((conflict) =>
        conflict.columns(['account', 'external_order_id']).doUpdateSet({ body: v.body, received_at: v.receivedAt }),
      ),
  );
}
