import { checkOrder } from '../domain/check-order.ts';
import { decideFindings, type KnownFinding } from '../domain/finding-changes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../domain/finding-classes.ts';
import type { LookupAnswer, LookupDecision } from '../domain/follow.ts';
import { findOverdue, OVERDUE_CLASSES, type OrderAge } from '../domain/overdue.ts';
import { compareRecord, replaced, type Finding, type RecordContext, type RecordView } from '../domain/reconcile.ts';
import type { OrderEvent, Tracking } from '../domain/tracking.ts';
import { readExchangeType, readRecordView } from '../exchange/record-view.ts';
import { findingsOf, saveFindings } from '../store/findings.ts';
import { accountFact, firstSentAt, orderWithHash, readFollowed, type FollowedRow } from '../store/followed.ts';
import { trackingOf, uncheckedOrderOf } from '../store/orders.ts';
import { receivedBody } from '../store/reading.ts';
import { keepOrderRecord, keepSameRecord, readRecord, type RecordColumns } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { FlowDeps } from './deps.ts';

/** What judging findings works with. */
export type ReconcileDeps = Pick<FlowDeps, 'account' | 'settings'>;

/** Findings that were not open before. */
export type NewFindings = readonly Finding[];

const NONE: NewFindings = [];
const STATE_CLASSES = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].kind === 'state',
);
/** Only a question of its own can judge these; and how long is too long for STUCK only the sweep knows. */
const NOT_OF_RECORD: readonly FindingClassName[] = ['PREORDER_MISSING', 'PREORDER_ECHO_MISMATCH', 'STUCK'];
const JUDGED_BY_RECORD = STATE_CLASSES.filter((name) => !NOT_OF_RECORD.includes(name));
/** What any answer judges; a record that says the same as before judges nothing else. */
const JUDGED_BY_ANSWER: readonly FindingClassName[] = [
  'IDENTITY_MISMATCH',
  'ORDER_VANISHED',
  ...OVERDUE_CLASSES.filter((name) => name !== 'STUCK'),
];
/** The fields of a record that have a column of their own. */
const COLUMNS = {
  merchant_id: 'merchantId',
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
const FIELDS = Object.values(COLUMNS);
const NEVER_STUCK = { stuckAfter: Number.POSITIVE_INFINITY };

/** A look-up and what was decided about it. */
export interface LookedUp {
  /** The row as it stood before. */
  readonly row: FollowedRow;
  readonly before: Tracking;
  readonly answer: LookupAnswer;
  readonly decision: LookupDecision;
  readonly now: Date;
}

/** Keeps the record that a look-up brought and judges what the look-up shows, in the transaction that records it. */
export async function reconcileAnswer(tx: Store['db'], deps: ReconcileDeps, looked: LookedUp): Promise<NewFindings> {
  const { row, before, answer, decision, now } = looked;
  const { externalOrderId } = before;
  switch (answer.kind) {
    case 'found':
      return decision.keepsRecord
        ? await reconcileRecord(tx, deps, looked, answer.body)
        : await noteStale(tx, deps, looked, answer.body);
    case 'not-found': {
      const isGone = before.state === 'open' || before.state === 'final';
      const vanished: Finding = { class: 'ORDER_VANISHED', expected: `order ${before.orderId}`, actual: 'not found' };
      const overdue = findOverdue(ageOf(row, decision.tracking), now, { ...deps.settings, ...NEVER_STUCK });
      const found = [...(isGone ? [vanished] : []), ...overdue];
      if (found.length === 0 && row.has_findings === 0) return NONE;
      return await noteFindings(tx, deps, externalOrderId, { found, classes: JUDGED_BY_ANSWER, now });
    }
    case 'unanswered': {
      if (answer.answeredFor === undefined) return NONE;
      const found = [
        { class: 'IDENTITY_MISMATCH', expected: externalOrderId, actual: answer.answeredFor },
      ] satisfies Finding[];
      return await noteFindings(tx, deps, externalOrderId, { found, classes: ['IDENTITY_MISMATCH'], now });
    }
  }
}

/** Notes what was judged of an order; judged classes that are not found any more resolve themselves. */
export async function noteFindings(
  tx: Store['db'],
  { account }: Pick<ReconcileDeps, 'account'>,
  externalOrderId: string,
  judged: { readonly found: readonly Finding[]; readonly classes: readonly FindingClassName[]; readonly now: Date },
): Promise<NewFindings> {
  const known = await findingsOf(tx, account, externalOrderId);
  const changes = decideFindings(known, judged.found, judged.classes);
  await saveFindings(tx, { account, externalOrderId }, changes, judged.now);
  return [...changes.opened, ...changes.reopened];
}

/** Holds the record that is kept against its order, as if it had just come and were the first. */
export async function compareKept(
  tx: Store['db'],
  deps: ReconcileDeps,
  externalOrderId: string,
  now: Date,
): Promise<NewFindings> {
  const row = await readFollowed(tx, deps.account, externalOrderId);
  const kept = await readRecord(tx, deps.account, externalOrderId);
  if (row === undefined || kept === undefined) return NONE;
  const { account } = row;
  const { body, receivedAt } = kept;
  const view = readRecordView(body);
  await keepRecord(tx, { account, externalOrderId, body, receivedAt }, view, null);
  const order = trackingOf(row);
  const judged = { row, view, earlier: null, before: order, after: order, receivedAt: new Date(receivedAt), now };
  return await noteFindings(tx, deps, externalOrderId, { ...(await judgeRecord(tx, deps, judged)), now });
}

/** Judges whether the outcome of the order's create is known, wherever the order was moved. */
export async function noteOutcome(
  tx: Store['db'],
  deps: ReconcileDeps,
  { externalOrderId, state, sentAt }: Tracking,
  now: Date,
): Promise<NewFindings> {
  const age = { state, sentAt, assetPosition: null, record: null, changedAt: null, lastLookupAt: null };
  const overdue = findOverdue(age, now, { ...deps.settings, ...NEVER_STUCK });
  const found = overdue.filter((one) => one.class === 'CREATE_UNKNOWN');
  return await noteFindings(tx, deps, externalOrderId, { found, classes: ['CREATE_UNKNOWN'], now });
}

/**
 * A record that says the same as the one before, but for the time of the server, is not compared again: most look-ups
 * bring one.
 */
async function reconcileRecord(
  tx: Store['db'],
  deps: ReconcileDeps,
  looked: LookedUp,
  body: string,
): Promise<NewFindings> {
  const { row, decision, now } = looked;
  const { account, external_order_id: externalOrderId, earlier_body: earlierBody } = row;
  const received = { account, externalOrderId, body, receivedAt: now.toISOString() };
  const isSame =
    earlierBody !== null && decision.events.length === 0 && withoutServerDate(earlierBody) === withoutServerDate(body);
  if (isSame) {
    await keepSameRecord(tx, received);
    if (row.has_findings === 0) return NONE;
    const known = await findingsOf(tx, account, externalOrderId);
    if (!known.some(isJudgedByAnswer)) return NONE;
  }
  const view = readRecordView(body);
  const earlier = earlierBody === null ? null : (readRecordView(earlierBody) ?? null);
  if (!isSame) await keepRecord(tx, received, view, earlier);
  const judged = { row, view, earlier, before: looked.before, after: decision.tracking, receivedAt: now, now };
  const { found, classes } = await judgeRecord(tx, deps, judged);
  if (found.length === 0 && row.has_findings === 0) return NONE;
  const hasMoved = looked.before.changedAt !== decision.tracking.changedAt;
  const all: typeof classes = hasMoved ? [...classes, 'STUCK'] : classes;
  return await noteFindings(tx, deps, externalOrderId, { found, classes: all, now });
}

/** A record, and the order before and with it. */
interface Judged {
  readonly row: FollowedRow;
  /** Undefined where the record cannot be read as one. */
  readonly view: RecordView | undefined;
  readonly earlier: RecordView | null;
  readonly before: Tracking;
  readonly after: Tracking;
  readonly receivedAt: Date;
  readonly now: Date;
}

async function judgeRecord(
  tx: Store['db'],
  deps: ReconcileDeps,
  judged: Judged,
): Promise<{ found: readonly Finding[]; classes: readonly FindingClassName[] }> {
  const { row, view, after, now } = judged;
  const compared = view === undefined ? undefined : await compare(tx, deps, judged, view);
  const age = { ...after, assetPosition: row.asset_position, record: view ?? null };
  const overdue = findOverdue(age, now, { ...deps.settings, ...NEVER_STUCK });
  return {
    found: [...(compared ?? []), ...overdue],
    classes: compared === undefined ? JUDGED_BY_ANSWER : JUDGED_BY_RECORD,
  };
}

/** What the rules find in a record; undefined where the row itself cannot be read. */
async function compare(
  tx: Store['db'],
  { account, settings }: ReconcileDeps,
  { row, earlier, before, after, receivedAt, now }: Judged,
  record: RecordView,
): Promise<readonly Finding[] | undefined> {
  const checked = checkOrder(uncheckedOrderOf(row));
  if (!checked.ok) return undefined;
  const context = {
    order: checked.order,
    stateBefore: before.state,
    state: after.state,
    record,
    earlier,
    receivedAt,
    ...(await readEvidence(tx, account, { row, record, earlier, now })),
  };
  return compareRecord(context, settings);
}

/**
 * What else the record is held against. What stayed as it was when it was last judged, without a finding, is not read:
 * most records that say something new have another status and nothing more.
 */
async function readEvidence(
  tx: Store['db'],
  account: string,
  { row, record, earlier, now }: Pick<Judged, 'row' | 'earlier' | 'now'> & { record: RecordView },
): Promise<Pick<RecordContext, 'preOrderExchangeType' | 'firstSentAt' | 'merchantId' | 'hashUsedBy'>> {
  const { external_order_id: externalOrderId, attempts, sent_at: sentAt } = row;
  const isJudged = (field: keyof RecordView) => row.has_findings === 0 && earlier?.[field] === record[field];
  const { merchantId, transactionHash: hash } = record;
  const isSentOnce = attempts === 1 && sentAt !== null;
  return {
    preOrderExchangeType: isJudged('exchangeType') ? null : await preOrderExchangeType(tx, row),
    firstSentAt: isSentOnce ? new Date(sentAt) : await firstSentAt(tx, account, externalOrderId),
    merchantId:
      merchantId === null || isJudged('merchantId')
        ? merchantId
        : await accountFact(tx, { account, name: 'merchant.id', given: merchantId, now }),
    hashUsedBy:
      hash === null || isJudged('transactionHash') ? null : await orderWithHash(tx, { account, externalOrderId }, hash),
  };
}

/** An older record changes nothing, but it may be of another order. It is noted once for each time it bears. */
async function noteStale(
  tx: Store['db'],
  deps: ReconcileDeps,
  { row, decision, now }: LookedUp,
  body: string,
): Promise<NewFindings> {
  const stale = decision.events.filter(({ field }) => field === 'record.stale').map(staleFinding);
  if (stale.length === 0 && row.has_findings === 0) return NONE;
  const view = readRecordView(body);
  const earlier = row.earlier_body === null ? undefined : readRecordView(row.earlier_body);
  const others = view === undefined || earlier === undefined ? [] : replaced({ record: view, earlier });
  const overdue = findOverdue(ageOf(row, decision.tracking), now, { ...deps.settings, ...NEVER_STUCK });
  const found = [...stale, ...others, ...overdue];
  return await noteFindings(tx, deps, row.external_order_id, { found, classes: JUDGED_BY_ANSWER, now });
}

/** Until the first record the row has it; then the row has the order's. */
async function preOrderExchangeType(tx: Store['db'], row: FollowedRow): Promise<string | null> {
  if (row.earlier_body === null) return row.exchange_type;
  const body = await receivedBody(tx, 'pre_orders', row.account, row.external_order_id);
  return body === undefined ? null : readExchangeType(body);
}

function staleFinding({ oldValue, newValue }: OrderEvent): Finding {
  return { class: 'STALE_SNAPSHOT', expected: oldValue, actual: newValue };
}

function isJudgedByAnswer({ class: name, status }: KnownFinding): boolean {
  return status !== 'resolved' && JUDGED_BY_ANSWER.includes(name);
}

/** The order's age when no new record came. */
function ageOf(row: FollowedRow, tracking: Tracking): OrderAge {
  const record = row.earlier_body === null ? undefined : readRecordView(row.earlier_body);
  return { ...tracking, assetPosition: row.asset_position, record: record ?? null };
}

/** Writes what has a column of its own only where it changed: most changes are of a status. */
async function keepRecord(
  tx: Store['db'],
  received: Parameters<typeof keepOrderRecord>[1],
  view: RecordView | undefined,
  earlier: RecordView | null,
): Promise<void> {
  const isKept = view !== undefined && earlier !== null && FIELDS.every((field) => view[field] === earlier[field]);
  if (isKept) return await keepSameRecord(tx, received);
  await keepOrderRecord(tx, received, view === undefined ? undefined : columnsOf(view));
}

function columnsOf(view: RecordView): RecordColumns {
  const columns = Object.entries(COLUMNS).map(([column, field]) => [column, view[field]]);
  return Object.fromEntries(columns) as RecordColumns;
}

function withoutServerDate(body: string): string {
  return body.replace(/"serverDate"\s*:\s*"[^"]*"/, '');
}
