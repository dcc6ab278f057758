import { FINDING_CLASSES, type FindingClassName } from '../../domain/findings/classes.ts';
import type { Evidence } from '../../domain/contradictions.ts';
import type { RecordView } from '../../domain/record.ts';
import { findOverdue, judgedIn, OVERDUE_CLASSES } from '../../domain/findings/age.ts';
import type { Finding, RecordContext } from '../../domain/findings/finding.ts';
import { compareRecord } from '../../domain/findings/compare.ts';
import type { Tracking } from '../../domain/orders/tracking.ts';
import { MERCHANT_ID, setAccountFact } from '../../store/accounts.ts';
import { isOfDatabase } from '../../store/errors.ts';
import {
  keepOrderRecord,
  keepSameColumns,
  orderWithField,
  RECORD_FIELD_OF,
  type ComparedBody,
} from '../../store/order-records.ts';
import type { FollowedRow } from '../../store/orders-with-records.ts';
import type { Transaction } from '../../store/port.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** The dependencies of judging an order. */
export type JudgeDeps = Pick<FlowDeps, 'account' | 'settings' | 'incidents'>;

const STATE_CLASSES = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].kind === 'state',
);
/** A record cannot judge these: pre-orders are asked for separately, and only the sweep knows what is STUCK. */
const NOT_OF_RECORD: readonly FindingClassName[] = [
  'PREORDER_MISSING',
  'PREORDER_ECHO_MISMATCH',
  'PREORDER_TOKEN_MISMATCH',
  'STUCK',
];
const JUDGED_BY_RECORD = STATE_CLASSES.filter((name) => !NOT_OF_RECORD.includes(name));
/** The classes that every answer judges. */
export const JUDGED_BY_ANSWER: readonly FindingClassName[] = [
  'IDENTITY_MISMATCH',
  'ORDER_VANISHED',
  ...OVERDUE_CLASSES.filter((name) => name !== 'STUCK'),
];
/** The classes whose findings time may change while the record says the same. */
export const JUDGED_BY_TIME: readonly FindingClassName[] = [
  ...JUDGED_BY_ANSWER,
  'COMPLETION_INCONSISTENT',
  'CLOCK_SKEW',
  'ID_COLLISION',
];
/** The fields of a record that have their own column. */
const FIELDS = Object.values(RECORD_FIELD_OF);

/** A record, and its order before and after it came. */
interface Judged {
  readonly row: FollowedRow;
  /** Undefined where the record cannot be read as one. */
  readonly view: RecordView | undefined;
  readonly evidence: Evidence | undefined;
  readonly earlier: RecordView | null;
  readonly before: Tracking;
  readonly after: Tracking;
  readonly receivedAt: Date;
  readonly now: Date;
}

/** Logs that an order cannot be judged. Throws the error again when it is the database's. */
export function logUnjudged({ incidents }: JudgeDeps, externalOrderId: string, error: unknown): void {
  if (isOfDatabase(error)) throw error;
  incidents.failed({
    level: 'error',
    message: 'a look-up cannot be compared with its order',
    cause: String(error),
    subject: externalOrderId,
    facts: { externalOrderId },
  });
}

/** Finds what a record and the time show, and says which classes could be judged. */
export async function judgeRecord(
  tx: Transaction,
  deps: JudgeDeps,
  judged: Judged,
): Promise<{ found: readonly Finding[]; classes: readonly FindingClassName[] }> {
  const { row, view: record, evidence, earlier, before, after, receivedAt, now } = judged;
  const { settings } = deps;
  const overdue = overdueFindings(deps, row, after, record ?? null, now);
  if (record === undefined || evidence === undefined) {
    return { found: overdue, classes: judgedIn(after.state, JUDGED_BY_ANSWER) };
  }
  await learnMerchant(tx, evidence, record, after, now);
  const states = {
    stateBefore: before.state,
    state: after.state,
    isExpected: after.attempts > 0 || after.adoptedAt !== null,
  };
  const context = { ...evidence, ...states, record, earlier, receivedAt, ...(await readOthers(tx, judged, record)) };
  const { found, unjudged } = compareRecord(context, settings);
  const classes = JUDGED_BY_RECORD.filter((name) => !unjudged.includes(name));
  return { found: [...found, ...overdue], classes: judgedIn(after.state, classes) };
}

/** Finds what the time shows. Only the sweep knows how long is too long for STUCK. */
export function overdueFindings(
  { settings }: JudgeDeps,
  { asset_position: assetPosition }: FollowedRow,
  tracking: Tracking,
  record: RecordView | null,
  now: Date,
): readonly Finding[] {
  const never = { stuckAfter: Number.POSITIVE_INFINITY };
  return findOverdue({ ...tracking, assetPosition, record }, now, { ...settings, ...never });
}

/** The first order of the account tells whose it is; one that may be of somebody else tells nothing. */
async function learnMerchant(
  tx: Transaction,
  { merchantId: known }: Evidence,
  { merchantId }: RecordView,
  { account, state }: Tracking,
  now: Date,
): Promise<void> {
  if (known !== null || merchantId === null || (state !== 'open' && state !== 'final')) return;
  await setAccountFact(tx, { account, name: MERCHANT_ID, given: merchantId, now });
}

/**
 * Finds other orders that have what must be of one order. What has not changed, in an order without findings, is not looked
 * for: most new records differ only in a status.
 */
async function readOthers(
  tx: Transaction,
  { row, earlier }: Judged,
  record: RecordView,
): Promise<Pick<RecordContext, 'hashUsedBy' | 'orderUsedBy'>> {
  const { account, external_order_id: externalOrderId } = row;
  const other = async (field: 'transactionHash' | 'orderId') => {
    const value = record[field];
    const isJudged = row.has_findings === 0 && earlier?.[field] === value;
    return value === null || isJudged ? null : await orderWithField[field](tx, { account, externalOrderId, value });
  };
  return { hashUsedBy: await other('transactionHash'), orderUsedBy: await other('orderId') };
}

/** Stores a record. Columns that repeat its fields are written only where they changed: most changes are of a status. */
export async function keepRecord(
  tx: Transaction,
  received: ComparedBody,
  view: RecordView | undefined,
  earlier: RecordView | null,
): Promise<void> {
  const isKept = view !== undefined && earlier !== null && FIELDS.every((field) => view[field] === earlier[field]);
  if (isKept) await keepSameColumns(tx, received);
  else await keepOrderRecord(tx, received, view);
}
