import { sql } from 'kysely';
import { NO_TURNS, type Turns } from '../../orders/rules/record-change.ts';
import { readTime } from '../../base/instant.ts';
import { withoutNul } from '../../base/text.ts';
import type { Answer, RecordView } from '../../orders/rules/record.ts';
import { hasLongText } from '../dialect.ts';
import type { Database, Transaction } from '../port.ts';
import type { KeptAnswersTable } from '../schema.ts';
import { queries, reading, statement, upsert } from '../statement.ts';

export interface ReceivedBody {
  readonly account: string;
  readonly externalOrderId: string;
  readonly body: string;
  readonly receivedAt: string;
}

/** A record that is compared with its order now, and the facts that are kept beside it. */
export interface ComparedBody extends ReceivedBody, Turns {
  readonly comparedAt: string;
}

/** The fields of an order record that have their own column; null if the record lacks them. */
export const RECORD_FIELD_OF = {
  merchant_id: 'merchantId',
  order_id: 'orderId',
  creation_date: 'creationDate',
  completion_date: 'completionDate',
  input_asset: 'inputAsset',
  output_asset: 'outputAsset',
  from_currency: 'fromCurrency',
  to_currency: 'toCurrency',
  fee: 'fee',
  reward: 'reward',
  transaction_hash: 'transactionHash',
} as const satisfies Record<string, keyof RecordView>;

type RecordColumns = Readonly<Record<keyof typeof RECORD_FIELD_OF, string | null>>;

const COLUMNS = Object.keys(RECORD_FIELD_OF) as readonly (keyof RecordColumns)[];

const keepRecordStatement = statement((v: ComparedBody & RecordColumns & { completedAt: string | null }) => {
  const kept = { ...receivedOf(v), ...columnsOf(v), ...turnColumnsOf(v) };
  const times = { completed_at: v.completedAt, compared_at: v.comparedAt };
  return upsert('order_records', { ...kept, ...times }, 'account', 'external_order_id');
});

/** A record that was not compared stays so, because its columns may be those of an earlier record. */
export const keepSameColumns = statement((v: ComparedBody) =>
  queries
    .updateTable('order_records')
    .set((to) => ({
      body: v.body,
      received_at: v.receivedAt,
      compared_at: to.case().when('compared_at', 'is', null).then(null).else(v.comparedAt).end(),
      ...turnColumnsOf(v),
    }))
    .where((record) => record.and({ account: v.account, external_order_id: v.externalOrderId })),
);

export const keepUncompared = statement((v: ReceivedBody) =>
  upsert('order_records', { ...receivedOf(v), compared_at: null }, 'account', 'external_order_id'),
);

export const keepTurns = statement((v: Turns & { account: string; externalOrderId: string }) =>
  queries
    .updateTable('order_records')
    .set(turnColumnsOf(v))
    .where((record) => record.and({ account: v.account, external_order_id: v.externalOrderId })),
);

export const readTurns = reading(
  (v: { account: string; externalOrderId: string }) => sql<Turns>`
    select earlier_hash as "earlierHash", turns, repeats, quiet_changes as "quietChanges" from order_records
    where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
  ([row = NO_TURNS]) => row,
);

/** Stores an order's newest record (§2.7), as received, while it is compared; with its columns if `view` is given. */
export async function keepOrderRecord(tx: Transaction, received: ComparedBody, view?: RecordView): Promise<void> {
  const columns = COLUMNS.map((column) => [column, view?.[RECORD_FIELD_OF[column]] ?? null]);
  const completedAt = readTime(view?.completionDate)?.toISOString() ?? null;
  await keepRecordStatement(tx, { ...received, ...(Object.fromEntries(columns) as RecordColumns), completedAt });
}

export async function readRecord(db: Database, account: string, externalOrderId: string) {
  const { rows } = await sql<{ body: string; receivedAt: string }>`
    select body, received_at as "receivedAt" from order_records
    where account = ${account} and external_order_id = ${externalOrderId}`.execute(db);
  return rows[0];
}

interface RecordPage {
  readonly account: string;
  readonly fromId: string;
  readonly limit: number;
}

async function idsIn(db: Database, { account, fromId, limit }: RecordPage, condition = sql`true`): Promise<string[]> {
  const { rows } = await sql<{ external_order_id: string }>`select external_order_id from order_records
    where account = ${account} and external_order_id > ${fromId} and ${condition}
    order by external_order_id limit ${limit}`.execute(db);
  return rows.map((row) => row.external_order_id);
}

export async function uncomparedIds(db: Database, page: RecordPage): Promise<string[]> {
  return await idsIn(db, page, sql`compared_at is null`);
}

/** Marks records as never compared. Returns the id of the last record; undefined if there are no more. */
export async function forgetCompared(tx: Transaction, page: RecordPage): Promise<string | undefined> {
  const ids = await idsIn(tx, page);
  if (ids.length === 0) return undefined;
  await sql`update order_records set compared_at = null
    where account = ${page.account} and external_order_id in (${sql.join(ids)})`.execute(tx);
  return ids.at(-1);
}

function otherOrder(column: 'transaction_hash' | 'order_id') {
  return reading(
    (v: { account: string; externalOrderId: string; value: string }) => sql<{ id: string }>`
      select external_order_id as id from order_records where account = ${v.account}
      and ${hasLongText(column, v.value)} and external_order_id <> ${v.externalOrderId} limit 1`,
    ([row]) => row?.id ?? null,
  );
}

/** Finds another order whose newest record has the same value in this field; null if there is none. */
export const orderWithField = { transactionHash: otherOrder('transaction_hash'), orderId: otherOrder('order_id') };

function turnColumnsOf({ earlierHash, turns, repeats, quietChanges }: Turns) {
  return { earlier_hash: earlierHash, turns, repeats, quiet_changes: quietChanges };
}

/** Reads the columns by name, because the builder of a statement has a placeholder for any name. */
function columnsOf(v: RecordColumns): RecordColumns {
  return Object.fromEntries(COLUMNS.map((column) => [column, v[column]])) as unknown as RecordColumns;
}

function receivedOf({ account, externalOrderId, body, receivedAt }: ReceivedBody) {
  return { account, external_order_id: externalOrderId, body, received_at: receivedAt };
}

export const keepPreOrder = statement((v: ReceivedBody) =>
  upsert('pre_orders', receivedOf(v), 'account', 'external_order_id'),
);

export async function readPreOrder(db: Database, account: string, externalOrderId: string) {
  const { rows } = await sql<{ body: string }>`select body from pre_orders
    where account = ${account} and external_order_id = ${externalOrderId}`.execute(db);
  return rows[0]?.body;
}

interface KeptAnswer extends Answer, Pick<KeptAnswersTable, 'account' | 'operation' | 'subject'> {
  readonly receivedAt: string;
}

const keepStatement = statement(
  (v: KeptAnswer) => sql`insert into kept_answers (account, operation, subject, http_status, body, received_at)
    values (${v.account}, ${v.operation}, ${v.subject}, ${v.httpStatus}, ${v.body}, ${v.receivedAt})`,
);

export async function keepAnswer(tx: Transaction, answer: KeptAnswer): Promise<void> {
  await keepStatement(tx, { ...answer, body: withoutNul(answer.body) });
}
