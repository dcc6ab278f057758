import { isLosslessNumber } from 'lossless-json';
import type { CreateOutcome } from '../domain/create.ts';
import { sameDecimal } from '../domain/decimal.ts';
import type { LookupAnswer, OrderFacts } from '../domain/follow.ts';
import type { MerchantOrder } from '../domain/order.ts';
import type { Reply } from './reply.ts';
import { orderRecordSchema, preOrderSchema, readBody, type OrderRecord, type PreOrder } from './wire.ts';

/** More of an echoed value than a finding needs. */
const MAX_ECHO = 200;

type EchoType = 'string' | 'number';

/** Answers with the documented error body that say that an order was not taken. 408 and 409 may come after it was. */
const CREATE_REFUSALS: readonly number[] = [400, 403, 404, 422];

/** The outcome rule for an answer to a create. */
export function readCreate(reply: Reply, order: MerchantOrder): CreateOutcome {
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
  return {
    kind: 'accepted',
    preOrder: { id: preOrder.id, exchangeType: echoed(preOrder['exchangeType'], 'string') ?? null, body: reply.body },
    differences: echoDifferences(order, preOrder),
  };
}

/** Only the record asked for, and the documented 404, are evidence. */
export function readLookup(reply: Reply, externalOrderId: string): LookupAnswer {
  if (reply.kind === 'ok') {
    const record = readBody(orderRecordSchema, reply.body);
    if (record === undefined) return { kind: 'unanswered', why: 'the order record cannot be read' };
    if (record.externalOrderId !== externalOrderId) {
      return { kind: 'unanswered', why: 'the order record is about another order' };
    }
    return { kind: 'found', facts: factsOf(record), body: reply.body };
  }
  if (reply.kind === 'refused' && reply.httpStatus === 404) return { kind: 'not-found' };
  if (reply.kind === 'refused') return { kind: 'unanswered', why: refusal(reply) };
  return { kind: 'unanswered', why: 'why' in reply ? reply.why : reply.kind };
}

function factsOf({ order }: OrderRecord): OrderFacts {
  return {
    orderId: order.id,
    orderStatus: order.status,
    cryptoStatus: order.cryptoTransaction?.status ?? null,
    fiatStatus: order.fiatTransaction?.status ?? null,
    exchangeType: order.exchangeType ?? null,
    modificationDate: order.modificationDate ?? null,
    completionDate: order.completionDate ?? null,
    serverDate: order.serverDate ?? null,
  };
}

/** What the pre-order says otherwise than the order that was sent. A field that was not sent may come back filled. */
function echoDifferences(order: MerchantOrder, preOrder: PreOrder): string[] {
  const texts = [
    ['assetPosition', order.assetPosition, preOrder['assetPosition']],
    ['fromCurrency', order.fromCurrency, preOrder.currencyPair?.['fromCurrency']],
    ['toCurrency', order.toCurrency, preOrder.currencyPair?.['toCurrency']],
    ['orderType', order.orderType, preOrder['orderType']],
    ['paymentToken', order.paymentToken, preOrder['paymentToken']],
    ['providerType', order.providerType, preOrder['providerType']],
    ['cryptoAddress', order.cryptoAddress, preOrder['cryptoAddress']],
    ['exchangeType', null, preOrder['exchangeType']],
  ] as const;
  const decimals = [
    ['asset', order.asset, preOrder['asset']],
    ['limit', order.limit, preOrder['limit']],
    ['bonus', order.bonus, preOrder['bonus']],
  ] as const;
  const differences = [
    ...texts.map(([field, sent, echo]) => difference(field, sent, echo, 'string')),
    ...decimals.map(([field, sent, echo]) => difference(field, sent, echo, 'number')),
  ];
  return differences.filter((text) => text !== undefined);
}

function difference(field: string, sent: string | null, echo: unknown, type: EchoType): string | undefined {
  const value = echoed(echo, type);
  const isNothing = echo === null || echo === undefined;
  const isRightType = isNothing || value !== undefined;
  const isEqual = sent === null || sent === value || (type === 'number' && sameDecimal(sent, value ?? ''));
  if (isRightType && isEqual) return undefined;
  // A payment token stays out of events and logs.
  if (field === 'paymentToken') return 'paymentToken differs';
  const came = value?.slice(0, MAX_ECHO) ?? (isNothing ? 'nothing' : nameOfType(echo));
  return `${field} ${sent === null ? 'not sent' : `sent ${sent}`}, echoed ${came}`;
}

/** The text of an echoed field, or the digits of an echoed number; undefined where it is of another type. */
function echoed(echo: unknown, type: EchoType): string | undefined {
  if (type === 'string') return typeof echo === 'string' ? echo : undefined;
  return isLosslessNumber(echo) ? echo.value : undefined;
}

function nameOfType(echo: unknown): string {
  if (isLosslessNumber(echo)) return 'a number';
  if (Array.isArray(echo)) return 'an array';
  return typeof echo === 'object' ? 'an object' : `a ${typeof echo}`;
}

function refusal(reply: Extract<Reply, { kind: 'refused' }>): string {
  const { message, status, code } = reply.error;
  return `HTTP ${reply.httpStatus} ${status ?? code}: ${message.slice(0, 500)}`;
}
