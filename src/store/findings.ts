import type { Kysely } from 'kysely';
import type { FindingChanges, FindingStatus, KnownFinding } from '../domain/finding-changes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../domain/finding-classes.ts';
import { queries } from './dialect.ts';
import type { Tables } from './schema.ts';
import { statement } from './statement.ts';

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
  db: Kysely<Tables>,
  account: string,
  externalOrderId: string,
): Promise<readonly KnownFinding[]> {
  const { rows } = await knownStatement(db, { account, externalOrderId });
  return rows.map((row) => ({
    id: row.id,
    class: row.class as FindingClassName,
    expected: row.expected,
    actual: row.actual,
    status: row.status as FindingStatus,
  }));
}

/** Writes down what became of an order's findings. */
export async function saveFindings(
  tx: Kysely<Tables>,
  order: { account: string; externalOrderId: string },
  { opened, seenAgain, resolved }: FindingChanges,
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
  for (const { id, expected, actual, status } of seenAgain) {
    const changes = { expected, actual, status, last_seen_at: at };
    await tx.updateTable('findings').set(changes).where('id', '=', id).execute();
  }
  for (const { id } of resolved) {
    await tx.updateTable('findings').set({ status: 'resolved', changed_at: at }).where('id', '=', id).execute();
  }
}

/** A fact of the account, as its first record told it; what is given becomes it when there is none. */
export async function accountFact(
  tx: Kysely<Tables>,
  account: string,
  name: string,
  given: string,
  now: Date,
): Promise<string> {
  await tx
    .insertInto('account_facts')
    .values({ account, name, value: given, first_seen_at: now.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await tx
    .selectFrom('account_facts')
    .select('value')
    .where('account', '=', account)
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return row.value;
}

/** Another order whose newest record has the same transaction hash. */
export async function orderWithHash(
  tx: Kysely<Tables>,
  order: { account: string; externalOrderId: string },
  hash: string,
): Promise<string | null> {
  const row = await tx
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', order.account)
    .where('transaction_hash', '=', hash)
    .where('external_order_id', '!=', order.externalOrderId)
    .limit(1)
    .executeTakeFirst();
  return row?.external_order_id ?? null;
}

/** When the intent of the order's first create was recorded. */
export async function firstSentAt(tx: Kysely<Tables>, account: string, externalOrderId: string): Promise<Date | null> {
  const row = await tx
    .selectFrom('order_events')
    .select('observed_at')
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .where('field', '=', 'state')
    .where('new_value', '=', 'sending')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : new Date(row.observed_at);
}
