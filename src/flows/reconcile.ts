import { decideFindings } from '../domain/finding-changes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../domain/finding-classes.ts';
import type { MerchantOrder } from '../domain/order.ts';
import { findOverdue } from '../domain/overdue.ts';
import { compareRecord, type Finding } from '../domain/reconcile.ts';
import type { OrderEvent, Tracking } from '../domain/tracking.ts';
import { readPreOrderView, readRecordView } from '../exchange/record-view.ts';
import { accountFact, findingsOf, firstSentAt, orderWithHash, saveFindings } from '../store/findings.ts';
import { receivedBody } from '../store/reading.ts';
import type { Store } from '../store/store.ts';
import type { FlowDeps } from './deps.ts';

type ReconcileDeps = Pick<FlowDeps, 'account' | 'settings'>;

/** State classes that only a question of their own can judge. */
const ASKED_FOR: readonly FindingClassName[] = ['PREORDER_MISSING', 'PREORDER_ECHO_MISMATCH', 'IDENTITY_MISMATCH'];
const JUDGED_BY_RECORD = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].kind === 'state' && !ASKED_FOR.includes(name),
);

/** A record that came for an order. */
export interface ReceivedRecord {
  readonly order: MerchantOrder;
  /** The order before and after the record decided about it. */
  readonly before: Tracking;
  readonly after: Tracking;
  readonly events: readonly OrderEvent[];
  readonly body: string;
  /** The record before this one, as received; undefined when this is the first. */
  readonly earlierBody: string | undefined;
  readonly now: Date;
}

/**
 * Holds an order against a record that was just kept, in the same transaction. A record that says the same as the one
 * before, but for the time of the server, is not compared again.
 */
export async function reconcileRecord(tx: Store['db'], deps: ReconcileDeps, received: ReceivedRecord): Promise<void> {
  const { order, before, after, body, earlierBody, events, now } = received;
  const { account } = deps;
  const { externalOrderId } = order;
  const known = await findingsOf(tx, account, externalOrderId);
  const isVanished = known.some((one) => one.class === 'ORDER_VANISHED' && one.status !== 'resolved');
  const isSame = earlierBody !== undefined && withoutServerDate(earlierBody) === withoutServerDate(body);
  if (isSame && before.state === after.state && events.length === 0 && !isVanished) return;
  const record = readRecordView(body);
  if (record === undefined) return;
  const preOrderBody = await receivedBody(tx, 'pre_orders', account, externalOrderId);
  const { merchantId, transactionHash } = record;
  const context = {
    order,
    state: after.state,
    preOrder: preOrderBody === undefined ? null : (readPreOrderView(preOrderBody) ?? null),
    record,
    earlier: earlierBody === undefined ? null : (readRecordView(earlierBody) ?? null),
    receivedAt: now,
    firstSentAt: await firstSentAt(tx, account, externalOrderId),
    merchantId: merchantId === null ? null : await accountFact(tx, account, 'merchant.id', merchantId, now),
    hashUsedBy:
      transactionHash === null ? null : await orderWithHash(tx, { account, externalOrderId }, transactionHash),
  };
  const found = [
    ...compareRecord(context, deps.settings),
    ...findOverdue({ ...after, assetPosition: order.assetPosition }, now, {
      ...deps.settings,
      stuckAfter: Number.POSITIVE_INFINITY,
    }),
    ...findingsOfEvents(events),
  ];
  const changes = decideFindings(known, found, JUDGED_BY_RECORD);
  await saveFindings(tx, { account, externalOrderId }, changes, now);
}

/** Notes findings of classes that were judged outside of a record: the answer itself, the echo of a create. */
export async function noteFindings(
  tx: Store['db'],
  { account }: ReconcileDeps,
  externalOrderId: string,
  judged: { readonly found: readonly Finding[]; readonly classes: readonly FindingClassName[]; readonly now: Date },
): Promise<void> {
  const known = await findingsOf(tx, account, externalOrderId);
  const changes = decideFindings(known, judged.found, judged.classes);
  await saveFindings(tx, { account, externalOrderId }, changes, judged.now);
}

/** What deciding about a look-up found by itself. */
export function findingsOfEvents(events: readonly OrderEvent[]): readonly Finding[] {
  return events.flatMap(({ field, oldValue, newValue, reason }): Finding[] => {
    if (field === 'record.stale') return [{ class: 'STALE_SNAPSHOT', expected: oldValue, actual: newValue }];
    if (field !== 'finding' || newValue === null || !(newValue in FINDING_CLASSES)) return [];
    return [{ class: newValue as FindingClassName, expected: null, actual: reason }];
  });
}

function withoutServerDate(body: string): string {
  return body.replace(/"serverDate"\s*:\s*"[^"]*"/, '');
}
