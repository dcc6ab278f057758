import type Database from 'better-sqlite3';
import type { Judgement } from '../../../src/extensions/operate/rules/judgement.ts';
import type { HttpRequest } from '../../../src/exchange/transport/http.ts';
import type { SandboxExchange } from '../../../src/extensions/sandbox/exchange.ts';
import { quoted } from '../plan/names.ts';
import type { PlannedOrder } from '../plan/orders.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedSettings } from '../plan/settings.ts';
import { Books } from './books.ts';
import { checkEnd } from './end.ts';
import { HistoryChecks } from './history.ts';
import { Knowledge, type Create, type Known } from './known.ts';
import { OrderChecks } from './orders.ts';
import { PromptChecks } from './prompt.ts';
import { RequestChecks, type SentRequests, type WhatCame } from './requests.ts';
import { SlowedChecks } from './slowed.ts';
import { WaitChecks } from './waits.ts';
import type { Life } from '../scheduler.ts';

/** The message of the merchant's own trigger as it raises. */
export const SHOP_IS_BROKEN = 'the shop is broken';
const OF_SHOP = [SHOP_IS_BROKEN, 'a trigger changed', 'no such table: main.shop_log'];

/** Knows what the exchange really did, and checks after each step that the program keeps its promises. */
export class Observer {
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;
  readonly #requests: RequestChecks;
  readonly #history: HistoryChecks;
  readonly #orders: OrderChecks;
  readonly #waits: WaitChecks;
  readonly #slowed: SlowedChecks;
  readonly #prompt: PromptChecks;
  readonly #books: Books;
  readonly #readVersion: Database.Statement;
  #version: unknown;

  /** `sent`: the requests that count for its limit, if it shares one. */
  constructor(reader: Database.Database, plan: Plan, sent?: SentRequests) {
    const { account } = plan;
    this.#plan = plan;
    this.#knowledge = new Knowledge(account);
    const state = reader
      .prepare('select state from merchant_orders where account = ? and external_order_id = ?')
      .pluck();
    const stateOf = (id: string) => state.get(account, id) as string | undefined;
    this.#requests = new RequestChecks(plan, this.#knowledge, stateOf, sent);
    this.#history = new HistoryChecks(reader, plan, this.#knowledge);
    this.#orders = new OrderChecks(reader, plan, this.#knowledge, this.#history);
    const waits = reader.prepare("select until from account_holds where account = ? and kind = 'rate-limited'").pluck();
    this.#waits = new WaitChecks(plan, this.#knowledge, () => waits.get(account) as string | undefined);
    const slowed = reader.prepare("select since from account_holds where account = ? and kind = 'slowed'").pluck();
    this.#slowed = new SlowedChecks(plan, this.#knowledge, () => slowed.get(account) as string | undefined);
    this.#prompt = new PromptChecks(reader, plan, this.#knowledge);
    this.#books = new Books(reader, plan, this.#knowledge);
    this.#readVersion = reader.prepare('pragma data_version').pluck();
  }

  /** The first broken promise. */
  get violation(): string | undefined {
    return this.#knowledge.violation;
  }

  /** How many requests have arrived. */
  get requests(): number {
    return this.#requests.count;
  }

  /** How many orders a person has moved. */
  get decisions(): number {
    return [...this.#knowledge.all].reduce((sum, { decided }) => sum + decided.length, 0);
  }

  fail(promise: string, detail: string): void {
    this.#knowledge.fail(promise, detail);
  }

  /** The merchant has inserted a row. */
  inserted(order: PlannedOrder): void {
    this.#knowledge.add(order);
  }

  /** The merchant has corrected a row. */
  corrected(id: string, asset: string | null): void {
    this.#knowledge.of(id).asset = asset;
  }

  /** A person has moved an order. */
  decided(id: string, judgement: Judgement, from: string): void {
    const known = this.#knowledge.of(id);
    if (judgement.kind === 'exists') known.idsGiven.add(judgement.preOrderId);
    this.#decided(known, judgement.kind, from);
  }

  #decided(known: Known, judgement: Judgement['kind'], from: string): void {
    known.decided.push(judgement);
    // An order that the person knows to be not created, or takes the risk of, may leave again.
    const create = known.creates.at(-1);
    if (create !== undefined && (judgement === 'not-created' || judgement === 'retry')) create.isProvedNotTaken = true;
    if (judgement === 'retry' && (from === 'unknown' || from === 'held')) known.careless += 1;
  }

  /** A person has paused the account. */
  paused(kind: string): void {
    this.#requests.paused(kind);
  }

  /** A person allows creates again that were paused or stopped. */
  resumed(now: number): void {
    this.#requests.resumed(now);
  }

  /** The next process has other limits. */
  reloaded(limits: Pick<PlannedSettings, 'rate' | 'concurrency'>, now: number): void {
    this.#requests.reloaded(limits, now);
  }

  /** The program has written a line that leaves the process. */
  logged(line: string): void {
    if (line.includes('canary')) this.fail('secrets stay in', line);
    // If the merchant's own trigger raises, or its table is gone, the log must tell that.
    const isSkipped = this.#plan.trigger !== null && line.includes('was changed since it was read');
    const isOfShop = isSkipped || OF_SHOP.some((text) => line.includes(text));
    if (line.includes('an order cannot be written') && !isOfShop) this.fail('no bug', line);
  }

  /** A request leaves the process. */
  left(request: HttpRequest, id: string, life: Life, now: number): Create | undefined {
    this.#waits.left(`${request.method} ${quoted(this.#plan.account, id)}`, now);
    if (!this.#knowledge.has(id)) {
      this.fail('requests are of their own account', `${this.#plan.account} has no order ${JSON.stringify(id)}`);
      return undefined;
    }
    return this.#requests.left(request, id, life, now);
  }

  /** The outcome of a request has reached the process. */
  ended(request: HttpRequest, id: string, life: Life, { ending, create }: WhatCame, now: number): void {
    if (!this.#knowledge.has(id)) return;
    this.#waits.answered(ending, now);
    this.#slowed.ended(ending, id, request.method === 'POST' ? (create?.at ?? now) : undefined, now);
    this.#requests.ended(request, id, life, { ending, create });
  }

  /** Something on the way has sent a create twice. */
  doubled(id: string): void {
    this.#knowledge.of(id).doubled += 1;
  }

  /** The process has died: its requests in flight reach no process. */
  died(): void {
    this.#waits.died();
    this.#slowed.died();
  }

  /** An older copy was put in place: what the exchange and the observer know of requests stays. */
  restored(): void {
    this.#history.restored();
    this.#orders.restored();
    this.#slowed.restored();
    this.#version = undefined;
  }

  /** A person has taken all orders for sent, as they may have been since the copy was made. */
  takenForSent(): void {
    for (const known of this.#knowledge.all) known.isTakenForSent = true;
  }

  /** A standby was promoted: its orders may have been sent, and what a person decided in the time that it lacks is recorded nowhere. */
  promoted(now: number): void {
    this.#history.promoted();
    this.restored();
    this.takenForSent();
    this.#requests.promoted(now);
    for (const known of this.#knowledge.all) known.decided.length = this.#history.decisionsOf(known.order.id);
  }

  /** A person has asked the exchange, which has no pre-order of it: it may leave again. */
  knownNotSent(id: string): void {
    for (const create of this.#knowledge.of(id).creates) create.isProvedNotTaken = true;
  }

  /** The amount that the shop last wrote; undefined before it inserted the order. */
  assetOf(id: string): string | null | undefined {
    return this.#knowledge.has(id) ? this.#knowledge.of(id).asset : undefined;
  }

  /** How many creates have left. */
  get creates(): number {
    return [...this.#knowledge.all].reduce((sum, { creates }) => sum + creates.length, 0);
  }

  /** A request has arrived at the exchange. */
  arrived(now: number): void {
    this.#requests.arrived(now);
  }

  /** Checks that nothing waits for other accounts; `quietForMs`: for how long a process has lived without trouble. */
  checkPrompt(wallMs: number, quietForMs: number): void {
    this.#prompt.check(wallMs, quietForMs);
  }

  /** Checks everything that the database says, when it says something new. */
  check(wallMs: number): void {
    const version = this.#readVersion.get();
    if (version === this.#version) return;
    this.#version = version;
    this.#history.check();
    this.#orders.check(wallMs, this.#requests.mostSending);
    this.#slowed.check();
  }

  /** Tells whether a check finds nothing broken; a finding is no violation yet. */
  holds(check: () => void): boolean {
    return this.#knowledge.holds(check);
  }

  /** Checks the state of everything once nothing has gone wrong for days. */
  checkEnd(exchange: SandboxExchange, wallMs: number): void {
    this.#history.checkEnd();
    checkEnd(this.#plan, this.#knowledge, this.#orders.rows(), exchange);
    this.#books.checkEnd(this.#orders.rows(), wallMs);
  }
}
