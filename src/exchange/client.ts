import { z } from 'zod';
import type { CreateOutcome } from '../orders/rules/create.ts';
import { isSuccess, type Answer, type MerchantOrder } from '../orders/rules/record.ts';
import { aboutLink, type Asking, type ClientOptions, type PhotoRequest } from './asking.ts';
import type { BreakerView, OrderExchange, OrderLookup, Turn } from './for-orders.ts';
import type { BreakerLane } from './transport/breaker.ts';
import { evidenceOf, leaving, newsOfCreate } from './account.ts';
import { CLIENTS, get, ORDERS, post } from './addresses.ts';
import { examine, notExamined, type Examined } from './examine.ts';
import { Gate } from './transport/gate.ts';
import { emailAddress, headerId, pathId, queryId } from './ids.ts';
import { preOrderBody, readCreate, readLookup } from './orders.ts';
import {
  aboutTheOneAsked,
  answerOf,
  ask,
  hide,
  keepable,
  readReply,
  uploadRefusal,
  type FailedReply,
  type Reply,
  type UnreadReply,
} from './reply.ts';
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
import type { HttpRequest } from './transport/http.ts';

/** A person waits no longer for a turn. */
const LONGEST_WAIT_MS = 10_000;
const NO_TURN: FailedReply = { kind: 'not-sent', why: 'the wait for its turn was broken off' };

/**
 * The merchant interface of the exchange, one method an endpoint. Each method takes its turn at the gate, ensures the request lease,
 * sends one request, and reads the reply; it never rejects with an answer of the exchange.
 *
 * The methods for creates and look-ups share the limits and stop while their circuit breaker is open: they return undefined if no
 * turn came. All others are asked by a person, go ahead of those, and are tried whatever the breakers say; they throw
 * `UnusableIdError`, before any request, on an id that cannot be sent. None leaves while the exchange asks to wait. A signal ends the
 * wait for the turn. A request that has left is broken off at the end of the grace period alone: §4.1 tells a new link's id once.
 */
export class ExchangeClient implements OrderExchange {
  readonly #options: ClientOptions;
  readonly #gate: Gate;
  #lastAnswered: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#gate = new Gate(options, options.clock);
  }

  /** The order whose look-up was answered last, with any answer. Undefined if that order has failed since. */
  get lastAnswered(): string | undefined {
    return this.#lastAnswered;
  }

  /** A circuit breaker has opened, and no request was answered since. */
  get isSilent(): boolean {
    return this.#gate.isSilent;
  }

  breaker(lane: BreakerLane): BreakerView {
    return this.#gate.breaker(lane);
  }

  /** The turn of a create: its intent is recorded after its turn has come and before the request leaves. */
  async turnToCreate(externalOrderId: string, signal: AbortSignal): Promise<Turn | undefined> {
    return await this.#gate.turn({ lane: 'create', subject: externalOrderId }, signal);
  }

  /**
   * Sends §4.9 once and ends the turn. Returns the outcome by the outcome rule. Never rejects. If a 403 is known to speak
   * of the order alone, it refuses the order.
   */
  async createPreOrder(order: MerchantOrder, given: Turn, isForbiddenAlone = false): Promise<CreateOutcome> {
    using turn = given;
    const secrets = order.paymentToken === null ? [] : [order.paymentToken];
    const request: HttpRequest = { method: 'POST', path: `${ORDERS}/request`, body: preOrderBody(order), secrets };
    try {
      // Recording the intent may take longer than the lease lasts, or than another request takes.
      if ((await this.#heldAtLast()) !== undefined) throw new Error('the exchange has just asked to wait');
    } catch (error) {
      return { kind: 'not-sent', why: error instanceof Error ? error.message : String(error) };
    }
    const { account, reading } = this.#options;
    const askedAt = account.now();
    const read = readCreate(await this.#send(request, turn), order, reading);
    const isRefused = read.kind === 'forbidden' && isForbiddenAlone;
    const outcome = isRefused ? ({ kind: 'rejected', reason: read.reason } as const) : read;
    const news = newsOfCreate(outcome);
    if (news !== undefined) account.note(news, askedAt);
    if (outcome.kind !== 'unknown' || outcome.answer === undefined) return outcome;
    return { ...outcome, answer: keepable(outcome.answer) };
  }

  /** §4.11, once, in a turn of the look-ups; as a probe it also shows whether creates may go again. */
  async lookUpOrder(externalOrderId: string, signal?: AbortSignal, isProbe = false): Promise<OrderLookup | undefined> {
    using turn = await this.#gate.turn({ lane: 'lookup', subject: externalOrderId, isProbe }, signal);
    if (turn === undefined) return undefined;
    // Look-ups of one turn of the event loop leave together, so that the processor's caches hold their code.
    await this.#options.clock.turn();
    if ((await this.#heldAtLast()) !== undefined) return undefined;
    const askedAt = this.#options.clock.now();
    const reply = await this.#send(get(`${ORDERS}?externalOrderId=${encodeURIComponent(externalOrderId)}`), turn);
    const { health } = turn.report;
    if (health === 'answered') this.#lastAnswered = externalOrderId;
    else if (this.#lastAnswered === externalOrderId) this.#lastAnswered = undefined;
    return { answer: readLookup(reply, externalOrderId, this.#options.reading), askedAt, health };
  }

  /** §4.3, once, in a turn of the look-ups. */
  async lookUpLink(linkId: string, signal?: AbortSignal): Promise<Reply<Link> | undefined> {
    const request = get(`${CLIENTS}/${pathId(linkId)}`);
    using turn = await this.#gate.turn({ lane: 'lookup', subject: `link ${linkId}` }, signal);
    return turn === undefined ? undefined : await this.#ask(request, linkSchema, turn, { asked: aboutLink(linkId) });
  }

  /**
   * §4.1: registers a client, or links one that is registered. `onUnread` is given a success from which no link can be read:
   * the exchange tells its id once.
   */
  async createLink(
    email: string,
    signal?: AbortSignal,
    onUnread: (answer: Answer) => void = () => {},
  ): Promise<Reply<Link>> {
    const request = post(CLIENTS, { email: emailAddress(email) }, [email]);
    return await this.#askForPerson(request, linkSchema, signal, {
      onUnread: ({ httpStatus, body }) => onUnread(keepable({ httpStatus, body: hide([email], body) })),
    });
  }

  /** §4.2: whether a link for the e-mail could be made; the value's status is `OK`. */
  async validateEmail(email: string, signal?: AbortSignal): Promise<Reply<{ status: string }>> {
    const request = post(`${CLIENTS}/validate/email`, { email: emailAddress(email) }, [email]);
    return await this.#askForPerson(request, validationSchema, signal);
  }

  /** §4.3: the link and its verification status. */
  async showLink(linkId: string, signal?: AbortSignal): Promise<Reply<Link>> {
    const request = get(`${CLIENTS}/${pathId(linkId)}`);
    return await this.#askForPerson(request, linkSchema, signal, { asked: aboutLink(linkId) });
  }

  /** §4.4: an access token for a verification flow. A secret. */
  async verificationToken(
    linkId: string,
    level: VerificationLevel,
    signal?: AbortSignal,
  ): Promise<Reply<VerificationToken>> {
    const request = get(`${CLIENTS}/${pathId(linkId)}/idv/${level}`);
    return await this.#askForPerson(request, verificationTokenSchema, signal, { asked: aboutLink(linkId) });
  }

  /** §4.5: asks for the delivery of verification photos (§6). */
  async requestPhotos(
    linkId: string,
    { level, actionId, token }: PhotoRequest,
    signal?: AbortSignal,
  ): Promise<Reply<{ status: string }>> {
    const body = { kycLevelType: level, ...(level === 'LIVENESS' && { actionId }), token };
    const path = `${CLIENTS}/${pathId(linkId)}/idv/photos/external/upload`;
    const request = post(path, body, token === undefined ? [] : [token]);
    return await this.#askForPerson(request, validationSchema, signal, { isForPhotos: true });
  }

  /** §4.6: the customer record of the card-payment provider. Personal data. */
  async showCustomer(linkId: string, signal?: AbortSignal): Promise<Reply<Customer>> {
    const request = get(`${CLIENTS}/${pathId(linkId)}/cardprov/customer`);
    return await this.#askForPerson(request, customerSchema, signal, { asked: aboutLink(linkId) });
  }

  /** §4.7: the customer's saved cards. Personal data, and tokens that are secrets. */
  async listCards(linkId: string, signal?: AbortSignal): Promise<Reply<Card[]>> {
    return await this.#askForPerson(get(`${CLIENTS}/${pathId(linkId)}/cardprov/customer/card`), cardsSchema, signal);
  }

  /** §4.8: a short-lived SDK token. A secret. The document leaves open which of the two forms counts: both are sent. */
  async sdkToken(linkId: string, signal?: AbortSignal): Promise<Reply<SdkToken>> {
    const path = `/api/v1/merchant/sdk/token?linkId=${pathId(linkId)}`;
    const request: HttpRequest = { method: 'POST', path, headers: { linkId: headerId(linkId) } };
    return await this.#askForPerson(request, sdkTokenSchema, signal, { asked: aboutLink(linkId) });
  }

  /** §4.10 as the exchange answers now: any JSON, so that a person also sees fields that the document does not have. */
  async showPreOrder(preOrderId: string, signal?: AbortSignal): Promise<Reply<unknown>> {
    const asked = { what: 'pre-order', field: 'id', id: preOrderId } as const;
    return await this.#askForPerson(get(`${ORDERS}/request/${pathId(preOrderId)}`), z.unknown(), signal, { asked });
  }

  /** §4.11 as the exchange answers now: any JSON. */
  async showOrder(externalOrderId: string, signal?: AbortSignal): Promise<Reply<unknown>> {
    const asked = { what: 'order', field: 'externalOrderId', id: externalOrderId } as const;
    const request = get(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`);
    return await this.#askForPerson(request, z.unknown(), signal, { asked });
  }

  /** One request of a probe, and all that is seen of its answer. Of a wrong key nothing but a 429 speaks of the account. */
  async examine(request: HttpRequest, signal?: AbortSignal): Promise<Examined> {
    const { transport, clock, gracePeriodOver, account } = this.#options;
    const refused = this.#refusedFor(this.#gate.windowWaitMs);
    if (refused !== undefined) return notExamined(request, refused, clock);
    using turn = await this.#gate.turn({ lane: 'person' }, signal);
    const held = turn && (await this.#heldAtLast());
    if (turn === undefined || held !== undefined) return notExamined(request, held ?? NO_TURN, clock);
    turn.leave();
    const askedAt = account.now();
    using sent = leaving(this.#options, request, 'person');
    const examined = await examine(transport, clock, request, gracePeriodOver);
    const reply = (sent.reply = examined.reply);
    const isKeyTried = request.headers?.['x-api-key'] !== undefined;
    if (isKeyTried && reply.kind !== 'rate-limited') turn.report = { wasSent: true, health: 'answered' };
    else this.#note(reply, turn, askedAt);
    return examined;
  }

  async close(): Promise<void> {
    this.#gate.close();
    await this.#options.transport.close();
  }

  async #askForPerson<Value>(
    request: HttpRequest,
    schema: z.ZodType<Value>,
    signal?: AbortSignal,
    asking?: Asking,
  ): Promise<Reply<Value>> {
    const refused = this.#refusedFor(this.#gate.windowWaitMs);
    if (refused !== undefined) return refused;
    using turn = await this.#gate.turn({ lane: 'person' }, signal);
    return turn === undefined ? NO_TURN : await this.#ask(request, schema, turn, asking);
  }

  async #ask<Value>(
    request: HttpRequest,
    schema: z.ZodType<Value>,
    turn: Turn,
    { onUnread, asked, isForPhotos }: Asking = {},
  ): Promise<Reply<Value>> {
    const received = (await this.#heldAtLast()) ?? (await this.#send(request, turn));
    const reply = isForPhotos ? uploadRefusal(received, request.secrets ?? []) : received;
    const [read, answer] = [aboutTheOneAsked(readReply(reply, schema), asked), answerOf(reply)];
    if (read.kind !== 'ok' && answer !== undefined && isSuccess(answer)) onUnread?.(answer);
    return read;
  }

  /** Ensures the lease. Returns a reply instead if the exchange has asked to wait since the turn came. */
  async #heldAtLast(): Promise<FailedReply | undefined> {
    await this.#options.lease.ensure();
    return this.#refusedFor(0);
  }

  async #send(request: HttpRequest, turn: Turn): Promise<UnreadReply> {
    turn.leave();
    const { transport, clock, gracePeriodOver, account } = this.#options;
    const askedAt = account.now();
    using sent = leaving(this.#options, request, turn.lane);
    const reply = (sent.reply = await ask(transport, clock, request, gracePeriodOver));
    // Answers of one turn are read together too. A reply that restrains the account counts at once.
    if (reply.kind === 'ok') await clock.turn();
    this.#note(reply, turn, askedAt);
    return reply;
  }

  #note(reply: UnreadReply, turn: Turn, askedAt: Date): void {
    const { health, news } = evidenceOf(reply, turn.lane);
    const isRateLimited = news?.kind === 'rate-limited';
    turn.report = { wasSent: reply.kind !== 'not-sent', health, isRateLimited };
    if (news === undefined) return;
    const hadRoom = reply.kind === 'rate-limited' && this.#gate.hasRoom;
    this.#options.account.note(hadRoom ? { ...reply, hadRoom } : news, askedAt);
  }

  /** The reply to a person while the exchange asks to wait, or the rate limit has no room for long. */
  #refusedFor(windowMs: number): FailedReply | undefined {
    const retryAfterMs = Math.max(this.#options.account.heldForMs('person'), windowMs > LONGEST_WAIT_MS ? windowMs : 0);
    return retryAfterMs > 0 ? { kind: 'rate-limited', retryAfterMs } : undefined;
  }
}
