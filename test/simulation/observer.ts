import type Database from 'better-sqlite3';
import type { HttpRequest, HttpResponse } from '../../src/exchange/transport.ts';
import type { SandboxExchange } from '../../src/sandbox/exchange.ts';
import type { Plan, PlannedOrder } from './plan.ts';

const FOUND = ['open', 'final', 'disputed'];
/** The moves of the design, written down a second time: the program's own table may be what is wrong. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  pending: ['sending', 'invalid', 'cancelled', ...FOUND, 'unknown'],
  sending: ['accepted', 'rejected', 'pending', 'unknown'],
  unknown: [...FOUND, 'held'],
  held: [...FOUND, 'accepted', 'pending', 'abandoned'],
  accepted: [...FOUND, 'abandoned'],
  open: ['final', 'disputed'],
  final: ['open', 'disputed'],
  disputed: ['open', 'final', 'abandoned'],
  rejected: ['pending', ...FOUND, 'unknown'],
  invalid: ['pending', 'unknown'],
  cancelled: FOUND,
  abandoned: FOUND,
};
/** The moves that only a person makes; `held` to `pending` is also the one that `create.onUnknown: resend` makes. */
const MOVES_OF_A_PERSON = [
  'pending cancelled',
  'held accepted',
  'held abandoned',
  'accepted abandoned',
  'disputed abandoned',
  'rejected pending',
];
const LOOKED_AT = ['pending', 'unknown', 'accepted', 'open', 'held'];
const COLUMN_OF: Readonly<Record<string, string>> = {
  state: 'state',
  'order.status': 'order_status',
  'cryptoTransaction.status': 'crypto_status',
  'fiatTransaction.status': 'fiat_status',
};
const ROW_COLUMNS =
  'external_order_id, state, order_status, crypto_status, fiat_status, asset, pre_order_id, modification_date, next_action_at';
const LONGEST_WAIT_MS = 8 * 24 * 3_600_000;
const RESEND_NOT_BEFORE_MS = 600_000;
/** So long after a pause the requests that had their turn may still leave. */
const PAUSE_WITHIN_MS = 20_000;

type Row = Readonly<Record<string, string | number | null>> & { external_order_id: string; state: string };
interface EventRow {
  readonly id: number;
  readonly external_order_id: string;
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly reason: string | null;
  readonly source: string;
}

/** A create that left: when, and whether the program was told that it was not taken. */
export interface Create {
  readonly at: number;
  isProvedNotTaken: boolean;
}

/** What the observer knows of one order beside the database. */
interface Known {
  readonly order: PlannedOrder;
  asset: string | null;
  readonly creates: Create[];
  /** Documented 404s since the last create. */
  misses: number;
  wasRefused: boolean;
  /** What a person decided, oldest first, and how often they had it sent again although it may have been taken. */
  readonly decided: string[];
  careless: number;
  readonly statusesTold: Set<string | null>;
  readonly last: Map<string, string | null>;
  modifiedAt: number;
  recordModifiedAt: number;
}

/** Knows what the exchange really did, and checks after each step that the program keeps its promises. */
export class Observer {
  /** The first broken promise. */
  violation: string | undefined;
  readonly #statements: Record<'version' | 'rows' | 'events' | 'records', Database.Statement>;
  readonly #plan: Plan;
  readonly #known = new Map<string, Known>();
  readonly #arrivals: number[] = [];
  readonly #events: EventRow[] = [];
  #inFlight = 0;
  #pause: { readonly kind: string; startedAt: number | undefined } | null = null;
  #version: unknown;

  constructor(reader: Database.Database, plan: Plan) {
    const eventColumns = 'id, external_order_id, field, old_value, new_value, reason, source';
    this.#statements = {
      version: reader.prepare('pragma data_version').pluck(),
      rows: reader.prepare(`select ${ROW_COLUMNS} from merchant_orders`),
      events: reader.prepare(`select ${eventColumns} from order_events where id > ? order by id`),
      records: reader.prepare('select external_order_id as id, body from order_records'),
    };
    this.#plan = plan;
  }

  /** A process that wakes late may have begun as many as the one that has followed it. */
  get #mostInFlight(): number {
    return this.#plan.concurrency * (this.#plan.shared === null ? 1 : 2);
  }

  /** How many requests have arrived. */
  get requests(): number {
    return this.#arrivals.length;
  }

  /** How many orders a person has moved. */
  get decisions(): number {
    return [...this.#known.values()].reduce((sum, { decided }) => sum + decided.length, 0);
  }

  fail(promise: string, detail: string): void {
    this.violation ??= `${promise}: ${detail}`;
  }

  /** The merchant has inserted a row. */
  inserted(order: PlannedOrder): void {
    this.#known.set(order.id, {
      order,
      asset: order.asset,
      creates: [],
      misses: 0,
      wasRefused: false,
      decided: [],
      careless: 0,
      statusesTold: new Set([null]),
      last: new Map([['state', 'pending']]),
      modifiedAt: Number.NEGATIVE_INFINITY,
      recordModifiedAt: Number.NEGATIVE_INFINITY,
    });
  }

  /** The merchant has corrected a row. */
  corrected(id: string, asset: string): void {
    this.#of(id).asset = asset;
  }

  /** A person has moved an order. */
  decided(id: string, judgement: string, from: string): void {
    const known = this.#of(id);
    known.decided.push(judgement);
    // What the person knows to be not created, or takes the risk of, may leave again.
    const create = known.creates.at(-1);
    if (create !== undefined && (judgement === 'not-created' || judgement === 'retry')) create.isProvedNotTaken = true;
    if (judgement === 'retry' && (from === 'unknown' || from === 'held')) known.careless += 1;
  }

  /** A person has paused the account, or (null) resumes it. */
  paused(kind: string | null): void {
    this.#pause = kind === null ? null : { kind, startedAt: undefined };
  }

  /** The program has written a line that leaves the process. */
  logged(line: string): void {
    if (line.includes('canary')) this.fail('secrets stay in', line);
    if (line.includes('an order cannot be written')) this.fail('no bug', line);
  }

  /** A request leaves the process. */
  left(request: HttpRequest, id: string, now: number): Create | undefined {
    this.#inFlight += 1;
    if (this.#inFlight > this.#mostInFlight) this.fail('bounded concurrency', `${this.#inFlight} in flight`);
    this.#checkPause(request, id, now);
    return request.method === 'POST' ? this.#createLeft(request, this.#of(id), now) : undefined;
  }

  /** What came of a request has reached the process. */
  ended(
    { method }: HttpRequest,
    id: string,
    ending: { readonly response?: HttpResponse; readonly sent?: 'never' | 'perhaps' },
    create: Create | undefined,
  ): void {
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    const known = this.#of(id);
    const { response, sent } = ending;
    if (method === 'POST') {
      const isNotTaken =
        sent === 'never' || response?.status === 429 || response?.status === 401 || isBlocked(response);
      if (create !== undefined) create.isProvedNotTaken = isNotTaken;
      known.wasRefused = [400, 403, 422].includes(response?.status ?? 0) && (response?.body ?? '').includes('message');
      return;
    }
    if (response?.status === 404 && response.body.includes('message')) known.misses += 1;
    for (const [, status] of (response?.body ?? '').matchAll(/"status":"([^"]*)"/g))
      known.statusesTold.add(status ?? '');
  }

  /** The process has died: what was in flight reaches nobody. */
  died(): void {
    this.#inFlight = 0;
  }

  /** A request has arrived at the exchange. */
  arrived(now: number): void {
    const { requests, intervalMs } = this.#plan.rate;
    this.#arrivals.push(now);
    const inWindow = this.#arrivals.filter((at) => at > now - intervalMs);
    if (inWindow.length > requests) this.fail('rate kept', `${inWindow.length} requests in ${intervalMs} ms at ${now}`);
  }

  /** Checks everything that the database says, when it says something new. */
  check(wallMs: number): void {
    const version = this.#statements.version.get();
    if (version === this.#version) return;
    this.#version = version;
    this.#checkEvents();
    const rows = this.#rows();
    for (const known of this.#known.values()) {
      const row = rows.get(known.order.id);
      if (row === undefined) this.fail('no order is lost', `${quoted(known)} has no row any more`);
      else this.#checkRow(known, row, wallMs);
    }
    const sending = [...rows.values()].filter(({ state }) => state === 'sending').length;
    if (sending > this.#mostInFlight) this.fail('backlog bounded', `${sending} orders are sending`);
    this.#checkRecords();
  }

  /** Checks where every order stands once nothing has gone wrong for days. */
  checkEnd(exchange: SandboxExchange): void {
    if (JSON.stringify(this.#readEvents(0)) !== JSON.stringify(this.#events))
      this.fail('history is append-only', 'events changed');
    const rows = this.#rows();
    for (const known of this.#known.values()) {
      const row = rows.get(known.order.id);
      if (row === undefined) return;
      const made = exchange.preOrdersOf(known.order.id);
      const resends = known.creates.length > 1 && this.#plan.onUnknown === 'resend' ? 1 : 0;
      const allowed = 1 + resends + known.careless;
      if (made.length > allowed)
        this.fail('no order is created twice', `${quoted(known)} has ${made.length} pre-orders`);
      if (made.some(({ asset }) => asset !== known.asset && Number(asset) !== Number(known.asset))) {
        this.fail('amount exact', `${quoted(known)} ${known.asset} arrived as ${made[0]?.asset}`);
      }
      const recorded = this.#events.filter((event) => isDecision(event, known)).length;
      if (recorded !== known.decided.length) {
        this.fail('each decision recorded once', `${quoted(known)}: ${known.decided.length}, recorded ${recorded}`);
      }
      const expected = this.#expectedAtEnd(known, made.length > 0);
      if (!expected.includes(row.state)) {
        this.fail(
          'everything settles or is held',
          `${quoted(known)} is ${row.state}, expected ${expected.join(' or ')}`,
        );
      }
    }
  }

  #expectedAtEnd(known: Known, isMade: boolean): readonly string[] {
    const { order, asset, wasRefused, decided } = known;
    const ended = ['cancel', 'abandoned'].filter((judgement) => decided.includes(judgement));
    // An order that appears all the same is followed from when a recheck meets it, which may be late.
    if (ended.length > 0) return ['cancelled', 'abandoned', ...(isForeign(order) ? ['disputed'] : ['open', 'final'])];
    const isInvalid = !order.isValid && asset === order.asset;
    if (isInvalid) return ['invalid'];
    // A process that died between the intent and the request, or the answer and its record, leaves an unknown outcome.
    if (!isMade) return wasRefused ? ['rejected', 'held'] : ['held'];
    if (order.scenario.appearsAfterMs === null) return ['accepted', 'held'];
    if (isForeign(order)) return ['disputed'];
    // One order of those is never answered: whether it exists is not known.
    if (order.scenario.answers === 'error500') return ['accepted', 'unknown', 'held', 'final', 'open'];
    return order.scenario.steps.some(({ completed }) => completed) ? ['final'] : ['open'];
  }

  /** What was about to go when the person paused goes. */
  #checkPause({ method }: HttpRequest, id: string, now: number): void {
    const pause = this.#pause;
    if (pause === null || (method === 'GET' && pause.kind !== 'all-paused')) return;
    pause.startedAt ??= now;
    if (now > pause.startedAt + PAUSE_WITHIN_MS) this.fail('a pause is kept', `${method} ${JSON.stringify(id)} left`);
  }

  #createLeft({ body }: HttpRequest, known: Known, now: number): Create {
    const row = this.#rows().get(known.order.id);
    if (row?.state !== 'sending') this.fail('intent before send', `${quoted(known)} left while ${row?.state}`);
    const earlier = known.creates.at(-1);
    if (earlier !== undefined && !earlier.isProvedNotTaken) {
      const resends = known.creates.filter(({ isProvedNotTaken }) => !isProvedNotTaken).length;
      const mayResend =
        this.#plan.onUnknown === 'resend' &&
        resends === 1 &&
        known.misses >= 3 &&
        now - earlier.at >= RESEND_NOT_BEFORE_MS;
      if (!mayResend) this.fail('unknown is never re-sent', `${quoted(known)} left again`);
    }
    const [, asset] = /"asset":([^,}]+)/.exec(body ?? '') ?? [];
    const isSame = asset === known.asset || (known.asset === '1e-7' && asset === '0.0000001');
    if (!isSame) this.fail('amount exact', `${quoted(known)} ${known.asset} left as ${asset}`);
    const create = { at: now, isProvedNotTaken: false };
    known.creates.push(create);
    known.misses = 0;
    return create;
  }

  #checkEvents(): void {
    for (const event of this.#readEvents(this.#events.at(-1)?.id ?? 0)) {
      this.#events.push(event);
      const known = this.#of(event.external_order_id);
      const { field, old_value: old, new_value: value } = event;
      const what = `${quoted(known)} ${field} ${old} → ${value}`;
      if (event.reason?.includes('canary') === true) this.fail('secrets stay in', what);
      if (COLUMN_OF[field] === undefined) continue;
      const last = known.last.get(field) ?? null;
      if (old !== last || old === value) this.fail('one event a change', `${what}, but it was ${last}`);
      known.last.set(field, value);
      if (field === 'state' && MOVES[old ?? '']?.includes(value ?? '') !== true) this.fail('moves of the table', what);
      const isFound = field === 'state' && old === 'pending' && (value === 'open' || value === 'final');
      if (isFound && known.creates.length === 0) this.fail('only what was sent is found', what);
      const isRead = field === 'state' && (value === 'open' || value === 'final');
      if (isRead && isForeign(known.order)) this.fail('what contradicts never reads as ours', what);
      if (field === 'state' && value === 'disputed' && !isForeign(known.order))
        this.fail('no order of ours is disputed', what);
      const isOfPerson = field === 'state' && MOVES_OF_A_PERSON.includes(`${old} ${value}`);
      if (isOfPerson && event.source !== 'operator') this.fail('a person decides', what);
      if (field !== 'state' && !known.statusesTold.has(value)) this.fail('statuses verbatim', what);
    }
  }

  #checkRow(known: Known, row: Row, wallMs: number): void {
    const what = `${quoted(known)} ${row.state}`;
    for (const [field, column] of Object.entries(COLUMN_OF)) {
      const last = known.last.get(field) ?? null;
      if ((row[column] ?? null) !== last)
        this.fail('row equals last event', `${what} ${column} ${row[column]}, ${last}`);
    }
    const dueAt = row['next_action_at'];
    if (LOOKED_AT.includes(row.state) && (dueAt === null || Date.parse(String(dueAt)) > wallMs + LONGEST_WAIT_MS)) {
      this.fail('no order is lost', `${what} is looked at ${dueAt === null ? 'never' : `only ${dueAt}`}`);
    }
    if (row['asset'] !== known.asset) this.fail('what was sent stays', `${what} has asset ${row['asset']}`);
    if (row.state === 'accepted' && row['pre_order_id'] === null)
      this.fail('no order is lost', `${what} without its id`);
    const modifiedAt = row['modification_date'] === null ? Number.NaN : Date.parse(String(row['modification_date']));
    // A record that may be of another order is always taken: its date orders nothing.
    if (modifiedAt < known.modifiedAt && !isForeign(known.order))
      this.fail('no older record over a newer one', `${what} went back to ${modifiedAt}`);
    if (!Number.isNaN(modifiedAt)) known.modifiedAt = modifiedAt;
  }

  #checkRecords(): void {
    for (const { id, body } of this.#statements.records.all() as { id: string; body: string }[]) {
      const known = this.#of(id);
      const modifiedAt = Date.parse(/"modificationDate":"([^"]*)"/.exec(body)?.[1] ?? '');
      if (modifiedAt < known.recordModifiedAt && !isForeign(known.order))
        this.fail('no older record over a newer one', `the record of ${quoted(known)}`);
      known.recordModifiedAt = modifiedAt;
    }
  }

  #rows(): Map<string, Row> {
    const rows = this.#statements.rows.all() as Row[];
    return new Map(rows.map((row) => [row.external_order_id, row]));
  }

  #readEvents(behind: number): EventRow[] {
    return this.#statements.events.all(behind) as EventRow[];
  }

  #of(id: string): Known {
    const known = this.#known.get(id);
    if (known === undefined) throw new Error(`nobody inserted ${JSON.stringify(id)}`);
    return known;
  }
}

/** The documented 403, which proves that nothing was taken. */
function isBlocked(response: HttpResponse | undefined): boolean {
  return response?.status === 403 && response.body.includes('message');
}

/** Whether every record that the exchange shows of the order contradicts its row. */
function isForeign({ id, scenario: { answers } }: PlannedOrder): boolean {
  return answers === 'foreign' || (answers === 'normalising' && id.trim().toUpperCase() !== id);
}

/** The way from `unknown` leads through `held`: that is one decision. */
function isDecision({ external_order_id: id, source, new_value: value }: EventRow, { order }: Known): boolean {
  return id === order.id && source === 'operator' && value !== 'held';
}

function quoted({ order }: Known): string {
  return JSON.stringify(order.id);
}
