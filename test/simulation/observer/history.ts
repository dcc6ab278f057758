import type Database from 'better-sqlite3';
import type { Plan } from '../plan/plan.ts';
import { quoted, type Knowledge } from './known.ts';

/** Why a person took orders for sent. */
export const COPY_ACCEPTED = 'an older copy was put in place';

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
/** The column that a field of an order's events tells of. */
export const COLUMN_OF: Readonly<Record<string, string>> = {
  state: 'state',
  'order.status': 'order_status',
  'cryptoTransaction.status': 'crypto_status',
  'fiatTransaction.status': 'fiat_status',
};

/** A row of `order_events`. */
export interface EventRow {
  readonly id: number;
  readonly external_order_id: string;
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly reason: string | null;
  readonly source: string;
}

/** Checks the events of orders as they come: one a change, by the table of moves, never changed afterwards. */
export class HistoryChecks {
  readonly #knowledge: Knowledge;
  readonly #statement: Database.Statement;
  readonly #last = new Map<string, Map<string, string | null>>();
  /** All so far, oldest first. */
  events: EventRow[] = [];
  /** The newest event that a promoted standby lacked. */
  #lostUntil = 0;

  readonly #account: string;
  readonly #giveUpAfter: number | undefined;

  constructor(reader: Database.Database, plan: Plan, knowledge: Knowledge) {
    this.#account = plan.account;
    this.#giveUpAfter = plan.settings.giveUpAfter;
    this.#knowledge = knowledge;
    this.#statement = reader.prepare(
      'select id, external_order_id, field, old_value, new_value, reason, source from order_events where account = ? and id > ? order by id',
    );
  }

  /** The value of a field in the newest event. */
  lastOf(id: string, field: string): string | null {
    return this.#last.get(id)?.get(field) ?? (field === 'state' ? 'pending' : null);
  }

  /** Checks the new events. */
  check(): void {
    for (const event of this.#read(this.events.at(-1)?.id ?? 0)) {
      if (event.id <= this.#lostUntil) this.#knowledge.fail('no event id is used twice', `event ${event.id}`);
      this.events.push(event);
      this.#checkEvent(event);
    }
  }

  /** A standby was promoted that may lack the newest events; others may have read them. */
  promoted(): void {
    this.#lostUntil = Math.max(this.#lostUntil, this.events.at(-1)?.id ?? 0);
  }

  /** An older copy was put in place: its history is the beginning of the one that is known. */
  restored(): void {
    const events = this.#read(0);
    if (JSON.stringify(events) !== JSON.stringify(this.events.slice(0, events.length)))
      this.#knowledge.fail('history is append-only', 'the copy has another beginning');
    this.events = events;
    this.#last.clear();
    for (const event of events) this.#note(event);
  }

  /** How many decisions of a person about an order are recorded. */
  decisionsOf(id: string): number {
    return this.events.filter((event) => isDecision(event, id)).length;
  }

  checkEnd(): void {
    if (JSON.stringify(this.#read(0)) !== JSON.stringify(this.events))
      this.#knowledge.fail('history is append-only', 'events changed');
    for (const known of this.#knowledge.all) {
      const recorded = this.decisionsOf(known.order.id);
      if (recorded === known.decided.length) continue;
      const what = `${quoted(known)}: ${known.decided.length}, recorded ${recorded}`;
      this.#knowledge.fail('each decision recorded once', what);
    }
  }

  #checkEvent({ external_order_id: id, field, old_value: old, new_value: value, reason, source }: EventRow): void {
    const knowledge = this.#knowledge;
    const known = knowledge.of(id);
    const what = `${quoted(known)} ${field} ${old} → ${value}`;
    if (reason?.includes('canary') === true) knowledge.fail('secrets stay in', what);
    if (COLUMN_OF[field] === undefined) return;
    const last = this.lastOf(id, field);
    if (old !== last || old === value) knowledge.fail('one event a change', `${what}, but it was ${last}`);
    this.#note({ external_order_id: id, field, new_value: value });
    if (field !== 'state') {
      if (!known.statusesGiven.has(value)) knowledge.fail('statuses verbatim', what);
      return;
    }
    if (MOVES[old ?? '']?.includes(value ?? '') !== true) knowledge.fail('moves of the table', what);
    const isRead = value === 'open' || value === 'final';
    if (old === 'pending' && isRead && known.creates.length === 0) knowledge.fail('only what was sent is found', what);
    const isGivenUp = `${old} ${value}` === 'accepted abandoned' && this.#giveUpAfter !== undefined;
    if (MOVES_OF_A_PERSON.includes(`${old} ${value}`) && source !== 'operator' && !isGivenUp)
      knowledge.fail('a person decides', what);
  }

  #note({
    external_order_id: id,
    field,
    new_value: value,
  }: Pick<EventRow, 'external_order_id' | 'field' | 'new_value'>) {
    if (COLUMN_OF[field] === undefined) return;
    this.#last.set(id, (this.#last.get(id) ?? new Map<string, string | null>()).set(field, value));
  }

  #read(behind: number): EventRow[] {
    return this.#statement.all(this.#account, behind) as EventRow[];
  }
}

/** The way from `unknown` leads through `held`: that is one decision. An older copy is accepted for all orders. */
function isDecision({ external_order_id, source, new_value: value, reason }: EventRow, id: string): boolean {
  return external_order_id === id && source === 'operator' && value !== 'held' && reason !== COPY_ACCEPTED;
}
