import { after } from '../../base/instant.ts';
import { messageOf } from '../../base/text.ts';
import { BREAKER_LANES, type BreakerLane } from '../../exchange/transport/breaker.ts';
import { insertHappenings, newestChange, newestOfAccount } from '../../store/tables/events.ts';
import type { Failure, HeardAccount, Listener, LiveAccount, ProcessEvent } from '../../orders/pass/process-events.ts';
import { countWaiting, MOST_COUNTED, type WaitingOrders } from '../../store/find-orders.ts';
import { IncidentStory, messagesOf, type Condition, type IncidentKind, type IncidentNews } from './incident-story.ts';

const LANE_NAMES: Readonly<Record<BreakerLane, string>> = { create: 'creates', lookup: 'look-ups' };
/** If this many orders in a row have unreadable records, an event of the account says so. */
const UNREADABLE_ORDERS = 3;
const TROUBLES = {
  exchange: ['out-of-reach', 'the exchange answers'],
  answers: ['cannot-be-read', 'an order record was read'],
} as const;
type Trouble = keyof typeof TROUBLES;
const UNWRITTEN = 'the event about an outage of the exchange, or about unreadable order records, was not written';
const GATHER_STATUSES_MS = 10_000;
const MOST_STATUSES = 20;
/** The settings can say only for `order.status` which values are final. */
const ORDER_STATUSES = '; follow.openStatuses and follow.finalStatuses may say which values of order.status are final';

export class Incidents implements Listener {
  readonly #deps: HeardAccount;
  readonly #story = new IncidentStory();
  readonly #troubles = new Set<Trouble>();
  readonly #unreadable = new Set<string>();
  readonly #begun = new Map<IncidentKind, { readonly since: string; heldUp?: WaitingOrders }>();
  readonly #statuses = new Set<string>();
  #statusesSince = 0;
  #live: LiveAccount | undefined;
  #exchangeCause: string | undefined;
  /** The file or setting of the key refused since the start. A hold from before the start may concern another key. */
  #refusedKey: string | undefined;
  #later: IncidentNews[] = [];
  #hasPending = true;

  private constructor(deps: HeardAccount) {
    this.#deps = deps;
  }

  static async open(this: void, deps: HeardAccount): Promise<Incidents> {
    const incidents = new Incidents(deps);
    for (const trouble of ['exchange', 'answers'] as const)
      if ((await newestOfAccount(deps.store.db, deps.account, trouble)) !== null) incidents.#troubles.add(trouble);
    return incidents;
  }

  hear(event: ProcessEvent): void {
    switch (event.kind) {
      case 'account.wired':
        this.#live = event.live;
        // A hold from before the start is observed now, because the first request may end the hold.
        this.#observe();
        break;
      case 'failed':
        this.#fail(event.failure);
        break;
      case 'exchange.failed':
        this.#exchangeCause = event.cause;
        this.#observe();
        this.#story.explain('exchange');
        break;
      case 'exchange.served':
        if (this.#troubles.has('exchange') && this.#failingLanes().length === 0) this.#record('exchange', null);
        break;
      case 'key.refused':
        // An exchange that refuses a key is within reach, although the circuit breakers may still be open.
        this.#exchangeCause = undefined;
        // A `key-refused` hold from before the start was not logged, so this refusal begins the incident anew.
        if (this.#refusedKey === undefined) this.#story.forget('key-refused');
        this.#refusedKey = event.place;
        this.#record('exchange', null);
        break;
      case 'record.read':
        this.#unreadable.clear();
        this.#record('answers', null);
        break;
      case 'record.unreadable':
        this.#recordUnreadable(event.externalOrderId);
        break;
      case 'status.new':
        if (this.#statuses.size === 0) this.#statusesSince = this.#deps.clock.monotonic();
        this.#statuses.add(`${event.field} ${event.value}`);
        break;
      default:
    }
  }

  #recordUnreadable(externalOrderId: string): void {
    if (this.#unreadable.size < UNREADABLE_ORDERS) this.#unreadable.add(externalOrderId);
    if (this.#unreadable.size === UNREADABLE_ORDERS) {
      this.#record('answers', `order records cannot be read, for example the record of ${[...this.#unreadable][0]}`);
    }
  }

  #fail(failure: Failure): void {
    const { clock, log } = this.#deps;
    if (failure.kind === 'exchange') this.#exchangeCause = failure.cause;
    this.#observe();
    if (!this.#story.fail(failure, clock.monotonic())) return;
    const { message, cause, level = 'warn', facts } = failure;
    log[level]({ ...facts, cause }, message);
  }

  async eachSecond(): Promise<void> {
    const { clock } = this.#deps;
    if (this.#isFailing('create')) this.#hasPending = (await this.#countWaiting(1))?.pending !== 0;
    this.#observe();
    for (const news of this.#later.splice(0)) await this.#report(news);
    const now = clock.monotonic();
    this.#reportRepeated(this.#story.takeRepeated(now));
    if (this.#statuses.size > 0 && now - this.#statusesSince >= GATHER_STATUSES_MS) this.#reportStatuses();
  }

  close(): void {
    const { ended, repeated } = this.#story.close(this.#deps.clock.monotonic());
    for (const news of ended) this.#write(news);
    this.#reportRepeated(repeated);
    if (this.#statuses.size > 0) this.#reportStatuses();
  }

  #observe(): void {
    for (const news of this.#story.observe(this.#conditions(), this.#deps.clock.monotonic())) {
      if (news.stage === 'begun') this.#write(news);
      else this.#later.push(news);
    }
  }

  #conditions(): readonly Condition[] {
    const unwritten = this.#whyUnwritten();
    const database = unwritten === undefined ? [] : [{ kind: 'database', cause: unwritten } as const];
    const { restraints } = this.#live ?? {};
    const held = restraints?.all.map(({ kind, reason: cause, since }) => {
      return { kind, cause, lastedMs: Math.max(0, restraints.now().getTime() - since.getTime()) };
    });
    const cause = this.#exchangeCause;
    const isOutOfReach = cause !== undefined && this.#failingLanes().length > 0;
    return [...database, ...(isOutOfReach ? [{ kind: 'exchange', cause } as const] : []), ...(held ?? [])];
  }

  #whyUnwritten(): string | undefined {
    const { writer, mark } = this.#deps.store;
    try {
      mark.assertWritten();
    } catch (error) {
      return messageOf(error);
    }
    return (writer.failure ?? this.#live?.accountLease.failure)?.message;
  }

  /** Returns lanes whose circuit breaker opened; none if only creates fail, no order waits and the exchange answers. */
  #failingLanes(): readonly BreakerLane[] {
    const failing = BREAKER_LANES.filter((lane) => this.#isFailing(lane));
    const isSilent = this.#live?.exchange.isSilent === true;
    const concernsNoOrder = failing.join() === 'create' && !isSilent && !this.#hasPending;
    return concernsNoOrder ? [] : failing;
  }

  #isFailing(lane: BreakerLane): boolean {
    return (this.#live?.exchange.breaker(lane).openings ?? 0) > 0;
  }

  async #report(news: IncidentNews): Promise<void> {
    const { kind, stage, failures } = news;
    const isHold = kind !== 'exchange' && kind !== 'database';
    if (stage === 'ended') return this.#write(news, undefined, isHold ? await this.#endOf(kind) : {});
    const conditions = this.#conditions();
    // While the exchange is out of reach, the log line about the exchange names the holds.
    if (stage === 'lasting' && isHold && conditions.some((one) => one.kind === 'exchange')) return;
    const waiting = await this.#countWaiting();
    const begun = this.#begun.get(kind);
    if (waiting !== undefined && begun !== undefined) {
      const { pending, lookupsDue } = begun.heldUp ?? waiting;
      const most = Math.max(lookupsDue, waiting.lookupsDue);
      begun.heldUp = { pending: Math.max(pending, waiting.pending), lookupsDue: most };
    }
    const isWorthReporting = failures > 0 || waiting === undefined || waiting.pending + waiting.lookupsDue > 0;
    if (stage === 'lasting' && isWorthReporting) this.#write(news, waiting);
  }

  async #endOf(kind: IncidentKind): Promise<object> {
    const { store, account } = this.#deps;
    const change = await newestChange(store.db, { account, field: 'hold' }).catch(() => undefined);
    if (change?.old_value !== kind) return {};
    return { reason: change.reason, ...(change.actor !== null && { actor: change.actor }) };
  }

  #write({ kind, stage, cause, lastedMs: ms, failures }: IncidentNews, waiting?: WaitingOrders, end?: object): void {
    const { log, clock } = this.#deps;
    const [level, begins, lasts, ends] = messagesOf(kind);
    const lastedMs = Math.round(ms);
    const begun = this.#begun.get(kind) ?? { since: after(clock.now(), -lastedMs).toISOString() };
    this.#begun.set(kind, begun);
    const { since, heldUp } = begun;
    const counted = stage === 'ended' ? heldUp : waiting;
    const isCut = counted !== undefined && Math.max(counted.pending, counted.lookupsDue) === MOST_COUNTED;
    const counts = { ...counted, ...(isCut && { countedTo: MOST_COUNTED }), failures, lastedMs };
    if (stage === 'ended') {
      log.info({ ...counts, kind, since, cause, ...end }, ends);
      this.#begun.delete(kind);
      return;
    }
    if (kind === 'key-refused' && this.#refusedKey === undefined) return;
    const facts = { kind, since, ...this.#factsOf(kind), cause };
    if (stage === 'lasting') return log[level]({ ...counts, ...facts }, lasts);
    if (kind === 'exchange') this.#record('exchange', cause);
    log[level](facts, begins);
  }

  #factsOf(kind: IncidentKind): Readonly<Record<string, unknown>> {
    const { exchange, restraints } = this.#live ?? {};
    if (kind === 'exchange') {
      const lanes = this.#failingLanes();
      const requests = lanes.map((lane) => LANE_NAMES[lane]).join(' and ');
      const waits = lanes.map((lane) => exchange?.breaker(lane).openForMs ?? 0);
      const kinds = restraints?.all.map((hold) => hold.kind) ?? [];
      return { requests, ...(kinds.length > 0 && { holds: kinds }), ...this.#nextTry(Math.min(...waits)) };
    }
    const hold = restraints?.all.find((one) => one.kind === kind);
    if (restraints === undefined || hold === undefined) return {};
    const { until, actor } = hold;
    const nextTry = until === null ? {} : this.#nextTry(until.getTime() - restraints.now().getTime());
    return { ...nextTry, ...(kind === 'key-refused' && { key: this.#refusedKey }), ...(actor !== null && { actor }) };
  }

  #nextTry(inMs: number): Readonly<Record<string, string>> {
    return Number.isFinite(inMs) ? { nextTry: after(this.#deps.clock.now(), Math.max(0, inMs)).toISOString() } : {};
  }

  #reportRepeated(repeated: ReturnType<IncidentStory['takeRepeated']>): void {
    for (const { message, cause, times } of repeated) this.#deps.log.warn({ times, cause }, message);
  }

  #reportStatuses(): void {
    const statuses = [...this.#statuses];
    this.#statuses.clear();
    const isOfOrders = statuses.some((status) => status.startsWith('order.status '));
    this.#deps.log.info(
      { count: statuses.length, statuses: statuses.slice(0, MOST_STATUSES) },
      `the exchange uses statuses that were not seen before: no action is needed${isOfOrders ? ORDER_STATUSES : ''}`,
    );
  }

  async #countWaiting(limit = MOST_COUNTED) {
    const { store, account, clock } = this.#deps;
    return await countWaiting(store.db, { account, now: clock.now(), limit }).catch(() => undefined);
  }

  #record(field: Trouble, cause: string | null): void {
    if (this.#troubles.has(field) === (cause !== null)) return;
    if (cause === null) this.#troubles.delete(field);
    else this.#troubles.add(field);
    const { store, account, clock, log } = this.#deps;
    const [begun, over] = TROUBLES[field];
    const event = { account, type: 'account', subject: account, field, source: 'exchange' } as const;
    const change = { new_value: cause === null ? null : begun, reason: cause ?? over };
    store.writer
      .write(async (tx) => {
        const known = await newestOfAccount(tx, account, field);
        if (known !== change.new_value)
          await insertHappenings(tx, [{ ...event, old_value: known, ...change }], clock.now());
      })
      .catch((error: unknown) => log.warn({ cause: messageOf(error) }, UNWRITTEN));
  }
}
