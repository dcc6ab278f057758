import { createHash } from 'node:crypto';
import { decideFindings, withoutKnownChanges, type KnownFinding } from '../../domain/findings/changes.ts';
import type { FindingClassName } from '../../domain/findings/classes.ts';
import type { LookupAnswer, LookupDecision } from '../../domain/orders/follow.ts';
import { findOverdue, findUnknownOutcome, type OrderAge } from '../../domain/findings/age.ts';
import type { Finding, RecordView } from '../../domain/findings/record.ts';
import { replaced } from '../../domain/findings/rules.ts';
import type { OrderEvent, Tracking } from '../../domain/orders/tracking.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { findingsOf, saveFindings } from '../../store/findings.ts';
import { readFollowed, type FollowedRow } from '../../store/followed.ts';
import { trackingOf } from '../../store/orders.ts';
import { isOfDatabase } from '../../store/errors.ts';
import { keepSameRecord, keepUncompared, readRecord } from '../../store/records.ts';
import type { Transaction } from '../../store/port.ts';
import { judgeRecord, JUDGED_BY_ANSWER, JUDGED_BY_TIME, keepRecord, NEVER_STUCK, type ReconcileDeps } from './judge.ts';

/** Findings that were not open before. */
export type NewFindings = readonly Finding[];

const NONE: NewFindings = [];
/** A look-up and what was decided about it. */
export interface LookedUp {
  /** The row as it stood before. */
  readonly row: FollowedRow;
  readonly before: Tracking;
  readonly answer: LookupAnswer;
  readonly decision: LookupDecision;
  readonly now: Date;
}

/**
 * Keeps the record that a look-up brought and judges what the look-up shows, in the transaction that records it. What
 * cannot be judged is recorded all the same.
 */
export async function reconcileAnswer(tx: Transaction, deps: ReconcileDeps, looked: LookedUp): Promise<NewFindings> {
  try {
    return await judgeAnswer(tx, deps, looked);
  } catch (error) {
    const { before, answer, decision, now } = looked;
    reportUnjudged(deps, before.externalOrderId, error);
    if (answer.kind === 'found' && decision.keepsRecord) {
      const { account, externalOrderId } = before;
      await keepUncompared(tx, { account, externalOrderId, body: answer.body, receivedAt: now.toISOString() });
    }
    return NONE;
  }
}

function reportUnjudged({ log }: ReconcileDeps, externalOrderId: string, error: unknown): void {
  if (isOfDatabase(error)) throw error;
  log.error({ externalOrderId, problem: String(error) }, 'what was looked up cannot be compared');
}

async function judgeAnswer(tx: Transaction, deps: ReconcileDeps, looked: LookedUp): Promise<NewFindings> {
  const { row, before, answer, decision, now } = looked;
  const { externalOrderId } = before;
  switch (answer.kind) {
    case 'found':
      return decision.keepsRecord
        ? await reconcileRecord(tx, deps, looked, answer)
        : await noteStale(tx, deps, looked, answer.record);
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
  tx: Transaction,
  { account }: Pick<ReconcileDeps, 'account'>,
  externalOrderId: string,
  judged: { readonly found: readonly Finding[]; readonly classes: readonly FindingClassName[]; readonly now: Date },
): Promise<NewFindings> {
  const known = await findingsOf(tx, account, externalOrderId);
  const changes = decideFindings(known, judged.found.map(cut), judged.classes);
  await saveFindings(tx, { account, externalOrderId }, changes, judged.now);
  return [...changes.opened, ...changes.reopened];
}

/** The longest value that is written down whole. */
const LONGEST_VALUE = 300;

/** The exchange decides how long its values are. Two that begin alike stay two. */
function cut(finding: Finding): Finding {
  return { ...finding, expected: cutText(finding.expected), actual: cutText(finding.actual) };
}

function cutText(given: string | null): string | null {
  if (given === null || given.length <= LONGEST_VALUE) return given?.toWellFormed() ?? null;
  const hash = createHash('sha256').update(given).digest('hex').slice(0, 16);
  return `${given.slice(0, LONGEST_VALUE).toWellFormed()}… (SHA-256 ${hash})`;
}

/** Holds the record that is kept against its order, as if it had just come and were the first. */
export async function compareKept(
  tx: Transaction,
  deps: ReconcileDeps,
  externalOrderId: string,
  now: Date,
): Promise<NewFindings> {
  const row = await readFollowed(tx, deps.account, externalOrderId);
  const kept = await readRecord(tx, deps.account, externalOrderId);
  if (row === undefined || kept === undefined) return NONE;
  const { account } = row;
  const { body, receivedAt } = kept;
  try {
    const view = readRecordView(body);
    const comparedAt = now.toISOString();
    await keepRecord(tx, { account, externalOrderId, body, receivedAt, comparedAt }, view, null);
    const order = trackingOf(row);
    const judged = { row, view, earlier: null, before: order, after: order, receivedAt: new Date(receivedAt), now };
    const { found, classes } = await judgeRecord(tx, deps, judged);
    const known = await findingsOf(tx, account, externalOrderId);
    const news = withoutKnownChanges(known, found.map(cut));
    return await noteFindings(tx, deps, externalOrderId, { found: news, classes, now });
  } catch (error) {
    reportUnjudged(deps, externalOrderId, error);
    await keepUncompared(tx, { account, externalOrderId, body, receivedAt });
    return NONE;
  }
}

/** Judges whether the outcome of the order's create is known, wherever the order was moved. */
export async function noteOutcome(
  tx: Transaction,
  deps: Pick<ReconcileDeps, 'account' | 'settings'>,
  tracking: Tracking,
  now: Date,
): Promise<NewFindings> {
  const judged = { found: findUnknownOutcome(tracking), classes: ['CREATE_UNKNOWN'], now } as const;
  return await noteFindings(tx, deps, tracking.externalOrderId, judged);
}

/**
 * A record that says the same as the one before, but for the time of the server, is not compared again unless that time
 * matters: most look-ups bring one.
 */
async function reconcileRecord(
  tx: Transaction,
  deps: ReconcileDeps,
  looked: LookedUp,
  { record: view, body }: Extract<LookupAnswer, { kind: 'found' }>,
): Promise<NewFindings> {
  const { row, decision, now } = looked;
  const { account, external_order_id: externalOrderId, earlier_body: earlierBody } = row;
  const received = { account, externalOrderId, body, receivedAt: now.toISOString() };
  const isSame =
    earlierBody !== null && decision.events.length === 0 && withoutServerDate(earlierBody) === withoutServerDate(body);
  if (isSame) {
    await keepSameRecord(tx, received);
    const known = row.has_findings === 0 ? [] : await findingsOf(tx, account, externalOrderId);
    if (!isToComplete(looked) && !known.some(isJudgedByTime)) return NONE;
  }
  const earlier = earlierBody === null ? null : (readRecordView(earlierBody) ?? null);
  if (!isSame) await keepRecord(tx, { ...received, comparedAt: received.receivedAt }, view, earlier);
  const judged = { row, view, earlier, before: looked.before, after: decision.tracking, receivedAt: now, now };
  const { found, classes } = await judgeRecord(tx, deps, judged);
  if (found.length === 0 && row.has_findings === 0) return NONE;
  const hasMoved = looked.before.changedAt !== decision.tracking.changedAt;
  const all: typeof classes = hasMoved ? [...classes, 'STUCK'] : classes;
  return await noteFindings(tx, deps, externalOrderId, { found, classes: all, now });
}

/** An older record changes nothing, but it may be of another order. It is noted once for each time it bears. */
async function noteStale(
  tx: Transaction,
  deps: ReconcileDeps,
  { row, decision, now }: LookedUp,
  view: RecordView,
): Promise<NewFindings> {
  const stale = decision.events.filter(({ field }) => field === 'record.stale').map(staleFinding);
  if (stale.length === 0 && row.has_findings === 0) return NONE;
  const earlier = row.earlier_body === null ? undefined : readRecordView(row.earlier_body);
  const known = await findingsOf(tx, row.account, row.external_order_id);
  const others = earlier === undefined ? [] : withoutKnownChanges(known, replaced({ record: view, earlier }).map(cut));
  const overdue = findOverdue(ageOf(row, decision.tracking), now, { ...deps.settings, ...NEVER_STUCK });
  const found = [...stale, ...others, ...overdue];
  return await noteFindings(tx, deps, row.external_order_id, { found, classes: JUDGED_BY_ANSWER, now });
}

function staleFinding({ oldValue, newValue }: OrderEvent): Finding {
  return { class: 'STALE_SNAPSHOT', expected: oldValue, actual: newValue };
}

function isJudgedByTime({ class: name, status }: KnownFinding): boolean {
  return status !== 'resolved' && JUDGED_BY_TIME.includes(name);
}

/** Whether the order is open and bears the date of its completion, which passes without a new record. */
function isToComplete({ answer, decision }: LookedUp): boolean {
  return answer.kind === 'found' && answer.record.completionDate !== null && decision.tracking.state === 'open';
}

/** The order's age when no new record came. */
function ageOf(row: FollowedRow, tracking: Tracking): OrderAge {
  const record = row.earlier_body === null ? undefined : readRecordView(row.earlier_body);
  return { ...tracking, assetPosition: row.asset_position, record: record ?? null };
}

function withoutServerDate(body: string): string {
  return body.replace(/"serverDate"\s*:\s*"[^"]*"/, '');
}
