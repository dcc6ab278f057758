import { LosslessNumber, stringify } from 'lossless-json';
import type { CreateOutcome } from '../domain/orders/create.ts';
import type { AbsenceShape, LookupAnswer } from '../domain/orders/lookup.ts';
import type { EchoDifference, MerchantOrder } from '../domain/record.ts';
import { isSameSpelling } from '../domain/text.ts';
import { comparePreOrder } from '../domain/findings/compare.ts';
import { readAbsence } from './absence.ts';
import { readPreOrderBody, readRecordView } from './record-view.ts';
import type { UnreadReply } from './reply.ts';

/**
 * With the documented error body these say that the order was not taken, and without it where the merchant has confirmed
 * that. 408 and 409 may come after it was.
 */
const CREATE_REFUSALS: readonly number[] = [400, 404, 422];

/** What is known of the answers that the document leaves open; the settings of those names. */
export interface ReadingSettings {
  readonly absence: readonly AbsenceShape[];
  readonly refusedBy: 'documented' | 'status';
}

/** The body of §4.9: amounts with every digit, fields that are not given left out. */
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
  if (body === undefined) throw new Error('an order gave no JSON');
  return body;
}

/** Reads the reply to a create (§4.9) by the outcome rule. */
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

/** The differences between a pre-order (§4.10) and its order; undefined where the body is not the pre-order asked for. */
export function readPreOrder(
  body: string,
  preOrderId: string,
  order: MerchantOrder,
): readonly EchoDifference[] | undefined {
  const preOrder = readPreOrderBody(body);
  if (preOrder?.id !== preOrderId || preOrder.externalOrderId !== order.externalOrderId) return undefined;
  return comparePreOrder(order, preOrder, preOrder.exchangeType);
}

/**
 * Reads the reply to a look-up (§4.11). Only the record that was asked for, and its absence, are evidence. A record whose id
 * is another spelling of the one asked for may be it: whether it is, is decided with the order.
 */
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
  // Its message may quote what the order holds, such as a payment token, and this request does not know that.
  if (reply.kind === 'refused') return { kind: 'unanswered', why: refusedAs(reply) };
  return { kind: 'unanswered', why: 'why' in reply ? reply.why : reply.kind };
}

function refusal(reply: Extract<UnreadReply, { kind: 'refused' }>): string {
  return `${refusedAs(reply)}: ${reply.error.message}`;
}

function refusedAs({ httpStatus, error }: Extract<UnreadReply, { kind: 'refused' }>): string {
  return `HTTP ${httpStatus} ${error.status ?? error.code}`;
}
