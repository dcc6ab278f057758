import type { Database, Transaction } from './port.ts';
import type { OrderRecordsTable, ReceivedBodiesTable } from './schema.ts';
import { queries, statement } from './statement.ts';

/** What the exchange said of an order, as received. */
export interface ReceivedBody {
  readonly account: string;
  readonly externalOrderId: string;
  readonly body: string;
  readonly receivedAt: string;
}

/** A record that is held against its order now. */
export interface ComparedBody extends ReceivedBody {
  readonly comparedAt: string;
}

/** The fields of an order record that have a column of their own; null where the record does not give them. */
export type RecordColumns = Omit<OrderRecordsTable, keyof ReceivedBodiesTable | 'compared_at'>;

const NO_COLUMNS: RecordColumns = {
  merchant_id: null,
  creation_date: null,
  completion_date: null,
  input_asset: null,
  output_asset: null,
  from_currency: null,
  to_currency: null,
  fee: null,
  reward: null,
  transaction_hash: null,
};

const keepRecordStatement = statement((v: ComparedBody & RecordColumns) => {
  const { account, externalOrderId, body, receivedAt, comparedAt } = v;
  const kept = { body, received_at: receivedAt, ...columnsOf(v), compared_at: comparedAt };
  const columns = Object.keys(kept) as readonly (keyof typeof kept)[];
  return queries
    .insertInto('order_records')
    .values({ account, external_order_id: externalOrderId, ...kept })
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'external_order_id'])
        .doUpdateSet((to) => Object.fromEntries(columns.map((column) => [column, to.ref(`excluded.${column}`)]))),
    );
});

const keepSameStatement = statement((v: ReceivedBody) =>
  queries
    .updateTable('order_records')
    .set({ body: v.body, received_at: v.receivedAt })
    .where('account', '=', v.account)
    .where('external_order_id', '=', v.externalOrderId),
);

/** What was not compared yet stays so: its columns may be of a record before it. */
const keepSameColumnsStatement = statement((v: ComparedBody) =>
  queries
    .updateTable('order_records')
    .set((to) => ({
      body: v.body,
      received_at: v.receivedAt,
      compared_at: to.case().when('compared_at', 'is', null).then(null).else(v.comparedAt).end(),
    }))
    .where('account', '=', v.account)
    .where('external_order_id', '=', v.externalOrderId),
);

const keepUncomparedStatement = statement((v: ReceivedBody) =>
  queries
    .insertInto('order_records')
    .values({ account: v.account, external_order_id: v.externalOrderId, body: v.body, received_at: v.receivedAt })
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'external_order_id'])
        .doUpdateSet({ body: v.body, received_at: v.receivedAt, compared_at: null }),
    ),
);

/** Keeps the newest order record (§2.7) of an order, as received, which is being held against the order. */
export async function keepOrderRecord(
  tx: Transaction,
  received: ComparedBody,
  columns: RecordColumns = NO_COLUMNS,
): Promise<void> {
  await keepRecordStatement(tx, { ...received, ...columns });
}

/** Keeps a record that says the same as the one before. */
export async function keepSameRecord(tx: Transaction, received: ReceivedBody): Promise<void> {
  await keepSameStatement(tx, received);
}

/** Keeps a record that says something else, of which no column of its own is changed. */
export async function keepSameColumns(tx: Transaction, received: ComparedBody): Promise<void> {
  await keepSameColumnsStatement(tx, received);
}

/** Keeps a record that could not be held against its order. */
export async function keepUncompared(tx: Transaction, received: ReceivedBody): Promise<void> {
  await keepUncomparedStatement(tx, received);
}

/** The newest order record of an order, and when it was received; undefined when there is none. */
export async function readRecord(
  db: Database,
  account: string,
  externalOrderId: string,
): Promise<{ body: string; receivedAt: string } | undefined> {
  return await db
    .selectFrom('order_records')
    .select(['body', 'received_at as receivedAt'])
    .where('account', '=', account)
    .where('external_order_id', '=', externalOrderId)
    .executeTakeFirst();
}

/** Ids of orders whose newest record was never held against them, behind `fromId`. */
export async function uncomparedIds(
  db: Database,
  query: { account: string; fromId: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', query.account)
    .where('compared_at', 'is', null)
    .where('external_order_id', '>', query.fromId)
    .orderBy('external_order_id')
    .limit(query.limit)
    .execute();
  return rows.map((row) => row.external_order_id);
}

/** Has records behind `fromId` count as never compared; the id of the last of them, undefined when there is no more. */
export async function forgetCompared(
  tx: Transaction,
  query: { account: string; fromId: string; limit: number },
): Promise<string | undefined> {
  const rows = await tx
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', query.account)
    .where('external_order_id', '>', query.fromId)
    .orderBy('external_order_id')
    .limit(query.limit)
    .execute();
  const ids = rows.map((row) => row.external_order_id);
  await tx
    .updateTable('order_records')
    .set({ compared_at: null })
    .where('account', '=', query.account)
    .where('external_order_id', 'in', ids)
    .execute();
  return ids.at(-1);
}

const hashStatement = statement((v: { account: string; externalOrderId: string; hash: string }) =>
  queries
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', v.account)
    .where('transaction_hash', '=', v.hash)
    .where('external_order_id', '<>', v.externalOrderId)
    .limit(1),
);

/** Another order whose newest record has the same transaction hash. */
export async function orderWithHash(
  tx: Transaction,
  order: { account: string; externalOrderId: string },
  hash: string,
): Promise<string | null> {
  const { rows } = await hashStatement(tx, { ...order, hash });
  return rows[0]?.external_order_id ?? null;
}

/** By name: what compiles a statement gives a placeholder for each name that is asked for. */
function columnsOf(v: RecordColumns): RecordColumns {
  return {
    merchant_id: v.merchant_id,
    creation_date: v.creation_date,
    completion_date: v.completion_date,
    input_asset: v.input_asset,
    output_asset: v.output_asset,
    from_currency: v.from_currency,
    to_currency: v.to_currency,
    fee: v.fee,
    reward: v.reward,
    transaction_hash: v.transaction_hash,
  };
}
