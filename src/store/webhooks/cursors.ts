import { sql } from 'kysely';
import type { Database, Transaction } from '../port.ts';
import type { WebhookEndpointsTable } from './tables.ts';
import { queries, statement } from '../statement.ts';

/** How far an endpoint has come in the events of an account: the id of the last one; 0 at the beginning. */
export interface WebhookCursor {
  readonly endpoint: string;
  readonly account: string;
  readonly eventId: number;
}

/**
 * Notes an endpoint that is there for the first time: what it gets begins with the events after those of now. An account that
 * has none yet needs no cursor.
 */
export async function registerEndpoint(tx: Transaction, name: string, now: Date): Promise<void> {
  const added = await tx
    .insertInto('webhook_endpoints')
    .values({ name, since: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows !== 1n) return;
  await tx
    .insertInto('webhook_cursors')
    .columns(['endpoint', 'account', 'event_id'])
    .expression((from) => from.selectFrom('event_heads').select([sql.val(name).as('endpoint'), 'account', 'id']))
    .execute();
}

/** Reads which accounts, in the order of their names from one to another, have events after the cursor of an endpoint. */
export async function accountsBehind(
  db: Database,
  { endpoint, from, to }: { readonly endpoint: string; readonly from: string; readonly to: string },
): Promise<readonly WebhookCursor[]> {
  const rows = await db
    .selectFrom('event_heads as head')
    .leftJoin('webhook_cursors as cursor', (join) =>
      join.onRef('cursor.account', '=', 'head.account').on('cursor.endpoint', '=', endpoint),
    )
    .select((row) => ['head.account', row.fn.coalesce('cursor.event_id', sql.lit(0)).as('eventId')])
    .where('head.account', '>=', from)
    .where('head.account', '<=', to)
    .where((row) => row('head.id', '>', row.fn.coalesce('cursor.event_id', sql.lit(0))))
    .orderBy('head.account')
    .execute();
  return rows.map(({ account, eventId }) => ({ endpoint, account, eventId }));
}

const cursorStatement = statement((v: { endpoint: string; account: string }) =>
  queries
    .selectFrom('webhook_cursors')
    .select('event_id')
    .where((cursor) => cursor.and({ endpoint: v.endpoint, account: v.account })),
);

/** Reads the cursor of an endpoint in an account; 0 where it has none. */
export async function webhookCursor(db: Database, key: { endpoint: string; account: string }): Promise<number> {
  return (await cursorStatement(db, key)).rows[0]?.event_id ?? 0;
}

const moveStatement = statement((v: WebhookCursor) =>
  queries
    .insertInto('webhook_cursors')
    .values({ endpoint: v.endpoint, account: v.account, event_id: v.eventId })
    .onConflict((conflict) => conflict.columns(['endpoint', 'account']).doUpdateSet({ event_id: v.eventId })),
);

/** Writes how far an endpoint has come. */
export async function moveWebhookCursor(tx: Transaction, cursor: WebhookCursor): Promise<void> {
  await moveStatement(tx, cursor);
}

/** Writes what an endpoint does with events: some of its columns. */
export async function noteEndpoint(
  tx: Transaction,
  name: string,
  columns: Partial<Omit<WebhookEndpointsTable, 'name' | 'since'>>,
): Promise<void> {
  await tx.updateTable('webhook_endpoints').set(columns).where('name', '=', name).execute();
}
