import { assumeSent, type Assumption } from './rules/create.ts';
import { trackingOf, type OrderRow } from '../store/orders/order-columns.ts';
import { lockOrder, saveDecision } from '../store/orders/orders.ts';
import type { Transaction } from '../store/port.ts';
import { recordUnknownOutcome } from '../findings/record-findings.ts';
import type { FlowDeps } from './pass/deps.ts';

export interface Assuming extends Pick<FlowDeps, 'clock'> {
  readonly settings: Pick<FlowDeps['settings'], 'verifyAfter'>;
}

interface Assumed {
  readonly account: string;
  readonly id: string;
  readonly how: Assumption;
}

/** Takes an order for sent. Returns how many it took: none if the merchant has deleted it meanwhile. */
export async function assumeOrderSent(tx: Transaction, { account, id, how }: Assumed, deps: Assuming): Promise<number> {
  const row = await lockOrder(tx, account, id);
  if (row === undefined) return 0;
  await assumeRowSent(tx, row, how, deps);
  return 1;
}

export async function assumeRowSent(
  tx: Transaction,
  row: OrderRow,
  how: Assumption,
  { clock, settings }: Assuming,
): Promise<void> {
  const now = clock.now();
  const before = trackingOf(row);
  const unknown = await saveDecision(tx, before, assumeSent(before, how, now, settings), now);
  await recordUnknownOutcome(tx, before, unknown, now);
}
