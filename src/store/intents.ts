import type { Tracking } from '../domain/orders/tracking.ts';
import { StoreError } from './errors.ts';
import { ORDER_COLUMNS, type OrderRow } from './order-columns.ts';
import type { Transaction } from './port.ts';
import { queries, statement, together } from './statement.ts';

/** An order that is sent once its transaction is durable: the row must be as it was written. */
export type IntendedRow = Readonly<Partial<OrderRow>>;

/** Notes that an order is about to be sent. `row` is what this transaction read, `tracking` what it wrote. */
export function intend(tx: Transaction, row: OrderRow, tracking: Tracking): void {
  const { account, externalOrderId, state, revision, attempts, sentAt } = tracking;
  const columns = Object.fromEntries(ORDER_COLUMNS.map((column) => [column, row[column]]));
  const written = { state, revision, attempts, sent_at: sentAt?.toISOString() ?? null };
  tx.intents?.set(externalOrderId, { ...columns, account, external_order_id: externalOrderId, ...written });
}

const intentStatement = statement((v: { account: string; externalOrderId: string }) =>
  queries
    .selectFrom('merchant_orders')
    .select([...ORDER_COLUMNS, 'account', 'state', 'revision', 'attempts', 'sent_at'])
    .where((order) => order.and({ account: v.account, external_order_id: v.externalOrderId })),
);

/**
 * Reads the intents of a transaction again as its last statement, after the deferred triggers. If a trigger has undone or
 * changed an intent, which a count of changed rows does not show, throws `StoreError`: nothing is committed, so nothing is
 * sent.
 */
export async function assertIntents(tx: Transaction, runDeferred: () => Promise<void> | undefined): Promise<void> {
  const intents = [...(tx.intents?.values() ?? [])];
  if (intents.length === 0) return;
  const deferred = Promise.resolve(runDeferred());
  const reads = intents.map(({ account = '', external_order_id: externalOrderId = '' }) =>
    intentStatement(tx, { account, externalOrderId }),
  );
  const [, ...found] = await together(deferred, ...reads);
  for (const [index, intent] of intents.entries()) {
    const row: Readonly<Record<string, unknown>> = found[index]?.rows[0] ?? {};
    const column = Object.entries(intent).find(([name, value]) => row[name] !== value)?.[0];
    if (column !== undefined) throw undone(intent, column);
  }
}

function undone({ external_order_id: id }: IntendedRow, column: string): StoreError {
  const order = `order ${JSON.stringify(id)}`;
  const advice = 'nothing was sent; correct the triggers of merchant_orders';
  return new StoreError('refused', `a trigger changed ${column} of ${order} as its create was recorded; ${advice}`);
}
