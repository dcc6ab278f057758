import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { CreateOutcome } from '../orders/rules/create.ts';
import { type MerchantOrder } from '../orders/rules/record.ts';
import type { BreakerLane } from './transport/breaker.ts';
import { evidenceOf, newsOfCreate, type AccountState } from './account.ts';
import { get, operationOf, ORDERS } from './addresses.ts';
import { Gate, type GateOptions, type Turn } from './transport/gate.ts';
import { pathId, queryId } from './ids.ts';
import { createRequest, readCreate, readLookup, type ReadingSettings } from './orders.ts';
import { ask, keepable, readReply, type AskedFor, type FailedReply, type Reply, type UnreadReply } from './reply.ts';
import type { HttpRequest, Send, Transport } from './transport/http.ts';

const LONGEST_WAIT_MS = 10_000;
const NO_TURN: FailedReply = { kind: 'not-sent', why: 'the request was cancelled before its turn came' };

export interface ClientOptions extends GateOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly reading: ReadingSettings;
  readonly account: AccountState;
  /** `ensure` resolves when a request may leave, and rejects if none may. `isTrusted` says if one still may. */
  readonly lease: { ensure(): Promise<void>; isTrusted(): boolean };
  readonly gracePeriodOver?: AbortSignal;
}

export type OrderLookup = NonNullable<Awaited<ReturnType<ExchangeClient['lookUpOrder']>>>;

export interface Question<Value> {
  readonly request: HttpRequest;
  readonly schema: z.ZodType<Value>;
  readonly asked?: AskedFor;
}

export type OrderExchange = Pick<
  ExchangeClient,
  'lastAnswered' | 'isSilent' | 'breaker' | 'turnToCreate' | 'createPreOrder' | 'lookUpOrder'
>;

/**
 * Each request waits for its turn, ensures the request lease and is sent once. `turnToCreate` and `lookUpOrder` return
 * undefined if no request may leave. `showPreOrder` and `showOrder` throw `UnusableIdError` if the id cannot be sent.
 * A bad or missing answer makes no method reject. If `ensure` rejects, so does the method, except `createPreOrder`.
 */
export class ExchangeClient {
  readonly #options: ClientOptions;
  readonly #gate: Gate;
  /** External order id of the last answered look-up; undefined if a later look-up of that order got no answer. */
  lastAnswered: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#gate = new Gate(options, options.clock);
  }

  /** True from the opening of a circuit breaker until a request is answered. */
  get isSilent(): boolean {
    return this.#gate.isSilent;
  }

  breaker(lane: BreakerLane) {
    return this.#gate.breaker(lane);
  }

  /** Waits for the turn of a create. The caller then records the intent, before it calls `createPreOrder`. */
  async turnToCreate(externalOrderId: string, signal: AbortSignal): Promise<Turn | undefined> {
    return await this.#gate.turn({ lane: 'create', subject: externalOrderId }, signal);
  }

  /** Sends a create (§4.9) once and ends the turn. With `isForbiddenAlone`, a documented 403 rejects only the order. */
  async createPreOrder(order: MerchantOrder, turnToUse: Turn, isForbiddenAlone = false): Promise<CreateOutcome> {
    using turn = turnToUse;
    try {
      // While the intent was recorded, the lease may have ended, or an answer may have asked to wait.
      if ((await this.#refusedBeforeLeaving()) !== undefined) throw new Error('the exchange has just asked to wait');
    } catch (error) {
      return { kind: 'not-sent', why: error instanceof Error ? error.message : String(error) };
    }
    const { account, reading } = this.#options;
    const askedAt = account.now();
    const read = readCreate(await this.#send(createRequest(order), turn), order, reading);
    const isRefused = read.kind === 'forbidden' && isForbiddenAlone;
    const outcome = isRefused ? ({ kind: 'rejected', reason: read.reason } as const) : read;
    const news = newsOfCreate(outcome);
    if (news !== undefined) account.note(news, askedAt);
    if (outcome.kind !== 'unknown' || outcome.answer === undefined) return outcome;
    return { ...outcome, answer: keepable(outcome.answer) };
  }

  /** Looks an order up (§4.11) once. With `isProbe`, the reply also decides if creates may go again. */
  async lookUpOrder(externalOrderId: string, signal?: AbortSignal, isProbe = false) {
    using turn = await this.#gate.turn({ lane: 'lookup', subject: externalOrderId, isProbe }, signal);
    if (turn === undefined) return undefined;
    // Look-ups of one turn of the event loop leave together, because the processor's caches then still have the code.
    await this.#options.clock.turn();
    if ((await this.#refusedBeforeLeaving()) !== undefined) return undefined;
    const askedAt = this.#options.clock.now();
    const reply = await this.#send(get(`${ORDERS}?externalOrderId=${encodeURIComponent(externalOrderId)}`), turn);
    const { health } = turn.report;
    if (health === 'answered') this.lastAnswered = externalOrderId;
    else if (this.lastAnswered === externalOrderId) this.lastAnswered = undefined;
    return { answer: readLookup(reply, externalOrderId, this.#options.reading), askedAt, health };
  }

  /** Asks in the lane of the look-ups. Returns undefined if no turn came. */
  async askInTurn<Value>({ request, schema, asked }: Question<Value>, subject: string, signal?: AbortSignal) {
    using turn = await this.#gate.turn({ lane: 'lookup', subject }, signal);
    return turn && readReply(await this.#sendInTime(request, turn), schema, asked);
  }

  /** Asks on behalf of a person. */
  async ask<Value>({ request, schema, asked }: Question<Value>, signal?: AbortSignal): Promise<Reply<Value>> {
    return readReply(await this.sendForPerson(request, signal), schema, asked);
  }

  /** Reads a pre-order (§4.10) as any JSON, so that a person also sees fields that §2.6 does not name. */
  async showPreOrder(preOrderId: string, signal?: AbortSignal) {
    const asked = { what: 'pre-order', field: 'id', id: preOrderId } as const;
    const request = get(`${ORDERS}/request/${pathId(preOrderId)}`);
    return await this.ask({ request, schema: z.unknown(), asked }, signal);
  }

  /** Reads an order record (§4.11) as any JSON. */
  async showOrder(externalOrderId: string, signal?: AbortSignal) {
    const asked = { what: 'order', field: 'externalOrderId', id: externalOrderId } as const;
    const request = get(`${ORDERS}?externalOrderId=${queryId(externalOrderId)}`);
    return await this.ask({ request, schema: z.unknown(), asked }, signal);
  }

  async close(): Promise<void> {
    this.#gate.close();
    await this.#options.transport.close();
  }

  /** `watched` wraps the function that sends, for a caller that needs the whole HTTP answer. */
  async sendForPerson(request: HttpRequest, signal?: AbortSignal, watched?: (send: Send) => Send) {
    const refused = this.#refusedFor(this.#gate.windowWaitMs ?? 0);
    if (refused !== undefined) return refused;
    using turn = await this.#gate.turn({ lane: 'person' }, signal);
    return turn === undefined ? NO_TURN : await this.#sendInTime(request, turn, watched);
  }

  async #sendInTime(request: HttpRequest, turn: Turn, watched?: (send: Send) => Send): Promise<UnreadReply> {
    return (await this.#refusedBeforeLeaving()) ?? (await this.#send(request, turn, watched));
  }

  /** Ensures the request lease. Returns `rate-limited` if the exchange has asked to wait since the turn came. */
  async #refusedBeforeLeaving(): Promise<FailedReply | undefined> {
    await this.#options.lease.ensure();
    return this.#refusedFor(0);
  }

  async #send(request: HttpRequest, turn: Turn, watched?: (send: Send) => Send): Promise<UnreadReply> {
    turn.leave();
    const { transport, clock, gracePeriodOver, account, lease, tell } = this.#options;
    const send: Send = (asked, signal) => transport.send(asked, signal, () => lease.isTrusted());
    const [askedAt, leftAt] = [account.now(), clock.monotonic()];
    tell?.({ kind: 'request.left' });
    const reply = await ask(watched?.(send) ?? send, clock, request, gracePeriodOver);
    // Successful answers of one turn of the event loop are read together. A failure counts at once.
    if (reply.kind === 'ok') await clock.turn();
    const evidence = evidenceOf(reply, turn.lane);
    const isKeyTried = request.headers?.['x-api-key'] !== undefined;
    // If the request has another key than the account's, only a 429 concerns the account.
    if (isKeyTried && reply.kind !== 'rate-limited') turn.report = { wasSent: true, health: 'answered' };
    else this.#note(reply, evidence, turn, askedAt);
    tell?.({
      kind: 'request.ended',
      operation: operationOf(request),
      outcome: reply.kind,
      tookMs: clock.monotonic() - leftAt,
      isAnswered: evidence.health === 'answered' || evidence.health === 'nothing',
    });
    return reply;
  }

  #note(reply: UnreadReply, { health, news }: ReturnType<typeof evidenceOf>, turn: Turn, askedAt: Date): void {
    const isRateLimited = news?.kind === 'rate-limited';
    turn.report = { wasSent: reply.kind !== 'not-sent', health, isRateLimited };
    if (news === undefined) return;
    const hadRoom = reply.kind === 'rate-limited' && this.#gate.windowWaitMs === 0;
    this.#options.account.note(hadRoom ? { ...reply, hadRoom } : news, askedAt);
  }

  /** Returns `rate-limited` while the exchange asks to wait, or if the rate limit's wait (`windowMs`) exceeds 10 s. */
  #refusedFor(windowMs: number): FailedReply | undefined {
    const retryAfterMs = Math.max(
      this.#options.account.stoppedForMs('person'),
      windowMs > LONGEST_WAIT_MS ? windowMs : 0,
    );
    return retryAfterMs > 0 ? { kind: 'rate-limited', retryAfterMs } : undefined;
  }
}
