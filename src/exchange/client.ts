import type { Clock } from '../clock.ts';
import type { CreateOutcome } from '../domain/create.ts';
import { sameDecimal } from '../domain/decimal.ts';
import type { LookupAnswer, OrderFacts } from '../domain/follow.ts';
import type { MerchantOrder } from '../domain/order.ts';
import type { Gate, Lane, Passage } from './gate.ts';
import { ask, passageOf, type Reply } from './reply.ts';
import { orderRecordSchema, preOrderBody, preOrderSchema, readBody, type OrderRecord, type PreOrder } from './wire.ts';
import type { Transport, WireRequest } from './wire-call.ts';

/** Ids longer than this are refused before any request. */
const MAX_PATH_ID_LENGTH = 500;

/** An id that would change the address it is put into. Nothing was sent. */
export class UnusableIdError extends Error {
  override readonly name = 'UnusableIdError';
}

/** The answer of a read that a person asked for. */
export type ReadAnswer = { readonly kind: 'found'; readonly body: string } | Exclude<Reply, { kind: 'ok' }>;

/**
 * The merchant interface of the exchange, one method an endpoint. All methods go through one gate. The methods that a
 * pass uses take no turn themselves: the pass holds one with `gate.pass`, because a create's intent is recorded after
 * its turn has come and before it goes.
 */
export class ExchangeClient {
  readonly gate: Gate;
  readonly #transport: Transport;
  readonly #clock: Clock;

  constructor(transport: Transport, gate: Gate, clock: Clock) {
    this.#transport = transport;
    this.gate = gate;
    this.#clock = clock;
  }

  /** §4.9, once, within a turn of the `create` lane. What came of it, by the outcome rule. Never rejects. */
  async createPreOrder(
    order: MerchantOrder,
    signal?: AbortSignal,
  ): Promise<{ outcome: CreateOutcome; passage: Passage }> {
    const request: WireRequest = { method: 'POST', path: '/api/v1/merchant/orders/request', body: preOrderBody(order) };
    const reply = await ask(this.#transport, this.#clock, request, signal);
    const outcome = readCreate(reply, order);
    const passage = passageOf(reply);
    return { outcome, passage: outcome.kind === 'unknown' ? { ...passage, health: 'failed' } : passage };
  }

  /** §4.11, once, within a turn of the `lookup` lane. Never rejects. */
  async lookUpOrder(
    externalOrderId: string,
    signal?: AbortSignal,
  ): Promise<{ answer: LookupAnswer; reply: Reply['kind']; passage: Passage }> {
    const reply = await ask(this.#transport, this.#clock, orderRequest(externalOrderId), signal);
    const answer = readLookup(reply, externalOrderId);
    const passage = passageOf(reply);
    const health = answer.kind === 'unanswered' && passage.health === 'answered' ? 'failed' : passage.health;
    return { answer, reply: reply.kind, passage: { ...passage, health } };
  }

  /** §4.11 as the exchange answers now, for a person. */
  async showOrder(externalOrderId: string, signal?: AbortSignal): Promise<ReadAnswer> {
    return await this.#read('person', orderRequest(externalOrderId), signal);
  }

  /** §4.10 as the exchange answers now, for a person. Throws `UnusableIdError` on an id that cannot be in a path. */
  async showPreOrder(preOrderId: string, signal?: AbortSignal): Promise<ReadAnswer> {
    const path = `/api/v1/merchant/orders/request/${pathId(preOrderId)}`;
    return await this.#read('person', { method: 'GET', path }, signal);
  }

  async close(): Promise<void> {
    this.gate.close();
    await this.#transport.close();
  }

  async #read(lane: Lane, request: WireRequest, signal?: AbortSignal): Promise<ReadAnswer> {
    const task = async () => {
      const reply = await ask(this.#transport, this.#clock, request, signal);
      return { result: reply, passage: passageOf(reply) };
    };
    const reply = await this.gate.pass(lane, task, signal);
    if (reply === undefined) return { kind: 'not-sent', why: 'the program is stopping' };
    return reply.kind === 'ok' ? { kind: 'found', body: reply.body } : reply;
  }
}

/** The outcome rule for an answer to a create. */
function readCreate(reply: Reply, order: MerchantOrder): CreateOutcome {
  if (reply.kind === 'refused') return { kind: 'rejected', reason: refusal(reply) };
  if (reply.kind !== 'ok') return reply;
  const preOrder = readBody(preOrderSchema, reply.body);
  if (preOrder === undefined) return { kind: 'unknown', why: 'the answer to the create cannot be read' };
  if (preOrder.externalOrderId !== order.externalOrderId) {
    return { kind: 'unknown', why: 'the answer to the create is about another order' };
  }
  return {
    kind: 'accepted',
    preOrder: { id: preOrder.id, exchangeType: preOrder.exchangeType ?? null, body: reply.body },
    differences: echoDifferences(order, preOrder),
  };
}

/** Only the record asked for, and the documented 404, are evidence. */
function readLookup(reply: Reply, externalOrderId: string): LookupAnswer {
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
    ['assetPosition', order.assetPosition, preOrder.assetPosition],
    ['fromCurrency', order.fromCurrency, preOrder.currencyPair?.fromCurrency],
    ['toCurrency', order.toCurrency, preOrder.currencyPair?.toCurrency],
    ['orderType', order.orderType, preOrder.orderType],
    ['paymentToken', order.paymentToken, preOrder.paymentToken],
    ['providerType', order.providerType, preOrder.providerType],
    ['cryptoAddress', order.cryptoAddress, preOrder.cryptoAddress],
  ] as const;
  const decimals = [
    ['asset', order.asset, preOrder.asset],
    ['limit', order.limit, preOrder.limit],
    ['bonus', order.bonus, preOrder.bonus],
  ] as const;
  return [
    ...texts.filter(([, sent, echoed]) => sent !== null && sent !== echoed),
    ...decimals.filter(([, sent, echoed]) => sent !== null && !sameDecimal(sent, echoed ?? '')),
  ].map(([field, sent, echoed]) =>
    // A payment token stays out of events and logs.
    field === 'paymentToken' ? 'paymentToken differs' : `${field} sent ${sent}, echoed ${echoed ?? 'nothing'}`,
  );
}

function refusal(reply: Extract<Reply, { kind: 'refused' }>): string {
  const { message, status, code } = reply.error;
  return `HTTP ${reply.httpStatus} ${status ?? code}: ${message.slice(0, 500)}`;
}

function orderRequest(externalOrderId: string): WireRequest {
  return { method: 'GET', path: `/api/v1/merchant/orders?externalOrderId=${encodeURIComponent(externalOrderId)}` };
}

function pathId(id: string): string {
  const isUsable = id !== '' && id !== '.' && id !== '..' && id.length <= MAX_PATH_ID_LENGTH && id.isWellFormed();
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!isUsable || /[\u0000-\u001f\u007f]/.test(id)) {
    throw new UnusableIdError(`${JSON.stringify(id.slice(0, 60))} cannot be an id; check the id and try again`);
  }
  return encodeURIComponent(id);
}
