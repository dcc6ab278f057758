import type { AmountSettings } from '../../base/decimal.ts';
import type { Assumption } from '../../orders/rules/create.ts';
import { doubtedBy } from '../../accounts/rules/fail-over.ts';
import type { FindingClassName } from '../../findings/rules/classes.ts';
import { decideByOperator, type DecisionEvidence, type OperatorAction } from './rules/judgement.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import { findUnknownOutcome, OVERDUE_CLASSES } from '../../findings/rules/age.ts';
import type { Tracking } from '../../orders/rules/tracking.ts';
import { findOrders, type OrderFilter } from '../../store/find-orders.ts';
import { orderWithPreOrder, lockOrder, saveDecision } from '../../store/orders/orders.ts';
import { readFailOvers } from '../../store/tables/fail-overs.ts';
import { doubtOf, type Assuming, assumeRowSent } from '../../orders/fail-over.ts';
import { ROW_COLUMNS, trackingOf, type OrderRow } from '../../store/orders/order-columns.ts';
import { partsOf } from '../../store/pages.ts';
import type { Database, Transaction } from '../../store/port.ts';
import { compareWithRow, readAcceptedAndAbsent } from '../../findings/evidence.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { readFollowed } from '../../store/orders/orders-with-records.ts';
import { readRecord } from '../../store/tables/order-records.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { recordFindings } from '../../findings/record-findings.ts';

/** The most decisions that are written together. The limit is low, because the daemon's writes wait meanwhile. */
const TOGETHER = 50;

export type OperatorDeps = Pick<FlowDeps, 'account' | 'store' | 'clock' | 'settings'>;

/** `listed` is the order as the person saw it before the decision. */
export type OperatorTarget = Readonly<{ externalOrderId: string; listed?: Tracking }>;

export type OperatorResult = { readonly externalOrderId: string } & (
  | { readonly kind: 'done'; readonly from: OrderState; readonly to: OrderState }
  | { readonly kind: 'passed-over'; readonly state: OrderState | null; readonly why: string }
);

export async function listTargets(
  { account, store, clock, settings }: OperatorDeps,
  { from, to, limit, ...filter }: Pick<OrderFilter, 'state' | 'afterId' | 'from' | 'to' | 'limit'>,
  action: OperatorAction,
): Promise<readonly { readonly target: OperatorTarget; readonly result: OperatorResult }[]> {
  const query = { account, state: filter.state, afterId: filter.afterId, from, to, by: 'id', limit } as const;
  const rows = await findOrders(store.db, query, ROW_COLUMNS);
  const now = clock.now();
  return await Array.fromAsync(rows, async (row) => {
    const listed = trackingOf(row);
    const { externalOrderId, state } = listed;
    const evidence = await evidenceFor(store.db, action, row, settings);
    const made = decideByOperator(listed, action, now, settings, evidence);
    const result: OperatorResult = made.ok
      ? { kind: 'done', externalOrderId, from: state, to: made.to }
      : { kind: 'passed-over', externalOrderId, state, why: made.why };
    return { target: { externalOrderId, listed }, result };
  });
}

async function evidenceFor(db: Database, action: OperatorAction, row: OrderRow, settings: OperatorDeps['settings']) {
  const { kind } = action.judgement;
  if (kind === 'not-created' || kind === 'retry') return await evidenceAgainstSending(db, row);
  return kind === 'ours' ? { newest: await readNewest(db, settings, trackingOf(row)) } : {};
}

async function readNewest(db: Database, settings: AmountSettings, { account, externalOrderId }: Tracking) {
  const row = await readFollowed(db, account, externalOrderId);
  const stored = await readRecord(db, account, externalOrderId);
  const record = stored && readRecordView(stored.body);
  if (row === undefined || stored === undefined || record === undefined) return undefined;
  return { record, ...(await compareWithRow(db, settings, row, record, new Date(stored.receivedAt))) };
}

export async function evidenceAgainstSending(db: Database, row: OrderRow): Promise<DecisionEvidence> {
  const order = trackingOf(row);
  const failOver = doubtedBy(await readFailOvers(db, order.account), order, row.updated_at);
  return {
    acceptedAndAbsent: await readAcceptedAndAbsent(db, order.account),
    doubt: failOver && (doubtOf(order.account, failOver).reason ?? undefined),
  };
}

/** Yields results in the order of `targets`. Passes over orders that changed after they were listed. */
export async function* decideOrders(deps: OperatorDeps, targets: readonly OperatorTarget[], action: OperatorAction) {
  const { writer } = deps.store;
  for (const part of partsOf(targets, TOGETHER)) {
    yield* await Promise.all(part.map((target) => writer.write((tx) => decideOrder(tx, deps, target, action))));
  }
}

export async function decideOrder(
  tx: Transaction,
  { account, clock, settings }: Omit<OperatorDeps, 'store'>,
  { externalOrderId, listed }: OperatorTarget,
  action: OperatorAction,
): Promise<OperatorResult> {
  const passedOver = (state: OrderState | null, why: string) =>
    ({ kind: 'passed-over', externalOrderId, state, why }) as const;
  const { judgement } = action;
  const row = await lockOrder(tx, account, externalOrderId);
  if (row === undefined) return passedOver(null, 'there is no such order in the table');
  const tracking = trackingOf(row);
  const { state } = tracking;
  if (judgement.kind === 'exists') {
    const other = await orderWithPreOrder(tx, { account, externalOrderId, preOrderId: judgement.preOrderId });
    if (other !== undefined) return passedOver(state, `the pre-order belongs to the order ${JSON.stringify(other)}`);
  }
  const change = listed === undefined ? undefined : changeSince(listed, tracking);
  if (change !== undefined) return passedOver(state, change);
  const now = clock.now();
  const made = decideByOperator(tracking, action, now, settings, await evidenceFor(tx, action, row, settings));
  if (!made.ok) return passedOver(state, made.why);
  let last = tracking;
  for (const moved of made.moves) last = await saveDecision(tx, last, moved, now);
  const { to } = made;
  const classes: readonly FindingClassName[] = to === 'accepted' ? ['CREATE_UNKNOWN'] : OVERDUE_CLASSES;
  await recordFindings(tx, last, { found: findUnknownOutcome(last), classes, now });
  return { kind: 'done', externalOrderId, from: state, to };
}

/** Returns how an order differs from `listed`. Compares attempts, because another create may end in the same state. */
function changeSince(listed: Tracking, now: Tracking): string | undefined {
  if (listed.state !== now.state) return `it was ${listed.state} when it was listed and is ${now.state} now`;
  if (listed.state === 'disputed' && listed.stateReason !== now.stateReason) {
    return 'it is disputed for another reason than when it was listed';
  }
  if (listed.attempts !== now.attempts) return 'it was sent again since it was listed';
  return undefined;
}

type Assumed = Readonly<{ account: string; id: string; how: Assumption }>;

/** Makes an order unknown, as if it were sent now; a held order stays held. Returns 0 if the row is missing, else 1. */
export async function assumeOrderSent(tx: Transaction, { account, id, how }: Assumed, deps: Assuming): Promise<number> {
  const row = await lockOrder(tx, account, id);
  if (row === undefined) return 0;
  await assumeRowSent(tx, row, how, deps);
  return 1;
}
