import { LosslessNumber, stringify } from 'lossless-json';
import type { CreateOutcome } from '../domain/orders/create.ts';
import type { LookupAnswer } from '../domain/orders/lookup.ts';
import type { Difference, MerchantOrder } from '../domain/record.ts';
import { comparePreOrder } from '../domain/findings/compare.ts';
import { readRecordView, viewOfPreOrder } from './record-view.ts';
import type { UnreadReply } from './reply.ts';
import { readBody } from './json.ts';
import { preOrderSchema } from './schemas.ts';

/** With the documented error body these say that the order was not taken. 408 and 409 may come after it was. */
const CREATE_REFUSALS: readonly number[] = [400, 403, 404, 422];

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
export function readCreate(reply: UnreadReply, order: MerchantOrder): CreateOutcome {
  if (reply.kind === 'refused') {
    if (CREATE_REFUSALS.includes(reply.httpStatus)) return { kind: 'rejected', reason: refusal(reply) };
    return { kind: 'unknown', why: refusal(reply) };
  }
  if (reply.kind !== 'ok') return reply;
  const preOrder = readBody(preOrderSchema, reply.body);
  if (preOrder === undefined) return { kind: 'unknown', why: 'the answer to the create cannot be read' };
  if (preOrder.externalOrderId !== order.externalOrderId) {
    return { kind: 'unknown', why: 'the answer to the create is about another order' };
  }
  const exchangeType = preOrder['exchangeType'];
  return {
    kind: 'accepted',
    preOrder: {
      id: preOrder.id,
      exchangeType: typeof exchangeType === 'string' ? exchangeType : null,
      body: reply.body,
    },
    differences: comparePreOrder(order, viewOfPreOrder(preOrder)),
  };
}

/** The differences between a pre-order (§4.10) and its order; undefined where the body is not the pre-order asked for. */
export function readPreOrder(
  body: string,
  preOrderId: string,
  order: MerchantOrder,
): readonly Difference[] | undefined {
  const preOrder = readBody(preOrderSchema, body);
  if (preOrder?.id !== preOrderId || preOrder.externalOrderId !== order.externalOrderId) return undefined;
  return comparePreOrder(order, viewOfPreOrder(preOrder));
}

/** Reads the reply to a look-up (§4.11). Only the record asked for, and the documented 404, are evidence. */
export function readLookup(reply: UnreadReply, externalOrderId: string): LookupAnswer {
  if (reply.kind === 'ok') {
    const record = readRecordView(reply.body);
    if (record === undefined) return { kind: 'unanswered', why: 'the order record cannot be read' };
    if (record.externalOrderId !== externalOrderId) {
      const why = 'the order record is about another order';
      return { kind: 'unanswered', why, answeredFor: record.externalOrderId };
    }
    return { kind: 'found', record, body: reply.body };
  }
  if (reply.kind === 'refused' && reply.httpStatus === 404) return { kind: 'absent', evidence: 'documented' };
  if (reply.kind === 'refused') return { kind: 'unanswered', why: refusal(reply) };
  return { kind: 'unanswered', why: 'why' in reply ? reply.why : reply.kind };
}

function refusal(reply: Extract<UnreadReply, { kind: 'refused' }>): string {
  const { message, status, code } = reply.error;
  return `HTTP ${reply.httpStatus} ${status ?? code}: ${message.slice(0, 500)}`;
}
