import { judgedIn, findOverdue, OVERDUE_CLASSES } from './rules/age.ts';
import { type FindingClassName, FINDING_CLASSES } from './rules/classes.ts';
import { replaced } from './rules/rules.ts';
import { NO_TURNS } from '../orders/rules/record-change.ts';
import type { FoundRecord, LookupAnswer, LookupDecision } from '../orders/rules/lookup.ts';
import { isNeverSent, type Tracking } from '../orders/rules/tracking.ts';
import type { RecordView } from '../orders/rules/record.ts';
import { readRecordView } from '../exchange/record-view.ts';
import { findingsOf } from '../store/tables/findings.ts';
import type { FollowedRow } from '../store/orders/orders-with-records.ts';
import {
  keepTurns,
  keepUncompared,
  keepOrderRecord,
  keepSameColumns,
  orderWithField,
  RECORD_FIELD_OF,
} from '../store/tables/order-records.ts';
import type { Transaction } from '../store/port.ts';
import { recordFindings, type JudgedFindings, type NewFindings } from './record-findings.ts';
import type { Evidence } from '../orders/rules/contradictions.ts';
import { compareRecord } from './rules/compare.ts';
import { MERCHANT_ID, setAccountFact } from '../store/tables/accounts.ts';
import { isOfDatabase } from '../store/errors.ts';
import type { FlowDeps } from '../orders/pass/deps.ts';

export interface LookedUp {
  readonly row: FollowedRow;
  readonly before: Tracking;
  readonly answer: LookupAnswer;
  readonly evidence: Evidence | undefined;
  readonly decision: LookupDecision;
  readonly now: Date;
}

type JudgedAnswer = Omit<JudgedFindings, 'now'>;

/** Stores and judges an answer. Stores a record that cannot be judged, and logs why. Throws errors of the database. */
export async function reconcileAnswer(tx: Transaction, deps: JudgeDeps, looked: LookedUp): Promise<NewFindings> {
  const { row, before, answer, decision, now } = looked;
  try {
    const judged = await judgeAnswer(tx, deps, looked);
    if (judged === undefined || (judged.found.length === 0 && row.has_findings === 0)) return [];
    const classes = judgedIn(decision.tracking.state, judged.classes);
    return await recordFindings(tx, before, { ...judged, classes, now });
  } catch (error) {
    const { account, externalOrderId } = before;
    logUnjudged(deps, externalOrderId, error);
    if (answer.kind === 'found' && decision.keepsRecord) {
      await keepUncompared(tx, { account, externalOrderId, body: answer.body, receivedAt: now.toISOString() });
    }
    return [];
  }
}

async function judgeAnswer(tx: Transaction, deps: JudgeDeps, looked: LookedUp): Promise<JudgedAnswer | undefined> {
  const { before, answer, decision } = looked;
  if (answer.kind === 'absent') return judgeNotFound(deps, looked, answer.evidence);
  if (answer.kind === 'found' && decision.keepsRecord) return await judgeNewest(tx, deps, looked, answer);
  if (answer.kind === 'found') return await judgeNotTaken(tx, deps, looked, answer.record);
  if (answer.answeredFor === undefined) return undefined;
  const other = { class: 'IDENTITY_MISMATCH', expected: before.externalOrderId, actual: answer.answeredFor } as const;
  return { found: [other], classes: [other.class] };
}

/** Skips a record if only its `serverDate` is new, unless time alone may change a finding. */
async function judgeNewest(tx: Transaction, deps: JudgeDeps, looked: LookedUp, answer: FoundRecord) {
  const { row, before, decision, now } = looked;
  const { record: view, body, comparison } = answer;
  const { account, external_order_id: externalOrderId, earlier_body: earlierBody } = row;
  const { tracking: after, turns = NO_TURNS } = decision;
  const earlier = earlierView(row);
  if (earlierBody !== null && decision.events.length === 0 && comparison === undefined) {
    const known = row.has_findings === 0 ? [] : await findingsOf(tx, account, externalOrderId);
    // An open order may have a completion date, which can pass without a new record.
    const isToComplete = view.completionDate !== null && after.state === 'open';
    const isJudgedByTime = known.some((one) => one.status !== 'resolved' && JUDGED_BY_TIME.includes(one.class));
    if (!isToComplete && !isJudgedByTime) return undefined;
  } else {
    const at = now.toISOString();
    const received = { account, externalOrderId, body, receivedAt: at, comparedAt: at, ...turns };
    const isKept = earlier !== null && FIELDS.every((field) => view[field] === earlier[field]);
    await (isKept ? keepSameColumns(tx, received) : keepOrderRecord(tx, received, view));
  }
  const { found, classes } = await judgeRecord(tx, deps, { ...looked, view, earlier, after, receivedAt: now });
  return { found, classes: before.changedAt === after.changedAt ? classes : [...classes, 'STUCK' as const] };
}

/** Judges a record that is not stored, because it is older than the stored record, or alternates with that record. */
async function judgeNotTaken(tx: Transaction, deps: JudgeDeps, looked: LookedUp, record: RecordView) {
  const { account, external_order_id: externalOrderId } = looked.row;
  const { turns, disagreement } = looked.decision;
  if (turns !== undefined) await keepTurns(tx, { account, externalOrderId, ...turns });
  const stale = disagreement === undefined ? [] : [{ class: 'REPLICAS_DISAGREE' as const, ...disagreement }];
  const earlier = earlierView(looked.row);
  const foundAgain = replaced({ record, earlier }).map((one) => ({ class: 'ORDER_REPLACED' as const, ...one }));
  return { found: [...stale, ...overdueAfter(deps, looked)], foundAgain, classes: JUDGED_BY_ANSWER };
}

/** Judges only `ORDER_VANISHED` and `UNCHECKED` if an order that was found before is likely absent. */
function judgeNotFound(deps: JudgeDeps, looked: LookedUp, evidence: 'documented' | 'likely'): JudgedAnswer {
  const { orderId, state } = looked.before;
  // An abandoned order may be absent.
  const isMissed = orderId !== null && state !== 'abandoned';
  const vanished = { class: 'ORDER_VANISHED', expected: `order ${orderId}`, actual: 'not found' } as const;
  return {
    found: [...(isMissed ? [vanished] : []), ...overdueAfter(deps, looked)],
    classes: isMissed && evidence === 'likely' ? ['ORDER_VANISHED', 'UNCHECKED'] : JUDGED_BY_ANSWER,
  };
}

function overdueAfter(deps: JudgeDeps, { row, decision, now }: LookedUp) {
  return overdueFindings(deps, row, decision.tracking, earlierView(row), now);
}

function earlierView(row: FollowedRow): RecordView | null {
  return row.earlier_body === null ? null : (readRecordView(row.earlier_body) ?? null);
}

export type JudgeDeps = Pick<FlowDeps, 'account' | 'settings' | 'observers'>;

/** A record shows nothing about pre-orders, which have look-ups of their own. Only the sweep finds `STUCK`. */
const JUDGED_BY_RECORD = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].kind === 'state' && !name.startsWith('PREORDER_') && name !== 'STUCK',
);
const JUDGED_BY_ANSWER: readonly FindingClassName[] = [
  'IDENTITY_MISMATCH',
  'ORDER_VANISHED',
  ...OVERDUE_CLASSES.filter((name) => name !== 'STUCK'),
];
/** The classes whose findings may change with time while the record stays the same. */
const JUDGED_BY_TIME: readonly FindingClassName[] = [
  ...JUDGED_BY_ANSWER,
  'COMPLETION_INCONSISTENT',
  'CLOCK_SKEW',
  'ID_COLLISION',
];
const FIELDS = Object.values(RECORD_FIELD_OF);

interface Judged extends Pick<LookedUp, 'row' | 'before' | 'evidence' | 'now'> {
  readonly view: RecordView | undefined;
  readonly earlier: RecordView | null;
  readonly after: Tracking;
  readonly receivedAt: Date;
}

/** Logs that an order cannot be judged. Throws the error again if it is an error of the database. */
export function logUnjudged({ observers }: JudgeDeps, externalOrderId: string, error: unknown): void {
  if (isOfDatabase(error)) throw error;
  const message = 'the answer to a look-up cannot be compared with its order';
  const about = { subject: externalOrderId, facts: { externalOrderId } };
  observers.tell({ kind: 'failed', failure: { level: 'error', message, cause: String(error), ...about } });
}

export async function judgeRecord(tx: Transaction, deps: JudgeDeps, judged: Judged) {
  const { row, view: record, evidence, earlier, before, after, receivedAt, now } = judged;
  const { settings } = deps;
  const overdue = overdueFindings(deps, row, after, record ?? null, now);
  if (record === undefined || evidence === undefined) {
    return { found: overdue, classes: JUDGED_BY_ANSWER };
  }
  // A disputed order may be of another merchant, so only an order that is ours sets the merchant of the account.
  const isOurs = after.state === 'open' || after.state === 'final';
  if (evidence.merchantId === null && record.merchantId !== null && isOurs) {
    await setAccountFact(tx, { account: after.account, name: MERCHANT_ID, value: record.merchantId, now });
  }
  const states = { stateBefore: before.state, state: after.state, isExpected: !isNeverSent(after) };
  const context = { ...evidence, ...states, record, earlier, receivedAt, ...(await readOthers(tx, judged, record)) };
  const { found, unjudged } = compareRecord(context, settings);
  return { found: [...found, ...overdue], classes: JUDGED_BY_RECORD.filter((name) => !unjudged.includes(name)) };
}

function overdueFindings(deps: JudgeDeps, row: FollowedRow, tracking: Tracking, record: RecordView | null, now: Date) {
  const settings = { ...deps.settings, stuckAfter: Number.POSITIVE_INFINITY };
  return findOverdue({ ...tracking, assetPosition: row.asset_position, record }, now, settings);
}

/** Finds other orders with the same hash or order id. Skips an unchanged value of an order without findings. */
async function readOthers(tx: Transaction, { row, earlier }: Judged, record: RecordView) {
  const { account, external_order_id: externalOrderId } = row;
  const other = async (field: 'transactionHash' | 'orderId') => {
    const value = record[field];
    const isJudged = row.has_findings === 0 && earlier?.[field] === value;
    return value === null || isJudged ? null : await orderWithField[field](tx, { account, externalOrderId, value });
  };
  return { hashUsedBy: await other('transactionHash'), orderUsedBy: await other('orderId') };
}
