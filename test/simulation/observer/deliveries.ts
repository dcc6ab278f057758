import type Database from 'better-sqlite3';
import { Webhook } from 'standardwebhooks';
import type { WebhookEndpoint } from '../../../src/extensions/webhooks/settings.ts';
import { AT_ONCE, takesType } from '../../../src/extensions/webhooks/delivery.ts';
import { feedEventOf, type EventRow, type FeedEvent } from '../../../src/extensions/feed/event.ts';
import { FEED_COLUMNS } from '../../../src/extensions/feed/tables/events.ts';
import { isPoisoned, type PlannedReceiver } from '../plan/receivers.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import { describe, isBehind, isBehindPoison, subjectOf, wellAt, type RetryingRow } from './delivery-rows.ts';

const HOUR = 3_600_000;
/** Requests of an endpoint that one process has under way. */
const MOST_IN_FLIGHT = 8;
/** An event is refused so often at least before it becomes a dead letter. */
const LEAST_REFUSALS = 10;
/** After a receiver is well again it is tried within an hour, and from then on an event is there at once. */
const BACK_WITHIN_MS = 2 * HOUR;
const AT_ONCE_MS = 60_000;
/** Waiting events are looked at after this many steps. */
const STEPS_A_CHECK = 10;
/** A process stamps a request with the time that it knows, which may be behind by as much. */
const STAMP_MS = 2_000;

/** A request on its way. */
export interface Delivery {
  readonly endpoint: WebhookEndpoint;
  readonly event: FeedEvent;
  readonly life: Life;
  /** The time for which the process drives the account. */
  readonly term: unknown;
  isUnderWay: boolean;
}

/** The observer's knowledge of one event at one endpoint. */
interface KnownDelivery {
  refusals: number;
  isTaken: boolean;
  /** The owner that heard that it was taken, by its term. */
  heardBy: unknown;
}

interface KnownEndpoint {
  readonly planned: PlannedReceiver;
  /** Its events of an account begin after this one; undefined until a process has noted it. */
  since: ReadonlyMap<string, number> | undefined;
  readonly events: Map<number, KnownDelivery>;
  underWay: Delivery[];
  /** It asked a process to wait until then. */
  wait: { readonly life: Life; readonly until: number } | undefined;
  /** The request whose connection turned out to be closed: it is sent again at once. */
  closed: Delivery | undefined;
  lastAt: number;
  /** How many events it has taken. */
  taken: number;
}

/** The needs of the observer in its world. */
export interface DeliveryWorld {
  readonly scheduler: Scheduler;
  readonly calmAt: number;
  /** The time of the machine's clock. */
  readonly wallMs: number;
  /** Tells whether this process may still take itself for the owner of an account. */
  isOwner(life: Life, account: string): boolean;
  /** Tells apart the times for which processes drive an account. */
  termOf(life: Life, account: string): unknown;
  fail(promise: string, detail: string): void;
}

/** Knows what receivers really got, and checks that the program keeps what the manual says about webhooks. */
export class DeliveryObserver {
  readonly #world: DeliveryWorld;
  readonly #endpoints: ReadonlyMap<string, KnownEndpoint>;
  #checks = 0;
  readonly #events: EventRow[] = [];
  /** When each event was first seen. */
  readonly #seenAt = new Map<number, number>();
  readonly #statements: Record<'events' | 'cursors' | 'deadLetters' | 'retrying' | 'nextAttempt', Database.Statement>;

  constructor(world: DeliveryWorld, reader: Database.Database, planned: readonly PlannedReceiver[]) {
    this.#world = world;
    this.#endpoints = new Map(
      planned.map((receiver) => [
        receiver.name,
        {
          planned: receiver,
          since: undefined,
          events: new Map(),
          underWay: [],
          wait: undefined,
          closed: undefined,
          lastAt: Number.NEGATIVE_INFINITY,
          taken: 0,
        },
      ]),
    );
    this.#statements = {
      events: reader.prepare(`select ${FEED_COLUMNS.join(', ')} from events where id > ? order by id`),
      cursors: reader.prepare(
        'select name, account, event_id from webhook_endpoints left join webhook_cursors on endpoint = name',
      ),
      deadLetters: reader
        .prepare("select event_id from webhook_deliveries where endpoint = ? and status = 'dead'")
        .pluck(),
      nextAttempt: reader.prepare(
        `select endpoint, min(next_attempt_at) as at from webhook_deliveries
         where next_attempt_at is not null and account in (select value from json_each(?)) group by endpoint`,
      ),
      retrying: reader.prepare(
        "select account, kind, subject, event_id, next_attempt_at from webhook_deliveries where endpoint = ? and status = 'retrying'",
      ),
    };
  }

  /** A request leaves a process. */
  left(
    endpoint: WebhookEndpoint,
    { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
    life: Life,
  ): Delivery {
    const known = this.#of(endpoint.name);
    const event = JSON.parse(body) as FeedEvent;
    const term = this.#world.termOf(life, event.account);
    const delivery = { endpoint, event, life, term, isUnderWay: true };
    const what = `${endpoint.name} ${event.cursor} ${event.type}`;
    if (!this.#world.isOwner(life, event.account))
      this.#world.fail('one owner an account', `${what} was sent by a former owner`);
    if (endpoint.url.includes('::ffff:')) this.#world.fail('no private address is sent to', what);
    this.#checkMessage(endpoint, event, body, headers);
    this.#checkOrder(known, delivery, what);
    known.underWay = known.underWay.filter((one) => one.life.isAlive);
    const beside = known.underWay.filter((one) => one.life === life);
    if (beside.length >= MOST_IN_FLIGHT) this.#world.fail('bounded concurrency', `${what} is beside ${beside.length}`);
    if (known.events.get(event.cursor)?.heardBy === term)
      this.#world.fail('a delivery twice only if its fate is not known', `${what} was sent again by the same process`);
    const { wait } = known;
    if (wait?.life === life && this.#world.scheduler.now < wait.until && !this.#isRepeat(delivery))
      this.#world.fail('Retry-After kept', `${what} left ${wait.until - this.#world.scheduler.now} ms too early`);
    known.lastAt = this.#world.scheduler.now;
    known.underWay.push(delivery);
    return delivery;
  }

  /** The receiver has taken an event. */
  taken({ endpoint, event }: Delivery): void {
    this.#delivery(endpoint.name, event.cursor).isTaken = true;
  }

  /** The outcome of a request has reached the process. */
  ended(
    delivery: Delivery,
    ending: { readonly status?: number; readonly retryAfter?: string | undefined; readonly code?: string },
  ): void {
    const { endpoint, event, life, term } = delivery;
    delivery.isUnderWay = false;
    const known = this.#of(endpoint.name);
    known.underWay = known.underWay.filter((one) => one !== delivery);
    const { status, retryAfter } = ending;
    const its = this.#delivery(endpoint.name, event.cursor);
    if (status !== undefined && status >= 200 && status < 300) {
      its.heardBy = term;
      known.taken += 1;
      return;
    }
    known.closed = ending.code === 'CLOSED' ? delivery : undefined;
    const failedBefore = its.refusals > 0;
    its.refusals += 1;
    // One that fails at an event again and takes others has no reason to be waited for.
    const asksToWait = status === 429 || status === 408 || (status === 503 && !failedBefore);
    if (!asksToWait || retryAfter === undefined) return;
    const until = this.#world.scheduler.now + Math.min(this.#waitMs(retryAfter), HOUR);
    if (known.wait?.life !== life || known.wait.until < until) known.wait = { life, until };
  }

  /** When the next row of each endpoint in these accounts is due, by the clock of the machine. */
  nextAttempts(accounts: readonly string[]): ReadonlyMap<string, number> {
    const rows = this.#statements.nextAttempt.all(JSON.stringify(accounts)) as { endpoint: string; at: string }[];
    return new Map(rows.map(({ endpoint, at }) => [endpoint, at === AT_ONCE ? 0 : Date.parse(at)]));
  }

  /** From when on each receiver has what it takes, but for one that never comes back. */
  get settledAt(): number {
    const ends = [...this.#endpoints.values()].map(({ planned }) => wellAt(planned)).filter(Number.isFinite);
    return ends.length === 0 ? 0 : Math.max(...ends, this.#world.calmAt) + BACK_WITHIN_MS;
  }

  /** Checks what should have happened by now. */
  check(): void {
    if (this.#endpoints.size === 0) return;
    this.#noteEndpoints();
    this.#checks += 1;
    if (this.#checks % STEPS_A_CHECK > 0) return;
    this.#checkWaiting();
  }

  #checkWaiting(): void {
    this.#readEvents();
    for (const known of this.#endpoints.values()) this.#checkAtOnce(known);
  }

  /** Checks what became of every event, once nothing has gone wrong for days. */
  checkEnd(): void {
    this.#checkWaiting();
    for (const [name, known] of this.#endpoints) {
      if (known.since === undefined || known.planned.url.includes('::ffff:')) continue;
      const dead = this.#deadLetters(name);
      const waiting = this.#wantedOf(known).filter(({ id }) => known.events.get(id)?.isTaken !== true && !dead.has(id));
      const lost = waiting.filter(
        (row) => !this.#isRetrying(name, row) && !isBehindPoison(known.planned, row, waiting),
      );
      const isLost = lost.some((row) => !isPoisonAtTheEnd(known, row, waiting));
      if (isLost && known.planned.dead?.to !== Number.POSITIVE_INFINITY) {
        this.#world.fail('webhooks complete', `${name} never got ${describe(lost[0])}, and ${lost.length - 1} more`);
      }
      if (lost.length > 0 && known.lastAt < this.#world.scheduler.now - HOUR - AT_ONCE_MS)
        this.#world.fail('webhooks complete', `${name} is not tried any more`);
      for (const id of dead) {
        const refusals = known.events.get(id)?.refusals ?? 0;
        if (refusals < LEAST_REFUSALS || known.taken === 0)
          this.#world.fail('a dead letter was refused to the end', `${name} refused ${id} ${refusals} times`);
      }
    }
  }

  #checkMessage(
    { secrets, events }: WebhookEndpoint,
    event: FeedEvent,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): void {
    const what = `${event.id} ${body}`;
    const row = this.#row(event.cursor);
    if (row === undefined || JSON.stringify(feedEventOf(row)) !== body) this.#world.fail('the body is the event', what);
    if (!takesType(events, event.type)) this.#world.fail('only the types that are wanted', what);
    const { 'webhook-id': id, 'webhook-timestamp': stamp, 'webhook-signature': signatures } = headers;
    const at = new Date(Number(stamp) * 1_000);
    if (id !== event.id) this.#world.fail('the id of a webhook is that of its event', what);
    if (Math.abs(at.getTime() - this.#world.wallMs) > STAMP_MS)
      this.#world.fail('stamped as of now', `${what} ${stamp}`);
    const expected = secrets.map((secret) => new Webhook(secret).sign(event.id, at, body)).join(' ');
    if (signatures !== expected) this.#world.fail('signed with each secret', what);
    const text = `${body} ${Object.values(headers).join(' ')}`;
    if (/canary|whsec_/.test(text) || secrets.some((secret) => text.includes(secret.slice('whsec_'.length))))
      this.#world.fail('secrets stay in', text);
  }

  /** The one before was taken, and is known to be. */
  #checkOrder(known: KnownEndpoint, { endpoint, event, term }: Delivery, what: string): void {
    const row = this.#row(event.cursor);
    if (row === undefined) return;
    const subject = subjectOf(row);
    if (!isAfter(known.since, row)) this.#world.fail('a receiver begins when it is first known', what);
    const beside = known.underWay.find((one) => one.term === term && this.#subjectOf(one) === subject);
    if (beside !== undefined)
      this.#world.fail('webhooks in order per order', `${what} is beside ${beside.event.cursor}`);
    const earlier = this.#wantedOf(known).filter((one) => one.id < row.id && subjectOf(one) === subject);
    const dead = this.#deadLetters(endpoint.name);
    const open = earlier.find(({ id }) => known.events.get(id)?.heardBy === undefined && !dead.has(id));
    if (open !== undefined) this.#world.fail('webhooks in order per order', `${what} left before ${describe(open)}`);
  }

  #isRepeat({ endpoint, event, life }: Delivery): boolean {
    const { closed } = this.#of(endpoint.name);
    return closed?.life === life && closed.event.cursor === event.cursor;
  }

  /** A receiver that is well has each event at once, whatever others do. */
  #checkAtOnce({ planned, since, events, lastAt }: KnownEndpoint): void {
    const { scheduler, calmAt, wallMs } = this.#world;
    const isAlwaysOneThatFails = planned.poison !== null || planned.url.includes('::ffff:');
    if (
      since === undefined ||
      isAlwaysOneThatFails ||
      scheduler.now < Math.max(wellAt(planned), calmAt) + BACK_WITHIN_MS
    )
      return;
    const open = this.#events.filter(({ id, ...row }) => {
      const isWanted = isAfter(since, { id, ...row }) && takesType(planned.events, feedEventOf({ id, ...row }).type);
      return isWanted && events.get(id)?.heardBy === undefined;
    });
    const lateAt = scheduler.now - AT_ONCE_MS;
    const late = lastAt < lateAt ? open.find(({ id }) => (this.#seenAt.get(id) ?? 0) < lateAt) : undefined;
    if (late === undefined || this.#deadLetters(planned.name).has(late.id)) return;
    const retried = this.#retrying(planned.name).find((one) => isBehind(one, late));
    if (retried === undefined)
      this.#world.fail('no receiver waits for another', `${planned.name} waits for ${describe(late)}`);
    else if (Date.parse(retried.next_attempt_at) < wallMs - AT_ONCE_MS)
      this.#world.fail('a refused event is sent again', `${planned.name} waits for ${describe(late)}`);
  }

  #noteEndpoints(): void {
    if ([...this.#endpoints.values()].every(({ since }) => since !== undefined)) return;
    const rows = this.#statements.cursors.all() as { name: string; account: string | null; event_id: number | null }[];
    for (const [name, its] of Map.groupBy(rows, (row) => row.name)) {
      const known = this.#endpoints.get(name);
      if (known !== undefined) known.since ??= new Map(its.map((row) => [row.account ?? '', row.event_id ?? 0]));
    }
  }

  #readEvents(): void {
    for (const row of this.#statements.events.all(this.#events.at(-1)?.id ?? 0) as EventRow[]) {
      this.#events.push(row);
      this.#seenAt.set(row.id, this.#world.scheduler.now);
    }
  }

  #row(id: number): EventRow | undefined {
    this.#readEvents();
    this.#noteEndpoints();
    return this.#events.find((row) => row.id === id);
  }

  #wantedOf({ since, planned }: KnownEndpoint): EventRow[] {
    return this.#events.filter((row) => isAfter(since, row) && takesType(planned.events, feedEventOf(row).type));
  }

  #subjectOf({ event }: Delivery): string | undefined {
    const row = this.#row(event.cursor);
    return row && subjectOf(row);
  }

  #deadLetters(name: string): ReadonlySet<number> {
    return new Set(this.#statements.deadLetters.all(name) as number[]);
  }

  #retrying(name: string): RetryingRow[] {
    return this.#statements.retrying.all(name) as RetryingRow[];
  }

  #isRetrying(name: string, row: EventRow): boolean {
    return this.#retrying(name).some((retried) => isBehind(retried, row));
  }

  #delivery(name: string, id: number): KnownDelivery {
    const { events } = this.#of(name);
    const known = events.get(id) ?? { refusals: 0, isTaken: false, heardBy: undefined };
    events.set(id, known);
    return known;
  }

  #waitMs(retryAfter: string): number {
    if (/^\d+(\.\d+)?$/.test(retryAfter)) return Number(retryAfter) * 1_000;
    // The process may be behind by a little, and a date has whole seconds.
    return retryAfter.endsWith('GMT') ? Math.max(0, Date.parse(retryAfter) - this.#world.wallMs - STAMP_MS) : 0;
  }

  #of(name: string): KnownEndpoint {
    const known = this.#endpoints.get(name);
    if (known === undefined) throw new Error(`not planned: ${name}`);
    return known;
  }
}

/** Tells whether an endpoint that begins after these events takes another one. An account that had none has no beginning. */
function isAfter(since: KnownEndpoint['since'], { account, id }: EventRow): boolean {
  return since !== undefined && id > (since.get(account) ?? 0);
}

/**
 * Tells whether the receiver refuses this event, or an earlier one of its order, for ever, and has taken no later event. The
 * program then retries that event hourly, because the receiver may refuse every event.
 */
function isPoisonAtTheEnd({ planned: { poison }, events }: KnownEndpoint, row: EventRow, waiting: EventRow[]): boolean {
  const first = waiting.find((one) => subjectOf(one) === subjectOf(row));
  if (poison === null || first === undefined || !isPoisoned(feedEventOf(first), poison.oneOf)) return false;
  return [...events].every(([id, { isTaken }]) => !isTaken || id < first.id);
}
