import PQueue from 'p-queue';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { WebhookEndpoint } from '../../config/webhooks.ts';
import { MOST_REFUSED_IN_A_ROW, type DeliveryOutcome } from '../../domain/events/delivery.ts';
import { feedEventOf, type EventRow } from '../../domain/events/feed.ts';
import { messageOf } from '../../domain/text.ts';
import { isPassing, OwnedError } from '../../store/errors.ts';
import { readFeed } from '../../store/feed.ts';
import type { Holding, Store } from '../../store/port.ts';
import { webhookCursor } from '../../store/webhooks/cursors.ts';
import { park, type ParkedRow } from '../../store/webhooks/parked.ts';
import { eventKey, hasDue, parkedKey, type AccountDelivery } from './account.ts';
import { EndpointCondition } from './condition.ts';
import { giveUp, newlyParked, sendParked } from './parked.ts';
import { dueParked, lanesOf, type DueParked } from './lanes.ts';
import type { WebhookSender } from './sender.ts';
import { Suspects } from './suspects.ts';

/** Requests of an endpoint that are under way at the same time. */
const MOST_IN_FLIGHT = 8;
/** Accounts whose events are read at the same time, and the events of one that are. */
const [ACCOUNTS_AT_A_TIME, PAGE, MOST_READ] = [8, 100, 10_000];
/** Orders that an endpoint may have parked: what it refuses beyond them becomes a dead letter at once. */
const MOST_PARKED = 1_000;

/** What an endpoint is sent events with. */
export interface EndpointDeps {
  readonly endpoint: WebhookEndpoint;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Logger;
  /** Nothing more is begun. */
  readonly stop: AbortSignal;
  /** What is under way is broken off: it is sent again by the next process, with the same id. */
  readonly breakOff: AbortSignal;
}

/**
 * Sends the events of accounts to one endpoint: those of an order one after the other, those of different orders beside each
 * other. An endpoint that fails keeps nobody else waiting, and each cursor stands still until it is back.
 */
export class EndpointDelivery {
  readonly condition: EndpointCondition;
  readonly #deps: EndpointDeps;
  readonly #accounts = new Map<string, AccountDelivery>();
  readonly #turns = new PQueue({ concurrency: ACCOUNTS_AT_A_TIME });
  readonly #sends = new PQueue({ concurrency: MOST_IN_FLIGHT });
  /** Names of what was refused since an event was last taken. */
  readonly #refused = new Set<string>();
  readonly #suspects = new Suspects();
  #takenCount = 0;
  #parkedCount = 0;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
    this.condition = new EndpointCondition(deps.endpoint.name, deps.clock, deps.log);
  }

  get name(): string {
    return this.#deps.endpoint.name;
  }

  get accounts(): Iterable<AccountDelivery> {
    return this.#accounts.values();
  }

  /** Takes the events of an account from now on. */
  add(holding: Holding, store: Store, parked: readonly ParkedRow[]): void {
    const { account } = holding;
    const before = this.#accounts.get(account);
    if (before !== undefined) this.remove(before.holding);
    const its: AccountDelivery = {
      account,
      holding,
      store,
      cursor: undefined,
      written: undefined,
      isBehind: false,
      isQueued: false,
      isRunning: false,
      taken: new Set(),
      parked: new Map(parked.map((row) => [parkedKey(row), { row, takenBefore: 0, takenTo: 0 }])),
    };
    this.#parkedCount += parked.length;
    this.#accounts.set(account, its);
  }

  remove(holding: Holding): void {
    const its = this.#accounts.get(holding.account);
    if (its?.holding !== holding) return;
    this.#parkedCount -= its.parked.size;
    this.#accounts.delete(holding.account);
  }

  /** An account may have new events. */
  wake(account: string): void {
    const its = this.#accounts.get(account);
    if (its === undefined) return;
    its.isBehind = true;
    if (!this.condition.isHalted) this.#queue(its);
  }

  /** Tries an endpoint again that has failed, and sends again what is parked, each when it is time. */
  eachSecond(): void {
    if (this.condition.tryAgain()) this.#sends.concurrency = 1;
    if (!this.condition.isHalted) this.#queueAll();
    if (this.#turns.size + this.#turns.pending === 0) this.condition.triedAll();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#turns.onIdle();
  }

  /** Closes the connections. */
  close(): void {
    this.#deps.sender[Symbol.dispose]();
  }

  #queueAll(): void {
    const now = this.#deps.clock.now().toISOString();
    for (const its of this.#accounts.values()) if (its.isBehind || hasDue(its, now)) this.#queue(its);
  }

  #queue(its: AccountDelivery): void {
    if (its.isQueued || its.isRunning || this.#isOver(its)) return;
    its.isQueued = true;
    void this.#turns.add(() => this.#turn(its));
  }

  /** Another process may send the events of the account, or this one is to stop. */
  #isOver({ holding }: AccountDelivery): boolean {
    return this.#deps.stop.aborted || holding.ending.aborted || !holding.isTrusted();
  }

  async #turn(its: AccountDelivery): Promise<void> {
    its.isQueued = false;
    if (this.#isOver(its) || this.condition.isHalted) return;
    its.isRunning = true;
    try {
      await this.#deliver(its);
    } catch (error) {
      // Another process owns the account from now on.
      if (error instanceof OwnedError) this.remove(its.holding);
      else if (!isPassing(error)) this.condition.failed(messageOf(error));
      its.isRunning = false;
      its.isBehind = true;
      return;
    }
    its.isRunning = false;
    if (its.isBehind && !this.condition.isHalted) this.#queue(its);
  }

  /** Sends what is parked and due, and the next events; what the endpoint has failed at comes after all else. */
  async #deliver(its: AccountDelivery): Promise<void> {
    const { endpoint, clock } = this.#deps;
    const { db } = its.store;
    its.written ??= await webhookCursor(db, { endpoint: endpoint.name, account: its.account });
    its.cursor ??= its.written;
    const { isBehind } = its;
    // Whoever adds events meanwhile says so again.
    its.isBehind = false;
    const { rows, isEnd } = isBehind ? await this.#readNext(its, its.cursor) : { rows: [], isEnd: true };
    const due = this.#suspects.inTurn(dueParked(its, clock.now().toISOString()));
    const { lanes } = lanesOf(its, rows, endpoint.events);
    const isParkedFirst = this.#suspects.firstTurn(due) <= this.#suspects.firstTurn(lanes);
    if (isParkedFirst) await this.#sendParked(its, due);
    await this.#deliverPage(its, rows);
    if (its.cursor !== (rows.at(-1)?.id ?? its.cursor) || !isEnd) its.isBehind = true;
    if (!isParkedFirst) await this.#sendParked(its, due);
  }

  /** Reads the next events: more than a page if the endpoint has failed at all its orders, so that others get a turn. */
  async #readNext({ account, store, ...its }: AccountDelivery, cursor: number) {
    for (let rows: readonly EventRow[] = []; ;) {
      const page = await readFeed(store.db, { account, afterId: rows.at(-1)?.id ?? cursor, limit: PAGE });
      rows = [...rows, ...page];
      const { lanes } = lanesOf(its, rows, this.#deps.endpoint.events);
      const isEnd = page.length < PAGE;
      if (isEnd || rows.length >= MOST_READ || !this.#suspects.areAll(lanes)) return { rows, isEnd };
    }
  }

  async #deliverPage(its: AccountDelivery, rows: readonly EventRow[]): Promise<void> {
    const { lanes, passed } = lanesOf(its, rows, this.#deps.endpoint.events);
    const inTurn = this.#suspects.inTurn(lanes);
    // None is under way when the next turn of the account begins.
    const ended = await Promise.allSettled(inTurn.map(({ rows: lane }) => this.#deliverLane(its, lane, passed)));
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    for (const { id } of rows) {
      if (!passed.has(id) && !its.taken.has(id)) break;
      its.cursor = id;
      its.taken.delete(id);
    }
  }

  /** Sends the events of one order, each after the one before it was taken. */
  async #deliverLane(its: AccountDelivery, lane: readonly EventRow[], passed: Set<number>): Promise<void> {
    for (const [index, row] of lane.entries()) {
      const outcome = await this.#send(its, row);
      if (outcome === undefined || outcome.kind === 'unavailable') return;
      if (outcome.kind === 'refused' && (await this.#park(its, row, outcome.status))) {
        for (const { id } of lane.slice(index)) passed.add(id);
        return;
      }
      // Taken, or a dead letter.
      its.taken.add(row.id);
    }
  }

  /** Sends an event when it is its turn; undefined where nothing is to be sent now. */
  async #send(its: AccountDelivery, row: EventRow): Promise<DeliveryOutcome | undefined> {
    const { sender, breakOff } = this.#deps;
    const name = eventKey(row);
    return await this.#sends.add(async () => {
      const isOver = () => this.#isOver(its);
      if (isOver() || this.condition.isHalted) return undefined;
      const outcome = await sender.send(feedEventOf(row), { signal: breakOff, isOver });
      if (outcome.kind === 'taken') this.#took(name);
      if (outcome.kind === 'unavailable') {
        // What was broken off, or not sent again, says nothing of the endpoint.
        if (isOver()) return outcome;
        const { status, cause, retryAfterMs } = outcome;
        if (status !== undefined && this.#suspects.failed(name, this.#takenCount)) return { kind: 'refused', status };
        this.#putLast(its);
        this.condition.failed(cause, retryAfterMs);
      }
      if (outcome.kind !== 'refused') return outcome;
      this.condition.refused(outcome.status);
      if (this.#refused.size < MOST_REFUSED_IN_A_ROW) return outcome;
      this.condition.failed(`it answers ${outcome.status} to all events; check its address and its secret`);
      return undefined;
    });
  }

  #took(name: string): void {
    this.#takenCount += 1;
    this.#suspects.taken(name);
    if (this.condition.took()) {
      this.#sends.concurrency = MOST_IN_FLIGHT;
      this.#retryRefused();
      this.#queueAll();
    }
    this.#refused.clear();
  }

  /** What the endpoint refused while it took nothing was not the fault of those events. */
  #retryRefused(): void {
    const next_try_at = this.#deps.clock.now().toISOString();
    for (const its of this.#accounts.values()) {
      for (const [key, parked] of its.parked) {
        if (this.#refused.has(`${its.account} ${key}`)) parked.row = { ...parked.row, next_try_at, tries: 0 };
      }
    }
  }

  /** When the endpoint is tried again, the events of the others come first. */
  #putLast(its: AccountDelivery): void {
    if (this.#accounts.get(its.account) !== its) return;
    this.#accounts.delete(its.account);
    this.#accounts.set(its.account, its);
  }

  /** Parks an order with the event that was refused. Gives false where there are too many already: that event is a dead letter. */
  async #park(its: AccountDelivery, event: EventRow, status: number): Promise<boolean> {
    const { endpoint, clock, log } = this.#deps;
    const row = newlyParked(endpoint.name, event, status, clock.now());
    if (this.#parkedCount >= MOST_PARKED) {
      this.#refused.add(eventKey(event));
      await giveUp(its, row, clock.now());
      this.condition.parkedTooMany(MOST_PARKED, status);
      return false;
    }
    const key = parkedKey(row);
    this.#refused.add(`${its.account} ${key}`);
    await its.store.writer.write(async (tx) => await park(tx, row));
    this.#parkedCount += 1;
    its.parked.set(key, { row, takenBefore: this.#takenCount, takenTo: 0 });
    const facts = { endpoint: endpoint.name, account: row.account, kind: row.kind, subject: row.subject, status };
    log.warn(facts, 'a webhook endpoint refuses an event; it is tried again, and the later ones of its order wait');
    return true;
  }

  async #sendParked(its: AccountDelivery, due: readonly DueParked[]): Promise<void> {
    for (const { key } of due) {
      const parked = its.parked.get(key);
      if (parked === undefined || this.condition.isHalted || this.#isOver(its)) return;
      const send = async (row: EventRow) => await this.#send(its, row);
      const mayEnd = () => this.#takenCount > parked.takenBefore;
      const isCaughtUp = await sendParked({ ...this.#deps, send, mayEnd }, its, parked);
      if (!isCaughtUp) continue;
      its.parked.delete(key);
      this.#parkedCount -= 1;
    }
  }
}
