import type { Tracking } from '../domain/orders/tracking.ts';
import { StoreError } from './errors.ts';
import { ORDER_COLUMNS, type OrderColumn, type OrderRow } from './order-columns.ts';
import type { Intent, Transaction } from './port.ts';
import { queries, statement, together } from './statement.ts';

export function intend(tx: Transaction, row: OrderRow, tracking: Tracking): void {
  tx.intents?.set(tracking.externalOrderId, { row, tracking });
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
  const deferred = runDeferred();
  const reads = intents.map(({ tracking }) => intentStatement(tx, tracking));
  const [, ...found] = await together(deferred, ...reads);
  for (const [index, intent] of intents.entries()) {
    const column = changedColumn(intent, found[index]?.rows[0]);
    if (column !== undefined) throw undone(intent, column);
  }
}

type IntentRow = Pick<OrderRow, OrderColumn | 'account' | 'state' | 'revision' | 'attempts' | 'sent_at'>;

function changedColumn({ row, tracking }: Intent, found: IntentRow | undefined): string | undefined {
  const { account, state, revision, attempts, sentAt } = tracking;
  const written = { account, state, revision, attempts, sent_at: sentAt?.toISOString() ?? null };
  const names = Object.keys(written) as (keyof typeof written)[];
  return (
    ORDER_COLUMNS.find((column) => found?.[column] !== row[column]) ??
    names.find((column) => found?.[column] !== written[column])
  );
}

function undone({ tracking }: Intent, column: string): StoreError {
  const order = `order ${JSON.stringify(tracking.externalOrderId)}`;
  const advice = 'nothing was sent; correct the triggers of merchant_orders';
  return new StoreError('refused', `a trigger changed ${column} of ${order} as its create was recorded; ${advice}`);
}
