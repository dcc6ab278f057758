import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { CreateOutcome } from '../domain/orders/create.ts';
import type { LookupAnswer } from '../domain/orders/follow.ts';
import type { MerchantOrder } from '../domain/record.ts';
import type { Gate, Passage } from './gate.ts';
import { emailAddress, headerId, pathId, queryId } from './ids.ts';
import { readCreate, readLookup, preOrderBody } from './orders.ts';
import { ask, passageOf, type Reply } from './reply.ts';
import {
  cardsSchema,
  customerSchema,
  linkSchema,
  sdkTokenSchema,
  validationSchema,
  verificationTokenSchema,
  type Card,
  type Customer,
  type Link,
  type SdkToken,
  type VerificationLevel,
  type VerificationToken,
} from './schemas.ts';
import { readBody } from './json.ts';
import type { Transport, HttpRequest } from './transport.ts';

const CLIENTS = '/api/v1/merchant/client';
const ORDERS = '/api/v1/merchant/orders';
const NO_TURN: Reply = { kind: 'not-sent', why: 'it was given up before its turn came' };

/**
 * The answer to an operation. `body` is what was received, byte for byte, and `value` is read from it; a refusal carries
 * the documented error (§7). `unknown`: nobody can tell whether the exchange did what was asked.
 */
export type Answer<Value> =
  | { readonly kind: 'ok'; readonly value: Value; readonly body: string }
  | Exclude<Reply, { kind: 'ok' }>;

/** What §4.5 is asked with. */
export interface PhotoRequest {
  readonly level: VerificationLevel;
  /** Taken by the exchange with the level `LIVENESS` only. */
  readonly actionId?: string | undefined;
  /** Comes back with the delivery (§6). */
  readonly token?: string | undefined;
}

/**
 * The merchant interface of the exchange, one method an endpoint. All methods go through one gate. Those of a pass take
 * no turn themselves: the pass holds one with `gate.pass`, because a create's intent is recorded after its turn has come
 * and before it goes. The others take a turn ahead of the passes, never reject with an answer of the exchange, and throw
 * `UnusableIdError`, before any request, on an id that cannot be sent. Their signal ends the wait for the turn; a request
 * that has left is not broken off, since what came of it would be lost: §4.1 tells the id of a new link once.
 */
export class ExchangeClient {
  readonly gate: Gate;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #hold: () => Promise<void>;

  /** `hold` resolves once a request of one of the other methods may leave; the passes see to that by themselves. */
  constructor(transport: Transport, gate: Gate, clock: Clock, hold: () => Promise<void> = async () => {}) {
    this.#transport = transport;
    this.gate = gate;
    this.#clock = clock;
    this.#hold = hold;
  }

  /** §4.9, once, within a turn of the `create` lane. What came of it, by the outcome rule. Never rejects. */
  async createPreOrder(
    order: MerchantOrder,
    signal?: AbortSignal,
  ): Promise<{ outcome: CreateOutcome; passage: Passage }> {
    const secrets = order.paymentToken === null ? [] : [order.paymentToken];
    const request: HttpRequest = { method: 'POST', path: `${ORDERS}/request`, body: preOrderBody(order), secrets };
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
    // An answer about another order is wrong for this one alone: the others need not wait.
    const isUnreadable = answer.kind === 'unanswered' && answer.answeredFor === undefined && reply.kind === 'ok';
    const health = isUnreadable ? 'failed' : passage.health;
    return { answer, reply: reply.kind, passage: { ...passage, health } };
  }

  /** §4.1: registers a client, or links one that is registered. */
  async createLink(email: string, signal?: AbortSignal): Promise<Answer<Link>> {
    return await this.#read(post(CLIENTS, { email: emailAddress(email) }, [email]), linkSchema, signal);
  }

  /** §4.2: whether a link for the e-mail could be made; the value's status is `OK`. */
  async validateEmail(email: string, signal?: AbortSignal): Promise<Answer<{ status: string }>> {
    const request = post(`${CLIENTS}/validate/email`, { email: emailAddress(email) }, [email]);
    return await this.#read(request, validationSchema, signal);
  }

  /** §4.3: the link and its verification status. */
  async showLink(linkId: string, signal?: AbortSignal): Promise<Answer<Link>> {
    return await this.#read(get(`${CLIENTS}/${pathId(linkId)}`), linkSchema, signal);
  }

  /** §4.3, once, within a turn of the `lookup` lane. Never rejects with an answer of the exchange. */
  async lookUpLink(linkId: string, signal?: AbortSignal): Promise<{ answer: Answer<Link>; passage: Passage }> {
    const reply = await ask(this.#transport, this.#clock, get(`${CLIENTS}/${pathId(linkId)}`), signal);
    const answer = readAnswer(reply, linkSchema);
    const passage = passageOf(reply);
    return { answer, passage: answer.kind === 'unknown' ? { ...passage, health: 'failed' } : passage };
  }

  /** §4.4: an access token for a verification flow. A secret. */
  async verificationToken(
    linkId: string,
    level: VerificationLevel,
    signal?: AbortSignal,
  ): Promise<Answer<VerificationToken>> {
    return await this.#read(get(`${CLIENTS}/${pathId(linkId)}/idv/${level}`), verificationTokenSchema, signal);
  }

  /** §4.5: asks for the delivery of verification photos (§6). */
  async requestPhotos(
    linkId: string,
    { level, actionId, token }: PhotoRequest,
    signal?: AbortSignal,
  ): Promise<Answer<{ status: string }>> {
    const body = { kycLevelType: level, ...(level === 'LIVENESS' && { actionId }), token };
    const path = `${CLIENTS}/${pathId(linkId)}/idv/photos/external/upload`;
    return await this.#read(post(path, body, token === undefined ? [] : [token]), validationSchema, signal);
  }

  /** §4.6: the customer record of the card-payment provider. Personal data. */
  async showCustomer(linkId: string, signal?: AbortSignal): Promise<Answer<Customer>> {
    return await this.#read(get(`${CLIENTS}/${pathId(linkId)}/cardprov/customer`), customerSchema, signal);
  }

  /** §4.7: the customer's saved cards. Personal data, and tokens that are secrets. */
  async listCards(linkId: string, signal?: AbortSignal): Promise<Answer<Card[]>> {
    return await this.#read(get(`${CLIENTS}/${pathId(linkId)}/cardprov/customer/card`), cardsSchema, signal);
  }

  /** §4.8: a short-lived SDK token. A secret. The document leaves open which of the two forms counts: both are sent. */
  async sdkToken(linkId: string, signal?: AbortSignal): Promise<Answer<SdkToken>> {
    const path = `/api/v1/merchant/sdk/token?linkId=${pathId(linkId)}`;
    return await this.#read({ method: 'POST', path, headers: { linkId: headerId(linkId) } }, sdkTokenSchema, signal);
  }

  /** §4.10 as the exchange answers now: any JSON, so that a person sees also what is not as the document says. */
  async showPreOrder(preOrderId: string, signal?: AbortSignal): Promise<Answer<unknown>> {
    return await this.#read(get(`${ORDERS}/request/${pathId(preOrderId)}`), z.unknown(), signal);
  }

  /** §4.11 as the exchange answers now: any JSON. */
  async showOrder(externalOrderId: string, signal?: AbortSignal): Promise<Answer<unknown>> {
    return await this.#read(get(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`), z.unknown(), signal);
  }

  async close(): Promise<void> {
    this.gate.close();
    await this.#transport.close();
  }

  async #read<Value>(request: HttpRequest, schema: z.ZodType<Value>, signal?: AbortSignal): Promise<Answer<Value>> {
    return readAnswer(await this.#ask(request, signal), schema);
  }

  async #ask(request: HttpRequest, signal?: AbortSignal): Promise<Reply> {
    const task = async () => {
      await this.#hold();
      const reply = await ask(this.#transport, this.#clock, request);
      return { result: reply, passage: passageOf(reply) };
    };
    return (await this.gate.pass('person', task, signal)) ?? NO_TURN;
  }
}

function readAnswer<Value>(reply: Reply, schema: z.ZodType<Value>): Answer<Value> {
  if (reply.kind !== 'ok') return reply;
  const value = readBody(schema, reply.body);
  if (value === undefined) return { kind: 'unknown', why: 'the answer cannot be read' };
  return { kind: 'ok', value, body: reply.body };
}

function get(path: string): HttpRequest {
  return { method: 'GET', path };
}

function post(
  path: string,
  body: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): HttpRequest {
  return { method: 'POST', path, body: JSON.stringify(body), secrets };
}

function orderRequest(externalOrderId: string): HttpRequest {
  return { method: 'GET', path: `${ORDERS}?externalOrderId=${encodeURIComponent(externalOrderId)}` };
}
