import { LosslessNumber, stringify, isLosslessNumber } from 'lossless-json';
import type { CreateOutcome } from '../orders/rules/create.ts';
import type { AbsenceShape, LookupAnswer } from '../orders/rules/lookup.ts';
import { type MerchantOrder, isSuccess, type Answer } from '../orders/rules/record.ts';
import { isSameSpelling } from '../base/text.ts';
import { comparePreOrder } from '../findings/rules/compare.ts';
import { readPreOrderBody, readRecordView } from './record-view.ts';
import { type UnreadReply, answerOf } from './reply.ts';
import { ORDERS } from './addresses.ts';
import type { HttpRequest } from './transport/http.ts';
import { readJson, valueAt, withDigits } from './json.ts';

/** These statuses refuse a create if the error is documented or `refusedBy` is `status`. 408 and 409 prove nothing. */
const CREATE_REFUSALS: readonly number[] = [400, 404, 422];

/** Settings that say how to read answers that the document leaves open. */
export interface ReadingSettings {
  readonly absence: readonly AbsenceShape[];
  readonly refusedBy: 'documented' | 'status';
}

export function createRequest(order: MerchantOrder): HttpRequest {
  const secrets = order.paymentToken === null ? [] : [order.paymentToken];
  return { method: 'POST', path: `${ORDERS}/request`, body: preOrderBody(order), secrets };
}

/** Writes the body of §4.9. Amounts keep every digit; fields without a value are left out. */
export function preOrderBody(order: MerchantOrder): string {
  const number = (decimal: string | null) => (decimal === null ? undefined : new LosslessNumber(decimal));
  const body = stringify({
    externalOrderId: order.externalOrderId,
    asset: number(order.asset),
    assetPosition: order.assetPosition,
    currencyPair: { fromCurrency: order.fromCurrency, toCurrency: order.toCurrency },
    orderType: order.orderType,
    limit: number(order.limit),
    paymentToken: order.paymentToken ?? undefined,
    providerType: order.providerType ?? undefined,
    cryptoAddress: order.cryptoAddress ?? undefined,
    bonus: number(order.bonus),
  });
  if (body === undefined) throw new Error('an order cannot be written as JSON');
  return body;
}

export function readCreate(
  reply: UnreadReply,
  order: MerchantOrder,
  { refusedBy }: Pick<ReadingSettings, 'refusedBy'>,
): CreateOutcome {
  if (reply.kind === 'refused') {
    if (CREATE_REFUSALS.includes(reply.httpStatus)) return { kind: 'rejected', reason: refusal(reply) };
    if (reply.httpStatus === 403) return { kind: 'forbidden', reason: refusal(reply) };
    return { kind: 'unknown', why: refusal(reply), ...(reply.answer && { answer: reply.answer }) };
  }
  if (reply.kind === 'unknown' && refusedBy === 'status' && CREATE_REFUSALS.includes(reply.answer?.httpStatus ?? 0)) {
    return { kind: 'rejected', reason: reply.why };
  }
  if (reply.kind !== 'ok') return reply;
  const { httpStatus, body } = reply;
  const preOrder = readPreOrderBody(body);
  if (preOrder?.externalOrderId !== order.externalOrderId) {
    const what = preOrder === undefined ? 'cannot be read' : 'is about another order';
    return { kind: 'unknown', why: `the answer to the create ${what}`, answer: { httpStatus, body } };
  }
  const { exchangeType } = preOrder;
  return {
    kind: 'accepted',
    preOrder: {
      id: preOrder.id,
      exchangeType: typeof exchangeType === 'string' ? exchangeType : null,
      body: reply.body,
    },
    differences: comparePreOrder(order, preOrder, exchangeType),
  };
}

/** Reads a look-up (§4.11). A record with another spelling of the id counts as found, but may be disputed. */
export function readLookup(
  reply: UnreadReply,
  externalOrderId: string,
  { absence }: Pick<ReadingSettings, 'absence'>,
): LookupAnswer {
  const record = reply.kind === 'ok' ? readRecordView(reply.body) : undefined;
  if (reply.kind === 'ok' && record !== undefined && isSameSpelling(record.externalOrderId, externalOrderId)) {
    return { kind: 'found', record, body: reply.body };
  }
  if (record !== undefined) {
    const why = 'the order record is about another order';
    return { kind: 'unanswered', why, answeredFor: record.externalOrderId };
  }
  const evidence = readAbsence(reply, externalOrderId, absence);
  if (evidence !== undefined) return { kind: 'absent', evidence };
  if (reply.kind === 'ok') return { kind: 'unanswered', why: 'the order record cannot be read', isUnreadable: true };
  // The message is left out, because it may quote the payment token, and a look-up does not know which token to hide.
  if (reply.kind === 'refused') return { kind: 'unanswered', why: refusedAs(reply) };
  return { kind: 'unanswered', why: 'why' in reply ? reply.why : reply.kind };
}

function refusal(reply: Extract<UnreadReply, { kind: 'refused' }>): string {
  return `${refusedAs(reply)}: ${reply.error.message}`;
}

function refusedAs({ httpStatus, error }: Extract<UnreadReply, { kind: 'refused' }>): string {
  return `HTTP ${httpStatus} ${error.status ?? error.code}`;
}

/** The fields of a record (§2.7) beside its order. */
const RECORD_FIELDS: readonly string[] = ['externalOrderId', 'merchant', 'percent', 'percentEnabled', 'reward'];

/**
 * Returns `documented` for the 404 of §7 or a confirmed shape. Returns `likely` for another 404, a 204, or a 2xx that
 * names no order. An answer that bears an order, or another order's id, never shows absence.
 */
export function readAbsence(
  reply: UnreadReply,
  externalOrderId: string,
  shapes: readonly AbsenceShape[],
): 'documented' | 'likely' | undefined {
  const answer = answerOf(reply);
  if (answer === undefined || /"order"\s*:\s*[{[]/.test(answer.body)) return undefined;
  const { httpStatus: status, body } = answer;
  const value = readJson(body);
  if ((withDigits(valueAt(value, '/externalOrderId')) ?? externalOrderId) !== externalOrderId) return undefined;
  const isConfirmed = shapes.some((shape) => hasShape(answer, shape));
  if ((reply.kind === 'refused' && status === 404) || isConfirmed) return 'documented';
  return isLikely(answer, value) ? 'likely' : undefined;
}

function isLikely(answer: Answer, value: unknown): boolean {
  const { httpStatus: status, body } = answer;
  return status === 404 || status === 204 || (isSuccess(answer) && saysNothing(body, value));
}

/** A 2xx shape without a pointer fits only answers that name no order. */
export function hasShape(answer: Answer, shape: AbsenceShape): boolean {
  if (shape.status !== answer.httpStatus) return false;
  const value = readJson(answer.body);
  if (shape.pointer === undefined) return isLikely(answer, value) || !isSuccess(answer);
  const found = valueAt(value, shape.pointer);
  return found !== undefined && (shape.value === undefined || textOf(found) === shape.value);
}

function saysNothing(body: string, value: unknown): boolean {
  if (body.trim() === '' || value === null) return true;
  if (typeof value !== 'object' || isLosslessNumber(value)) return false;
  if (valueAt(value, '/order') === null) return true;
  return Object.keys(value).every((name) => !Array.isArray(value) && RECORD_FIELDS.includes(name));
}

/** Returns the text by which a setting can name a value; undefined if no setting can name the value. */
export function textOf(value: unknown): string | undefined {
  if (isLosslessNumber(value)) return value.value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? '[]' : '{}';
}
