import { NO_TURNS, type Turns } from '../../orders/rules/record-change.ts';
import { readTime } from '../../base/instant.ts';
import { withoutNul } from '../../base/text.ts';
import type { Answer, RecordView } from '../../orders/rules/record.ts';
import { hasLongText } from '../dialect.ts';
import type { Database, Transaction } from '../port.ts';
import type { KeptAnswersTable, OrderRecordsTable, ReceivedBodiesTable } from '../schema.ts';
import { queries, statement } from '../statement.ts';

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
type RecordColumns = Omit<OrderRecordsTable, keyof ReceivedBodiesTable | 'completed_at' | 'compared_at' | TurnColumn>;
type TurnColumn = 'earlier_hash' | 'turns' | 'repeats' | 'quiet_changes';

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
} as const satisfies Record<keyof RecordColumns, keyof RecordView>;

const COLUMNS = Object.keys(RECORD_FIELD_OF) as readonly (keyof RecordColumns)[];

const keepRecordStatement = statement((v: ComparedBody & RecordColumns & { completedAt: string | null }) => {
  const { account, externalOrderId, body, receivedAt, completedAt, comparedAt } = v;
  const kept = {
    body,
    received_at: receivedAt,
    ...columnsOf(v),
    completed_at: completedAt,
    compared_at: comparedAt,
    ...turnColumnsOf(v),
  };
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
  queries
    .insertInto('order_records')
    .values({ account: v.account, external_order_id: v.externalOrderId, body: v.body, received_at: v.receivedAt })
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'external_order_id'])
        .doUpdateSet({ body: v.body, received_at: v.receivedAt, compared_at: null }),
    ),
);

export const keepTurns = statement((v: Turns & { account: string; externalOrderId: string }) =>
  queries
    .updateTable('order_records')
    .set(turnColumnsOf(v))
    .where((record) => record.and({ account: v.account, external_order_id: v.externalOrderId })),
);

const turnsStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('order_records')
    .select(['earlier_hash as earlierHash', 'turns', 'repeats', 'quiet_changes as quietChanges'])
    .where((record) => record.and({ account: v.account, external_order_id: v.externalOrderId })),
);

export async function readTurns(tx: Transaction, account: string, externalOrderId: string): Promise<Turns> {
  const { rows } = await turnsStatement(tx, { account, externalOrderId });
  return rows[0] ?? NO_TURNS;
}

/** Stores an order's newest record (§2.7), as received, while it is compared; with its columns if `view` is given. */
export async function keepOrderRecord(tx: Transaction, received: ComparedBody, view?: RecordView): Promise<void> {
  const columns = COLUMNS.map((column) => [column, view?.[RECORD_FIELD_OF[column]] ?? null]);
  const completedAt = readTime(view?.completionDate)?.toISOString() ?? null;
  await keepRecordStatement(tx, { ...received, ...(Object.fromEntries(columns) as RecordColumns), completedAt });
}

export async function readRecord(db: Database, account: string, externalOrderId: string) {
  return await db
    .selectFrom('order_records')
    .select(['body', 'received_at as receivedAt'])
    .where((record) => record.and({ account, external_order_id: externalOrderId }))
    .executeTakeFirst();
}

interface RecordPage {
  readonly account: string;
  readonly fromId: string;
  readonly limit: number;
}

function idsOf(db: Database, { account, fromId, limit }: RecordPage) {
  return db
    .selectFrom('order_records')
    .select('external_order_id')
    .where('account', '=', account)
    .where('external_order_id', '>', fromId)
    .orderBy('external_order_id')
    .limit(limit);
}

export async function uncomparedIds(db: Database, page: RecordPage): Promise<string[]> {
  const rows = await idsOf(db, page).where('compared_at', 'is', null).execute();
  return rows.map((row) => row.external_order_id);
}

/** Marks records as never compared. Returns the id of the last record; undefined if there are no more. */
export async function forgetCompared(tx: Transaction, page: RecordPage): Promise<string | undefined> {
  const ids = (await idsOf(tx, page).execute()).map((row) => row.external_order_id);
  if (ids.length === 0) return undefined;
  await tx
    .updateTable('order_records')
    .set({ compared_at: null })
    .where('account', '=', page.account)
    .where('external_order_id', 'in', ids)
    .execute();
  return ids.at(-1);
}

type FieldSearch = { account: string; externalOrderId: string; value: string };

function otherOrder(column: 'transaction_hash' | 'order_id') {
  const search = statement((v: FieldSearch) =>
    queries
      .selectFrom('order_records')
      .select('external_order_id')
      .where('account', '=', v.account)
      .where(hasLongText(column, v.value))
      .where('external_order_id', '<>', v.externalOrderId)
      .limit(1),
  );
  return async (tx: Transaction, values: FieldSearch): Promise<string | null> => {
    const { rows } = await search(tx, values);
    return rows[0]?.external_order_id ?? null;
  };
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

export const keepPreOrder = statement((v: ReceivedBody) =>
  queries
    .insertInto('pre_orders')
    .values({ account: v.account, external_order_id: v.externalOrderId, body: v.body, received_at: v.receivedAt })
    .onConflict((conflict) =>
      conflict.columns(['account', 'external_order_id']).doUpdateSet({ body: v.body, received_at: v.receivedAt }),
    ),
);

export async function readPreOrder(db: Database, account: string, externalOrderId: string) {
  const row = await db
    .selectFrom('pre_orders')
    .select('body')
    .where((preOrder) => preOrder.and({ account, external_order_id: externalOrderId }))
    .executeTakeFirst();
  return row?.body;
}

interface KeptAnswer extends Answer, Pick<KeptAnswersTable, 'account' | 'operation' | 'subject'> {
  readonly receivedAt: string;
}

const keepStatement = statement((v: KeptAnswer) => {
  const { account, operation, subject, httpStatus, body, receivedAt } = v;
  const received = { http_status: httpStatus, body, received_at: receivedAt };
  return queries.insertInto('kept_answers').values({ account, operation, subject, ...received });
});

export async function keepAnswer(tx: Transaction, answer: KeptAnswer): Promise<void> {
  await keepStatement(tx, { ...answer, body: withoutNul(answer.body) });
}
