import { sql } from 'kysely';
import { NO_TURNS, type Turns } from '../../orders/rules/record-change.ts';
import { readTime } from '../../base/instant.ts';
import { withoutNul } from '../../base/text.ts';
import type { Answer, RecordView } from '../../orders/rules/record.ts';
import { hasLongText } from '../dialect.ts';
import type { Transaction } from '../port.ts';
import type { KeptAnswersTable } from '../schema.ts';
import { ofOrder, reading, statement, upsert, rowOfOrder } from '../statement.ts';

export interface ReceivedBody {
  readonly account: string;
  readonly externalOrderId: string;
  readonly body: string;
  readonly receivedAt: string;
}

export interface ComparedBody extends ReceivedBody, Turns {
  readonly comparedAt: string;
}

/** The field of an order record for each column; the column is null if the record lacks the field. */
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
  const { earlierHash: earlier_hash, turns, repeats, quietChanges: quiet_changes } = v;
  const times = { completed_at: v.completedAt, compared_at: v.comparedAt };
  const kept = { ...receivedOf(v), ...columnsOf(v), earlier_hash, turns, repeats, quiet_changes, ...times };
  return upsert('order_records', kept, 'account', 'external_order_id');
});

/** A null `compared_at` stays null, because the columns of an uncompared record may come from an earlier record. */
export const keepSameColumns = statement(
  (v: ComparedBody) => sql`update order_records set body = ${v.body}, received_at = ${v.receivedAt}, ${turnsOf(v)},
    compared_at = case when compared_at is null then null else ${v.comparedAt} end
    where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
);

export const keepUncompared = statement((v: ReceivedBody) =>
  upsert('order_records', { ...receivedOf(v), compared_at: null }, 'account', 'external_order_id'),
);

export const keepTurns = statement(
  (v: Turns & { account: string; externalOrderId: string }) => sql`update order_records set ${turnsOf(v)}
    where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
);

function turnsOf({ earlierHash, turns, repeats, quietChanges }: Turns) {
  return sql`earlier_hash = ${earlierHash}, turns = ${turns}, repeats = ${repeats}, quiet_changes = ${quietChanges}`;
}

export const readTurns = ofOrder(
  (v) => sql<Turns>`select earlier_hash as "earlierHash", turns, repeats, quiet_changes as "quietChanges"
    from order_records where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
  ([row = NO_TURNS]) => row,
);

/** Stores an order's newest record (§2.7) as received, and its columns from `view`; without `view` they are null. */
export async function keepOrderRecord(tx: Transaction, received: ComparedBody, view?: RecordView): Promise<void> {
  const columns = COLUMNS.map((column) => [column, view?.[RECORD_FIELD_OF[column]] ?? null]);
  const completedAt = readTime(view?.completionDate)?.toISOString() ?? null;
  await keepRecordStatement(tx, { ...received, ...(Object.fromEntries(columns) as RecordColumns), completedAt });
}

export const readRecord = rowOfOrder(
  (v) => sql<{ body: string; receivedAt: string }>`select body, received_at as "receivedAt" from order_records
    where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
);

function otherOrder(column: 'transaction_hash' | 'order_id') {
  return reading(
    (v: { account: string; externalOrderId: string; value: string }) => sql<{ id: string }>`
      select external_order_id as id from order_records where account = ${v.account}
      and ${hasLongText(column, v.value)} and external_order_id <> ${v.externalOrderId} limit 1`,
    ([row]) => row?.id ?? null,
  );
}

/** Finds another order of the account whose newest record has this value in the field; null without such an order. */
export const orderWithField = { transactionHash: otherOrder('transaction_hash'), orderId: otherOrder('order_id') };

/** Copies the columns by name, because `statement` passes a proxy, whose properties cannot be listed. */
function columnsOf(v: RecordColumns): RecordColumns {
  return Object.fromEntries(COLUMNS.map((column) => [column, v[column]])) as unknown as RecordColumns;
}

function receivedOf({ account, externalOrderId, body, receivedAt }: ReceivedBody) {
  return { account, external_order_id: externalOrderId, body, received_at: receivedAt };
}

export const keepPreOrder = statement((v: ReceivedBody) =>
  upsert('pre_orders', receivedOf(v), 'account', 'external_order_id'),
);

export const readPreOrder = ofOrder(
  (v) => sql<{ body: string }>`select body from pre_orders
    where account = ${v.account} and external_order_id = ${v.externalOrderId}`,
  ([row]) => row?.body,
);

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
