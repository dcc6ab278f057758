import type Database from 'better-sqlite3';
import type { Life } from '../simulation/scheduler.ts';
import type { Plan } from '../simulation/plan/plan.ts';
import {
  BEGINNING,
  INTENT,
  keyOf,
  PROVED,
  PENDING,
  REFUSED,
  Scene,
  SENDING,
  SETTLED,
  UNKNOWN,
  type Slot,
  type State,
} from './state.ts';
import { stepsOf } from './steps.ts';

/** Numbers are as they come. */
const { ofWorker, ofWorld } = stepsOf({ sync: false, generations: Infinity, promotions: Infinity });
type Name = keyof typeof ofWorker | keyof typeof ofWorld;
const ALL = new Map(Object.entries({ ...ofWorker, ...ofWorld })) as ReadonlyMap<Name, (typeof ofWorld)['tick']>;

const STATES: readonly (readonly [order: number, states: string])[] = [
  [PENDING, 'pending'],
  [SENDING, 'sending'],
  [UNKNOWN, 'unknown held'],
  [SETTLED, 'accepted open final disputed abandoned'],
  [REFUSED, 'rejected invalid cancelled'],
];
const orderOf = (state: string) => STATES.find(([, states]) => states.split(' ').includes(state))?.[0];
/** A step that nothing shows: it may have happened between two visible ones. */
const UNSEEN: readonly Name[] = [
  ...([
    'takeOver',
    'expire',
    'renew',
    'follow',
    'lose',
    'refuse',
    'drop',
    'breakOff',
    'record',
    'report',
    'tick',
  ] as const),
];
/** The steps that a move of the order may be, of the program and of a person. */
const BY_PROGRAM: readonly Name[] = [
  ...(['intend', 'record', 'reject', 'unsend', 'takeOver', 'found', 'absent', 'report', 'again', 'end'] as const),
];
const BY_PERSON: readonly Name[] = ['settle', 'free', 'again', 'end'];

interface MoveRow {
  readonly id: number;
  readonly external_order_id: string;
  readonly old_value: string;
  readonly new_value: string;
  readonly source: string;
}

const orderIn = ({ p, rows }: State) => rows[p as Slot].order;

/** The states in which the model may be, and the states that each visible step leads to: orders share them. */
class Possible {
  readonly states: readonly State[];
  readonly #after = new Map<string, Possible>();
  #settled: readonly State[] | undefined;

  constructor(states: Iterable<State>) {
    this.states = [...new Map([...states].map((state) => keyed(simplified(state)))).values()];
  }

  /** The results of one of the steps after any invisible ones; `order` is the state of the order's row then. */
  after(names: readonly Name[], order?: number, w?: Slot): Possible {
    const key = [names.join(), order, w].join();
    const isSeen = (state: State) => order === undefined || orderIn(state) === order;
    const next = () =>
      this.#settle().flatMap((state) => names.flatMap((name) => nextOf(state, name, w).filter(isSeen)));
    const known = this.#after.get(key) ?? new Possible(next());
    this.#after.set(key, known);
    return known;
  }

  /** An owner may look the order up and find it absent, and no fail-over keeps it from being sent again. */
  get mayResend(): boolean {
    const owners = (state: State) => ([0, 1] as const).map((w) => new Scene(state, w));
    return this.#settle().some((state) =>
      owners(state).some(
        (one) => one.isFenced && one.me.ready === 1 && one.row.order === UNKNOWN && one.row.doubt === 0,
      ),
    );
  }

  /** A person has said of a whole fail-over that nothing was sent: orders that stay refused may be sent again. */
  freed(): Possible {
    const known = this.#after.get('freed') ?? new Possible([...this.states, ...this.after(['free'], REFUSED).states]);
    this.#after.set('freed', known);
    return known;
  }

  /** A process may have done more before it died than was seen. */
  died(w: Slot): Possible {
    const known =
      this.#after.get(`${w}`) ?? new Possible(this.#settle().map((state) => ofWorker.die(state, w) ?? state));
    this.#after.set(`${w}`, known);
    return known;
  }

  /** Adds every state that unseen steps lead to; none of them moves the order. */
  #settle(): readonly State[] {
    if (this.#settled !== undefined) return this.#settled;
    const seen = new Map(this.states.map(keyed));
    for (const state of seen.values())
      for (const next of UNSEEN.flatMap((name) => nextOf(state, name)))
        if (orderIn(next) === orderIn(state)) addTo(seen, simplified(next));
    return (this.#settled = [...seen.values()]);
  }
}

function addTo(seen: Map<string, State>, state: State): void {
  const key = keyOf(state);
  if (!seen.has(key)) seen.set(key, state);
}

const keyed = (state: State) => [keyOf(state), state] as const;

/** Of the rate nothing is seen, so its window ends at once unless a request is about to go; and a new standby is there at once. */
function simplified(state: State): State {
  const isWaiting = state.workers.some(({ at }) => at === INTENT || at === PROVED);
  const ticked = isWaiting ? undefined : ofWorld.tick(state, 0);
  return ofWorld.rejoin(ticked ?? state, 0) ?? ticked ?? state;
}

function nextOf(state: State, name: Name, w?: Slot): State[] {
  const step = ALL.get(name);
  const slots: readonly Slot[] = w === undefined ? (name in ofWorld ? [0] : [0, 1]) : [w];
  return slots.flatMap((slot) => step?.(state, slot) ?? []);
}

interface Trace {
  possible: Possible;
  isCut: boolean;
}

/** Holds what a world shows of the orders of an account against the model, step by step. */
export class Replay {
  readonly #traces: ReadonlyMap<string, Trace>;
  readonly #fail: (detail: string) => void;
  readonly #owner: () => Life | undefined;
  readonly #moves: Database.Statement;
  readonly #generation: Database.Statement;
  readonly #newest: Database.Statement;
  readonly #account: string;
  /** The processes that stand for the two workers. */
  readonly #lives: (Life | undefined)[] = [undefined, undefined];
  /** The lost process that may come back to name what it sent: in the model it lives on. */
  #reporting: Life | undefined;
  /** A process has reported that was lost before the two that stand for the workers. */
  #hasThird = false;
  /** The owner has put orders in doubt since its claim. */
  #hasDoubted = false;
  #lastSlot: Slot = 1;
  #seenId = 0;
  #seenGeneration = 0;

  constructor(reader: Database.Database, plan: Plan, owner: () => Life | undefined, fail: (detail: string) => void) {
    const possible = new Possible([BEGINNING]);
    this.#traces = new Map(plan.orders.map(({ id }) => [id, { possible, isCut: false }]));
    this.#account = plan.account;
    this.#owner = owner;
    this.#fail = fail;
    this.#moves = reader.prepare(`select id, external_order_id, old_value, new_value, source from order_events
      where account = ? and field = 'state' and id > ? order by id`);
    this.#generation = reader.prepare('select generation from account_owners where account = ?').pluck();
    this.#newest = reader.prepare('select max(id) from order_events where account = ?').pluck();
  }

  /** How many orders were followed, and how many of them only as far as a person or a setting took a risk. */
  get counts() {
    const all = [...this.#traces.values()];
    return { traces: all.length, cutTraces: all.filter(({ isCut }) => isCut).length };
  }

  /** A request of a process was begun, has left, or made a pre-order. */
  request(id: string, name: 'begin' | 'leave' | 'take', life: Life): void {
    this.poll();
    const w = this.#lives.indexOf(life);
    this.#take(id, [name], { what: `a request: ${name}`, w: w < 0 ? undefined : (w as Slot) });
  }

  /** Nothing of the program's doing: the trace of the order ends here. */
  cut(id: string): void {
    const trace = this.#traces.get(id);
    if (trace !== undefined) trace.isCut = true;
  }

  /** A person has decided on all orders that fail-overs left in doubt. */
  decided(): void {
    this.poll();
    for (const trace of this.#traces.values()) trace.possible = trace.possible.freed();
  }

  /** A standby has received what is committed, or is promoted; then `reporting` is the lost process that comes back. */
  server(name: 'replicate' | 'promote', reporting?: Life): void {
    if (name === 'replicate') this.poll();
    for (const id of this.#traces.keys()) this.#take(id, [name], { what: `the server: ${name}` });
    if (name === 'replicate') return;
    this.#reporting = reporting;
    this.#seenId = (this.#newest.get(this.#account) as number | null) ?? 0;
    this.#seenGeneration = (this.#generation.get(this.#account) as number | undefined) ?? 0;
  }

  /** A lost process names what it sent. The model has two workers, so the report of a third one ends a trace. */
  reports(life: Life | undefined): void {
    this.poll();
    this.#hasThird ||= life !== undefined && !this.#lives.includes(life);
  }

  /** Takes what was committed since: a claim, then the moves of orders. A process may have died after its commit. */
  poll(): void {
    const generation = (this.#generation.get(this.#account) as number | undefined) ?? 0;
    if (generation !== this.#seenGeneration) {
      this.#hasDoubted = false;
      this.#claimed();
    }
    this.#seenGeneration = generation;
    const moves = this.#moves.all(this.#account, this.#seenId) as MoveRow[];
    for (let index = 0; index < moves.length; index += 1)
      if (this.#moved(moves[index] as MoveRow, moves[index + 1])) index += 1;
    this.#seenId = moves.at(-1)?.id ?? this.#seenId;
    this.#bury();
  }

  #claimed(): void {
    const life = this.#owner();
    if (life === undefined || this.#lives.includes(life)) return;
    const isGone = (slot: Slot) => this.#lives[slot]?.isAlive !== true;
    const other = this.#lastSlot === 0 ? 1 : 0;
    const isKept = this.#lives[other] === this.#reporting && this.#reporting !== undefined;
    const slot = isGone(other) && !(isKept && isGone(this.#lastSlot)) ? other : this.#lastSlot;
    this.#die(slot);
    this.#lives[slot] = life;
    this.#lastSlot = slot;
    for (const id of this.#traces.keys()) this.#take(id, ['claim'], { what: 'a claim', w: slot });
  }

  #bury(): void {
    for (const slot of [0, 1] as const) {
      const life = this.#lives[slot];
      if (life?.isAlive === false && life !== this.#reporting) this.#die(slot);
    }
  }

  #die(slot: Slot): void {
    if (this.#lives[slot] === undefined) return;
    this.#lives[slot] = undefined;
    for (const trace of this.#traces.values()) trace.possible = trace.possible.died(slot);
  }

  /** Returns true if the next move belongs to this one: an answer that comes late to a pending order is recorded by two. */
  #moved({ external_order_id: id, old_value: old, new_value: value, source }: MoveRow, next?: MoveRow): boolean {
    const isLate = value === 'sending' && next?.external_order_id === id && next.new_value === 'accepted';
    const [from, to] = [orderOf(old), isLate ? SETTLED : orderOf(value)];
    if (from === to) return false;
    const isOfPerson = source === 'operator';
    // A person who has an order sent again may be wrong; so may the setting that has it sent again once it is proved absent.
    const isResend = from === UNKNOWN && to === PENDING && this.#traces.get(id)?.possible.mayResend === true;
    const isOfThird = this.#hasThird && from === PENDING && to === UNKNOWN;
    // The program, unlike the model, leaves pending orders out of doubt that the lost owner cannot have read.
    const isUnread = this.#hasDoubted && from === PENDING && to === SENDING;
    this.#hasDoubted ||= from === PENDING && to === UNKNOWN;
    const names = isLate ? (['record'] as const) : isOfPerson ? BY_PERSON : BY_PROGRAM;
    this.#take(id, names, { what: `${old} → ${value}`, isRisk: isOfPerson || isResend || isOfThird || isUnread, to });
    return isLate;
  }

  #take(id: string, names: readonly Name[], seen: Seen): void {
    const { what, to, w, isRisk = false } = seen;
    const trace = this.#traces.get(id);
    if (trace === undefined || trace.isCut) return;
    const possible = trace.possible.after(names, to, w);
    trace.isCut = possible.states.length === 0;
    if (!trace.isCut) trace.possible = possible;
    else if (!isRisk) this.#fail(`${id}: ${what}`);
  }
}

interface Seen {
  readonly what: string;
  /** The state of the order's row then. */
  readonly to?: number | undefined;
  readonly w?: Slot | undefined;
  /** That the model does not allow it is no fault of the program: the trace ends. */
  readonly isRisk?: boolean;
}
