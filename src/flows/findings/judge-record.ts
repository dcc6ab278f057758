import { FINDING_CLASSES, type FindingClassName } from '../../domain/findings/classes.ts';
import type { RecordView } from '../../domain/record.ts';
import { findOverdue, OVERDUE_CLASSES } from '../../domain/findings/age.ts';
import type { Finding, RecordContext } from '../../domain/findings/finding.ts';
import { compareRecord } from '../../domain/findings/compare.ts';
import type { Tracking } from '../../domain/orders/tracking.ts';
import { readExchangeType } from '../../exchange/record-view.ts';
import { accountFact } from '../../store/accounts.ts';
import { isOfDatabase } from '../../store/errors.ts';
import { firstSentAt } from '../../store/events.ts';
import {
  keepOrderRecord,
  keepSameColumns,
  orderWithHash,
  RECORD_FIELD_OF,
  type ComparedBody,
} from '../../store/order-records.ts';
import type { FollowedRow } from '../../store/orders-with-records.ts';
import { sentOrderOf } from '../../store/order-columns.ts';
import { readPreOrder } from '../../store/pre-orders.ts';
import type { Transaction } from '../../store/port.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** The dependencies of judging an order. */
export type JudgeDeps = Pick<FlowDeps, 'account' | 'settings' | 'log'>;

const STATE_CLASSES = (Object.keys(FINDING_CLASSES) as FindingClassName[]).filter(
  (name) => FINDING_CLASSES[name].kind === 'state',
);
/** A record cannot judge these: pre-orders are asked for separately, and only the sweep knows what is STUCK. */
const NOT_OF_RECORD: readonly FindingClassName[] = ['PREORDER_MISSING', 'PREORDER_ECHO_MISMATCH', 'STUCK'];
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
  readonly earlier: RecordView | null;
  readonly before: Tracking;
  readonly after: Tracking;
  readonly receivedAt: Date;
  readonly now: Date;
}

/** Logs that an order cannot be judged. Throws the error again when it is the database's. */
export function logUnjudged({ log }: JudgeDeps, externalOrderId: string, error: unknown): void {
  if (isOfDatabase(error)) throw error;
  log.error({ externalOrderId, problem: String(error) }, 'a look-up cannot be compared with its order');
}

/** Finds what a record and the time show, and says which classes could be judged. */
export async function judgeRecord(
  tx: Transaction,
  deps: JudgeDeps,
  judged: Judged,
): Promise<{ found: readonly Finding[]; classes: readonly FindingClassName[] }> {
  const { row, view: record, earlier, before, after, receivedAt, now } = judged;
  const { account, settings } = deps;
  const overdue = overdueFindings(deps, row, after, record ?? null, now);
  if (record === undefined) return { found: overdue, classes: JUDGED_BY_ANSWER };
  const evidence = await readEvidence(tx, account, { row, record, earlier, now });
  const states = { stateBefore: before.state, state: after.state };
  const context = { order: sentOrderOf(row), ...states, record, earlier, receivedAt, ...evidence };
  const { found, unjudged } = compareRecord(context, settings);
  return { found: [...found, ...overdue], classes: JUDGED_BY_RECORD.filter((name) => !unjudged.includes(name)) };
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

/**
 * Reads what else the record is compared with. Evidence for a field that has not changed, of an order without findings, is
 * not read: most new records differ only in a status.
 */
async function readEvidence(
  tx: Transaction,
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

/** The row has the type of the pre-order until the first record; then it has that of the order. */
async function preOrderExchangeType(tx: Transaction, row: FollowedRow): Promise<string | null> {
  if (row.earlier_body === null) return row.exchange_type;
  const body = await readPreOrder(tx, row.account, row.external_order_id);
  return body === undefined ? null : readExchangeType(body);
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
