import PQueue from 'p-queue';
import type { Logger } from 'pino';
import { afterFailure, afterRefusal, isAtFault, MOST_REFUSED_IN_A_ROW, newDelivery } from './delivery.ts';
import type { Delivery, DeliveryOutcome } from './delivery.ts';
import { feedEventOf, type EventRow } from '../feed/event.ts';
import { messageOf } from '../../base/text.ts';
import { isPassing, OwnedError } from '../../store/errors.ts';
import type { AccountLease, Store } from '../../store/port.ts';
import { countRetrying } from './tables/deliveries.ts';
import { AccountDelivery, endOfTurn, PAGE, subjectsOf, type Results, type SubjectEvents } from './turn.ts';
import { EndpointCondition } from './condition.ts';
import { webhookSender, type SenderOptions, type WebhookSender } from './sender.ts';

const MOST_IN_FLIGHT = 8;
const ACCOUNTS_AT_A_TIME = 8;
/** The most orders with a retried event, per endpoint. Refused events of further orders become dead letters at once. */
const MOST_RETRYING = 1_000;

interface EndpointDeps extends SenderOptions {
  readonly log: Logger;
  readonly stop: AbortSignal;
  /** Breaks off requests in flight. The next process sends their events again, with the same ids. */
  readonly breakOff: AbortSignal;
}

/**
 * Sends the events of an order one after another, and events of different orders in parallel. A refused event and all
 * later events of its order become rows (`Delivery`). An order's oldest row that is no dead letter is sent when due.
 */
export class EndpointDelivery {
  readonly condition: EndpointCondition;
  /** The facts of the condition that were last written to the database, as JSON. */
  noted = '';
  readonly name: string;
  readonly accounts = new Map<string, AccountDelivery>();
  readonly #deps: EndpointDeps;
  readonly #sender: WebhookSender;
  readonly #turns = new PQueue({ concurrency: ACCOUNTS_AT_A_TIME });
  readonly #sends = new PQueue({ concurrency: MOST_IN_FLIGHT });
  /** The events refused since the endpoint last accepted an event, by account and id. */
  readonly #refused = new Map<string, EventRow>();
  #retrying = 0;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
    this.name = deps.endpoint.name;
    this.#sender = webhookSender(deps);
    this.condition = new EndpointCondition(deps.clock, deps.log.child({ endpoint: this.name }));
  }

  add(accountLease: AccountLease, store: Store, dueAt: string | undefined): void {
    this.accounts.set(accountLease.account, new AccountDelivery(this.#deps.endpoint, accountLease, store, dueAt));
  }

  remove(accountLease: AccountLease): void {
    if (this.accounts.get(accountLease.account)?.accountLease === accountLease)
      this.accounts.delete(accountLease.account);
  }

  wake(account: string): void {
    const delivery = this.accounts.get(account);
    if (delivery === undefined) return;
    delivery.isBehind = true;
    if (!this.condition.isHalted) this.#queue(delivery);
  }

  eachSecond(): void {
    // Tries one event and account at a time. In parallel, the account that is read first would always be tried first.
    if (this.condition.tryAgain()) this.#sends.concurrency = this.#turns.concurrency = 1;
    if (!this.condition.isHalted) this.#queueAll();
    if (this.#turns.size + this.#turns.pending === 0) this.condition.triedAll();
  }

  async idle(): Promise<void> {
    await this.#turns.onIdle();
  }

  close(): void {
    this.#sender[Symbol.dispose]();
  }

  #queueAll(): void {
    for (const delivery of this.accounts.values()) if (delivery.hasWork(this.#deps.clock.now())) this.#queue(delivery);
  }

  #queue(delivery: AccountDelivery): void {
    if (delivery.isBusy || this.#isOver(delivery)) return;
    delivery.isBusy = true;
    void this.#turns.add(() => this.#turn(delivery));
  }

  #isOver({ accountLease }: AccountDelivery): boolean {
    return this.#deps.stop.aborted || accountLease.ending.aborted || !accountLease.isTrusted();
  }

  async #turn(delivery: AccountDelivery): Promise<void> {
    let hasProgressed = false;
    try {
      if (!this.#isOver(delivery) && !this.condition.isHalted) hasProgressed = await this.#deliver(delivery);
    } catch (error) {
      if (error instanceof OwnedError) this.remove(delivery.accountLease);
      else if (!isPassing(error)) this.condition.failed(messageOf(error));
      delivery.isBehind = true;
    }
    delivery.isBusy = false;
    delivery.isWriting = false;
    if (hasProgressed && delivery.hasWork(this.#deps.clock.now()) && !this.condition.isHalted) this.#queue(delivery);
  }

  /** Sends due rows and the next events. Returns true if an event was sent, a row ended or the cursor moved. */
  async #deliver(delivery: AccountDelivery): Promise<boolean> {
    const { clock, stop } = this.#deps;
    await delivery.retryAnew(clock.now());
    const isDue = delivery.isDueAt(clock.now());
    const { cursor: before, ...turn } = await delivery.readTurn(clock.now());
    const results: Results = new Map();
    const ends = subjectsOf(turn).map((events) => this.#sendSubject(delivery, events, results));
    const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const { cursor, changes } = endOfTurn(turn, results, before);
    const hasRows = changes.kept.length + changes.ended.length > 0;
    if (hasRows) await delivery.writeTurn(cursor, changes, stop);
    for (const row of changes.kept) this.#logRow(row);
    delivery.cursor = cursor;
    if (turn.page.length === PAGE || cursor < (turn.page.at(-1)?.id ?? cursor)) delivery.isBehind = true;
    if (hasRows || isDue) {
      await delivery.readDueAt();
      await this.countRetrying(delivery.store);
    }
    return results.size + changes.ended.length > 0 || cursor !== before;
  }

  async #sendSubject(delivery: AccountDelivery, { delivery: row, events }: SubjectEvents, results: Results) {
    const { clock } = this.#deps;
    for (const event of events) {
      const outcome = await this.#send(delivery, event, row);
      if (outcome === undefined) return;
      if (outcome.kind === 'taken') {
        results.set(event.id, 'taken');
        continue;
      }
      const now = clock.now();
      const before = row ?? newDelivery(this.name, event, 'waiting');
      const facts = { now, takenAt: this.condition.facts.takenAt, isFull: this.#retrying >= MOST_RETRYING };
      const after =
        outcome.kind === 'refused' ? afterRefusal(before, outcome.status, facts) : afterFailure(before, now);
      results.set(event.id, after);
      if (after.status !== 'dead') return;
    }
  }

  /** Queues and sends an event. Returns undefined if the event may not be sent, or if the request was broken off. */
  async #send(delivery: AccountDelivery, event: EventRow, row?: Delivery): Promise<DeliveryOutcome | undefined> {
    return await this.#sends.add(async () => {
      const isOver = () => this.#isOver(delivery);
      if (isOver() || this.condition.isHalted) return undefined;
      const outcome = await this.#sender.send(feedEventOf(event), { signal: this.#deps.breakOff, isOver });
      if (outcome.kind === 'refused') return this.#refusedBy(event, outcome.status);
      if (outcome.kind === 'taken') {
        this.#noteDelivery();
        return outcome;
      }
      const { status, cause, retryAfterMs } = outcome;
      // If `isOver()`, the request may have been broken off or not repeated, so only a Retry-After counts.
      if (isOver() && retryAfterMs !== undefined) this.condition.failed(cause, retryAfterMs);
      if (isOver()) return undefined;
      if (status !== undefined && row !== undefined && isAtFault(row, this.condition.facts.takenAt)) {
        this.#refused.set(nameOf(event), event);
        return { kind: 'refused', status };
      }
      // The account moves to the end, so that the next try begins with another account.
      const { account } = delivery.key;
      if (this.accounts.get(account) === delivery) {
        this.accounts.delete(account);
        this.accounts.set(account, delivery);
      }
      this.condition.failed(cause, retryAfterMs);
      return outcome;
    });
  }

  #refusedBy(event: EventRow, status: number): DeliveryOutcome {
    this.condition.refused(status);
    if (this.#refused.size < MOST_REFUSED_IN_A_ROW) {
      this.#refused.set(nameOf(event), event);
      return { kind: 'refused', status };
    }
    const cause = `it answers ${status} to all events`;
    this.condition.failed(cause);
    return { kind: 'unavailable', cause };
  }

  #noteDelivery(): void {
    if (this.condition.noteDelivery()) {
      this.#sends.concurrency = MOST_IN_FLIGHT;
      this.#turns.concurrency = ACCOUNTS_AT_A_TIME;
      for (const { account, id } of this.#refused.values()) this.accounts.get(account)?.refusedInVain.push(id);
      for (const delivery of this.accounts.values()) if (delivery.refusedInVain.length > 0) delivery.isBehind = true;
      this.#queueAll();
    }
    this.#refused.clear();
  }

  #logRow({ endpoint, account, kind, subject, event_id: eventId, status, attempts, answer }: Delivery): void {
    const facts = { endpoint, account, kind, subject, eventId, status: answer };
    const refuses = 'a webhook endpoint refuses an event; the event is retried, and later events of its order wait';
    if (status === 'retrying' && attempts === 1) this.#deps.log.warn(facts, refuses);
    if (status !== 'dead') return;
    if (attempts === 1) return this.condition.refusesTooMany(MOST_RETRYING, answer);
    const text = 'a webhook endpoint refused an event at every attempt; order-sync webhooks resend sends it again';
    this.#deps.log.warn(facts, text);
  }

  async countRetrying({ db }: Pick<Store, 'db'>): Promise<void> {
    this.#retrying = await countRetrying(db, this.name, MOST_RETRYING);
  }
}

function nameOf({ account, id }: EventRow): string {
  return `${account} ${id}`;
}
