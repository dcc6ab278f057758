import { sql } from 'kysely';
import type { Tracking } from '../../orders/rules/tracking.ts';
import { isOneOf } from '../dialect.ts';
import { StoreError } from '../errors.ts';
import { ORDER_COLUMNS, type OrderRow } from './order-columns.ts';
import type { Intent, Transaction } from '../port.ts';
import { statement, together } from '../statement.ts';

export function intend(tx: Transaction, row: OrderRow, tracking: Tracking): void {
  tx.intents?.push({ row, tracking });
}

const INTENT_COLUMNS = [...ORDER_COLUMNS, 'account', 'state', 'revision', 'attempts', 'sent_at'] as const;

const intentsStatement = statement(
  (v: {
    account: string;
    ids: string;
  }) => sql<IntentRow>`select ${sql.join(INTENT_COLUMNS.map((name) => sql.ref(name)))}
    from merchant_orders where account = ${v.account} and ${isOneOf('external_order_id', v.ids)}`,
);

/** Reads the rows of intents again at the end of a transaction. Throws `StoreError` if a trigger has changed a row. */
export async function assertIntents(tx: Transaction, runDeferred: () => Promise<void> | undefined): Promise<void> {
  const byAccount = [...Map.groupBy(tx.intents ?? [], ({ tracking }) => tracking.account)];
  if (byAccount.length === 0) return;
  const deferred = runDeferred();
  const reads = byAccount.map(([account, intents]) =>
    intentsStatement(tx, { account, ids: JSON.stringify(intents.map(({ tracking }) => tracking.externalOrderId)) }),
  );
  const [, ...found] = await together(deferred, ...reads);
  for (const [index, [, intents]] of byAccount.entries()) {
    const rows = new Map(found[index]?.rows.map((row) => [row.external_order_id, row]));
    for (const intent of intents) {
      const column = changedColumn(intent, rows.get(intent.tracking.externalOrderId));
      if (column !== undefined) throw undone(intent, column);
    }
  }
}

type IntentRow = Pick<OrderRow, (typeof INTENT_COLUMNS)[number]>;

function changedColumn({ row, tracking }: Intent, found: IntentRow | undefined): string | undefined {
  const { account, state, revision, attempts, sentAt } = tracking;
  const written = { ...row, account, state, revision, attempts, sent_at: sentAt?.toISOString() ?? null };
  return INTENT_COLUMNS.find((column) => found?.[column] !== written[column]);
}

function undone({ tracking }: Intent, column: string): StoreError {
  const order = `order ${JSON.stringify(tracking.externalOrderId)}`;
  const advice = 'nothing was sent; correct the triggers of merchant_orders';
  return new StoreError('refused', `a trigger changed ${column} of ${order} as its create was recorded; ${advice}`);
}
