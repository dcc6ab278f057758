import { judgedIn } from '../../domain/findings/age.ts';
import type { FindingClassName } from '../../domain/findings/classes.ts';
import { found as differing, type Finding, type KnownFinding } from '../../domain/findings/finding.ts';
import { replaced } from '../../domain/findings/rules.ts';
import { NO_TURNS } from '../../domain/orders/record-change.ts';
import type { FoundRecord, LookupAnswer, LookupDecision } from '../../domain/orders/lookup.ts';
import type { Tracking } from '../../domain/orders/tracking.ts';
import type { RecordView } from '../../domain/record.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { findingsOf } from '../../store/findings.ts';
import type { FollowedRow } from '../../store/orders-with-records.ts';
import { keepTurns, keepUncompared } from '../../store/order-records.ts';
import type { Transaction } from '../../store/port.ts';
import {
  JUDGED_BY_ANSWER,
  JUDGED_BY_TIME,
  judgeRecord,
  keepRecord,
  logUnjudged,
  overdueFindings,
  type JudgeDeps,
} from './judge-record.ts';
import type { ComparedWithRow } from './evidence.ts';
import { recordFindings, type NewFindings } from './record-findings.ts';

/** A look-up and what was decided about it. */
export interface LookedUp {
  /** The row before the look-up. */
  readonly row: FollowedRow;
  readonly before: Tracking;
  readonly answer: LookupAnswer;
  /** Undefined where the look-up brought no record. */
  readonly compared: ComparedWithRow | undefined;
  readonly decision: LookupDecision;
  readonly now: Date;
}

/**
 * Stores the record that a look-up brought and judges what the look-up shows, in the transaction that records it. A
 * record that cannot be judged is stored all the same. Throws only what the database throws.
 */
export async function reconcileAnswer(tx: Transaction, deps: JudgeDeps, looked: LookedUp): Promise<NewFindings> {
  try {
    return await judgeAnswer(tx, deps, looked);
  } catch (error) {
    const { before, answer, decision, now } = looked;
    logUnjudged(deps, before.externalOrderId, error);
    if (answer.kind === 'found' && decision.keepsRecord) {
      const { account, externalOrderId } = before;
      await keepUncompared(tx, { account, externalOrderId, body: answer.body, receivedAt: now.toISOString() });
    }
    return [];
  }
}

async function judgeAnswer(tx: Transaction, deps: JudgeDeps, looked: LookedUp): Promise<NewFindings> {
  const { answer } = looked;
  switch (answer.kind) {
    case 'found':
      return looked.decision.keepsRecord
        ? await judgeNewest(tx, deps, looked, answer)
        : await judgeNotTaken(tx, deps, looked, answer.record);
    case 'absent':
      return await judgeNotFound(tx, deps, looked, answer.evidence);
    case 'unanswered': {
      if (answer.answeredFor === undefined) return [];
      const { before, now } = looked;
      const found = [differing('IDENTITY_MISMATCH', before.externalOrderId, answer.answeredFor)];
      return await recordFindings(tx, deps, before.externalOrderId, { found, classes: ['IDENTITY_MISMATCH'], now });
    }
  }
}

/**
 * Judges the newest record. One that differs from the record before only in the time of the server is not stored, nor
 * compared again unless that time matters: most look-ups bring such a record.
 */
async function judgeNewest(
  tx: Transaction,
  deps: JudgeDeps,
  looked: LookedUp,
  { record: view, body, comparison }: FoundRecord,
): Promise<NewFindings> {
  const { row, before, compared, decision, now } = looked;
  const { account, external_order_id: externalOrderId, earlier_body: earlierBody } = row;
  const received = { account, externalOrderId, body, receivedAt: now.toISOString() };
  const isSame = earlierBody !== null && decision.events.length === 0 && comparison === undefined;
  if (isSame) {
    const known = row.has_findings === 0 ? [] : await findingsOf(tx, account, externalOrderId);
    if (!isToComplete(looked) && !known.some(isJudgedByTime)) return [];
  }
  const earlier = earlierView(row);
  if (!isSame) {
    const { turns = NO_TURNS } = decision;
    await keepRecord(tx, { ...received, comparedAt: received.receivedAt, ...turns }, view, earlier);
  }
  const judged = {
    row,
    view,
    evidence: compared?.evidence,
    earlier,
    before,
    after: decision.tracking,
    receivedAt: now,
    now,
  };
  const { found, classes } = await judgeRecord(tx, deps, judged);
  if (found.length === 0 && row.has_findings === 0) return [];
  const isMoved = before.changedAt !== decision.tracking.changedAt;
  const all: typeof classes = isMoved ? [...classes, 'STUCK'] : classes;
  return await recordFindings(tx, deps, externalOrderId, { found, classes: all, now });
}

/** A record that was not taken changes nothing, but it may be of another order. */
async function judgeNotTaken(
  tx: Transaction,
  deps: JudgeDeps,
  { row, decision, now }: LookedUp,
  view: RecordView,
): Promise<NewFindings> {
  const { account, external_order_id: externalOrderId } = row;
  const { turns, disagreement } = decision;
  if (turns !== undefined) await keepTurns(tx, { account, externalOrderId, ...turns });
  const stale: Finding[] = disagreement === undefined ? [] : [{ class: 'REPLICAS_DISAGREE', ...disagreement }];
  if (stale.length === 0 && row.has_findings === 0) return [];
  const earlier = earlierView(row);
  const found = [...stale, ...overdueFindings(deps, row, decision.tracking, earlier, now)];
  const classes = judgedIn(decision.tracking.state, JUDGED_BY_ANSWER);
  const judged = { found, foundAgain: replaced({ record: view, earlier }), classes, now };
  return await recordFindings(tx, deps, externalOrderId, judged);
}

/** Likely absence of an order that was found before is no answer about it, but a person should know of it. */
async function judgeNotFound(
  tx: Transaction,
  deps: JudgeDeps,
  { row, before, decision, now }: LookedUp,
  evidence: 'documented' | 'likely',
): Promise<NewFindings> {
  const { orderId, externalOrderId, state } = before;
  // Nobody misses an order that a person has given up.
  const isMissed = orderId !== null && state !== 'abandoned';
  const vanished = isMissed ? [differing('ORDER_VANISHED', `order ${orderId}`, 'not found')] : [];
  const overdue = overdueFindings(deps, row, decision.tracking, earlierView(row), now);
  const found = [...vanished, ...overdue];
  if (found.length === 0 && row.has_findings === 0) return [];
  const isNoAnswer = isMissed && evidence === 'likely';
  const classes: readonly FindingClassName[] = isNoAnswer ? ['ORDER_VANISHED', 'UNCHECKED'] : JUDGED_BY_ANSWER;
  const judged = { found, classes: judgedIn(decision.tracking.state, classes), now };
  return await recordFindings(tx, deps, externalOrderId, judged);
}

function isJudgedByTime({ class: name, status }: KnownFinding): boolean {
  return status !== 'resolved' && JUDGED_BY_TIME.includes(name);
}

/** The order is open and bears the date of its completion, which can pass without a new record. */
function isToComplete({ answer, decision }: LookedUp): boolean {
  return answer.kind === 'found' && answer.record.completionDate !== null && decision.tracking.state === 'open';
}

function earlierView(row: FollowedRow): RecordView | null {
  return row.earlier_body === null ? null : (readRecordView(row.earlier_body) ?? null);
}
