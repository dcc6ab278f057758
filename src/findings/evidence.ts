import { hash } from 'node:crypto';
import type { AmountSettings } from '../base/decimal.ts';
import { contradictionsOf, isCreatedBefore } from '../orders/rules/contradictions.ts';
import { contradictionsBefore } from './rules/rules.ts';
import type { RecordView } from '../orders/rules/record.ts';
import { readExchangeType, readRecordView, readRecordFields } from '../exchange/record-view.ts';
import { firstSentAt } from '../store/tables/events.ts';
import { findingsOf } from '../store/tables/findings.ts';
import { sentOrderOf } from '../store/orders/order-columns.ts';
import { readPreOrder, readTurns } from '../store/tables/order-records.ts';
import type { FollowedRow } from '../store/orders/orders-with-records.ts';
import type { Database, Transaction } from '../store/port.ts';
import type { FlowDeps } from '../orders/pass/deps.ts';
import { shownText } from '../orders/rules/record-change.ts';
import type { LookupAnswer } from '../orders/rules/lookup.ts';
import { isAcceptedAndAbsent } from '../orders/rules/absent.ts';
import type { Tracking } from '../orders/rules/tracking.ts';
import { accountFact, readAccountFact } from '../store/tables/accounts.ts';

/** The states of an order that may have been disputed: a person may have abandoned a disputed order. */
const MAY_BE_DISPUTED: readonly string[] = ['disputed', 'abandoned'];

/** Reads the history and the stored pre-order only if the row alone does not show that the record agrees. */
export async function readEvidence(db: Database, row: FollowedRow, record: RecordView, receivedAt: Date) {
  return {
    order: sentOrderOf(row),
    preOrderExchangeType: await preOrderExchangeType(db, row, record),
    firstSentAt: await firstRequest(db, row, record, receivedAt),
    merchantId: row.merchant_id,
  };
}

/** Compares a record with its order's row. Adds contradictions of earlier findings that this record cannot judge. */
export async function compareWithRow(
  db: Database,
  settings: AmountSettings,
  row: FollowedRow,
  record: RecordView,
  receivedAt: Date,
) {
  const read = await readEvidence(db, row, record, receivedAt);
  const isOlder = read.firstSentAt !== null && isCreatedBefore(read.firstSentAt, record, receivedAt) === true;
  const evidence = isOlder && (await wasOurs(db, row, record)) ? { ...read, firstSentAt: null } : read;
  const compared = { ...evidence, record, receivedAt };
  const known = MAY_BE_DISPUTED.includes(row.state) ? await findingsOf(db, row.account, row.external_order_id) : [];
  const before = contradictionsBefore(compared, known, settings);
  return { evidence, contradictions: [...contradictionsOf(compared, settings), ...before] };
}

/** True if an earlier record of the same order was no `ID_COLLISION`. Then only our clock can have changed since. */
async function wasOurs(db: Database, row: FollowedRow, record: RecordView): Promise<boolean> {
  const earlier = row.earlier_body === null ? undefined : readRecordView(row.earlier_body);
  const isSame = earlier?.orderId === record.orderId && earlier.creationDate === record.creationDate;
  if (!isSame || row.state === 'disputed') return false;
  const known = await findingsOf(db, row.account, row.external_order_id);
  return !known.some(({ class: name, status }) => name === 'ID_COLLISION' && status !== 'resolved');
}

/** Returns when the newest create was sent, or the first create if the record is older; null if unknown or adopted. */
async function firstRequest(db: Database, row: FollowedRow, record: RecordView, receivedAt: Date) {
  const { account, external_order_id: externalOrderId, sent_at: sentAt, adopted_at: adoptedAt } = row;
  if (sentAt === null || adoptedAt !== null) return null;
  const newest = new Date(sentAt);
  if (isCreatedBefore(newest, record, receivedAt) !== true) return newest;
  const first = await firstSentAt(db, account, externalOrderId);
  // If the first request seems later than the newest, the clock was ahead at the first request.
  return first === null || first < newest ? first : newest;
}

/** Returns the exchange type of the pre-order; null if compared before. A row has the type of its first record. */
async function preOrderExchangeType(db: Database, row: FollowedRow, record: RecordView): Promise<string | null> {
  if (row.earlier_body === null) return row.exchange_type;
  const wasCompared = row.state !== 'disputed' && row.has_findings === 0 && row.exchange_type === record.exchangeType;
  if (wasCompared) return null;
  const body = await readPreOrder(db, row.account, row.external_order_id);
  return body === undefined ? null : readExchangeType(body);
}

export async function compareWithNewest(tx: Transaction, row: FollowedRow, answer: LookupAnswer) {
  const { account, external_order_id: externalOrderId, earlier_body: newestBody } = row;
  if (answer.kind !== 'found' || newestBody === null) return answer;
  if (withoutServerDate(newestBody) === withoutServerDate(answer.body)) return answer;
  const [newest, received] = [readRecordFields(newestBody), readRecordFields(answer.body)];
  const turns = await readTurns(tx, account, externalOrderId);
  const hashes = { newestHash: hash('sha256', shownText(newest)), receivedHash: hash('sha256', shownText(received)) };
  return { ...answer, comparison: { newest, received, ...hashes, turns } };
}

function withoutServerDate(body: string): string {
  return body.replace(/"serverDate"\s*:\s*"[^"]*"/, '');
}

/** The fact names the account's first accepted order that a look-up did not find. The fact is never removed. */
const ACCEPTED_AND_ABSENT = 'lookup.acceptedAndAbsent';

export async function readAcceptedAndAbsent(db: Database, account: string): Promise<string | undefined> {
  return await readAccountFact(db, { account, name: ACCEPTED_AND_ABSENT });
}

/** If an accepted order is absent, stores its id. From then on, the returned settings allow no resend. */
export async function settingsOnAbsence(tx: Transaction, deps: FlowDeps, before: Tracking, now: Date) {
  const { account, settings } = deps;
  if (isAcceptedAndAbsent(before, now)) {
    await accountFact(tx, { account, name: ACCEPTED_AND_ABSENT, value: before.externalOrderId, now });
  }
  const mayResend = settings.onUnknown === 'resend' && before.state === 'unknown';
  if (!mayResend || (await readAcceptedAndAbsent(tx, account)) === undefined) return settings;
  return { ...settings, onUnknown: 'hold' as const };
}
