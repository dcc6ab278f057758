import type Database from 'better-sqlite3';
import type { ContradictionKind } from '../../../src/orders/rules/contradictions.ts';
import { COLUMN_OF, type HistoryChecks } from './history.ts';
import type { Plan } from '../plan/plan.ts';
import { canBeCompared, contradictionsIn, isAgeKnown } from './contradictions.ts';
import { quoted, type Known, type Knowledge } from './known.ts';

const LOOKED_AT = ['pending', 'unknown', 'accepted', 'open', 'held'];
const ROW_COLUMNS =
  'external_order_id, state, order_status, crypto_status, fiat_status, asset, pre_order_id, modification_date, next_action_at, sent_at, updated_at';
const FAR_AHEAD = Date.parse('2100-01-01T00:00:00Z');
const LONGEST_WAIT_MS = 8 * 24 * 3_600_000;

/** A row of `merchant_orders`. */
export type Row = Readonly<Record<string, string | number | null>> & { external_order_id: string; state: string };

/** The newest record of an order, and in what it contradicts the row. */
interface KnownRecord {
  readonly body: string;
  readonly contradictions: readonly ContradictionKind[];
  /** It lacks something, and the record before it is not known: it came with an older copy. */
  readonly isUnclear: boolean;
}

/** A record that names another merchant may be of another order: whose the account is is not known beforehand. */
const OTHER_MERCHANT = /"merchant":\{"id":"(?!merchant-1")/;

/** Checks the rows of orders against their events, and the newest records. */
export class OrderChecks {
  readonly #knowledge: Knowledge;
  readonly #history: HistoryChecks;
  readonly #statements: Record<'rows' | 'records', Database.Statement>;
  /** The modification dates of the newest row and record so far. */
  readonly #modifiedAt = new Map<string, number>();

  readonly #plan: Plan;
  readonly #records = new Map<string, KnownRecord>();
  #isRestored = false;

  constructor(reader: Database.Database, plan: Plan, knowledge: Knowledge, history: HistoryChecks) {
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#history = history;
    this.#statements = {
      rows: reader.prepare(`select ${ROW_COLUMNS} from merchant_orders where account = ?`),
      records: reader.prepare('select external_order_id as id, body from order_records where account = ?'),
    };
  }

  /** All rows of the account by id. */
  rows(): Map<string, Row> {
    return new Map((this.#statements.rows.all(this.#plan.account) as Row[]).map((row) => [row.external_order_id, row]));
  }

  /** An older copy has older rows and records. */
  restored(): void {
    this.#modifiedAt.clear();
    this.#records.clear();
    this.#isRestored = true;
  }

  check(wallMs: number, mostSending: number): void {
    const rows = this.rows();
    for (const known of this.#knowledge.all) {
      const row = rows.get(known.order.id);
      if (row === undefined) this.#knowledge.fail('no order is lost', `${quoted(known)} has no row any more`);
      else this.#checkRow(known, row, wallMs);
    }
    const sending = [...rows.values()].filter(({ state }) => state === 'sending').length;
    if (sending > mostSending) this.#knowledge.fail('backlog bounded', `${sending} orders are sending`);
    this.#checkRecords();
    for (const row of rows.values()) this.#checkContradictions(this.#knowledge.of(row.external_order_id), row);
  }

  #checkRecords(): void {
    for (const { id, body } of this.#statements.records.all(this.#plan.account) as { id: string; body: string }[]) {
      if (this.#records.get(id)?.body === body) continue;
      const known = this.#knowledge.of(id);
      const now = this.#compare(known, body);
      if (now.contradictions.length > 0 || OTHER_MERCHANT.test(body)) known.wasContradicted = true;
      this.#records.set(id, now);
      this.#checkModified(known, 'record', Date.parse(/"modificationDate":"([^"]*)"/.exec(body)?.[1] ?? ''));
    }
  }

  /** A field that a record lacks is as the record before it had it. */
  #compare({ order, asset }: Known, body: string): KnownRecord {
    const { settings } = this.#plan;
    const before = this.#records.get(order.id);
    const lacks = (kind: ContradictionKind) => !canBeCompared(kind, body, order, settings);
    const kept = before?.contradictions.filter(lacks) ?? [];
    const contradictions = [...contradictionsIn(body, order, asset, settings), ...kept];
    const isUnclear = (before?.isUnclear ?? this.#isRestored) && settings.disputedBy.some(lacks);
    return { body, contradictions, isUnclear };
  }

  /** A shop that acts on `state` never acts on a contradicting order, and an order of ours is not taken for another. */
  #checkContradictions(known: Known, { state }: Row): void {
    const { contradictions = [], isUnclear = false } = this.#records.get(known.order.id) ?? {};
    const isOurs = known.decided.includes('ours');
    const what = `${quoted(known)} is ${state}: ${contradictions.join(', ')}`;
    const isShown = contradictions.some((kind) => kind !== 'age' || isAgeKnown(known, this.#plan));
    if ((state === 'open' || state === 'final') && isShown && !isOurs)
      this.#knowledge.fail('what contradicts never reads as ours', what);
    const wasSent = known.creates.some(({ isProvedNotTaken }) => !isProvedNotTaken);
    const mayBeOfAnother = isUnclear || this.#knowledge.isMerchantUnclear || !isAgeKnown(known, this.#plan);
    if (state === 'disputed' && contradictions.length === 0 && wasSent && !mayBeOfAnother)
      this.#knowledge.fail('no order of ours is disputed', what);
  }

  #checkRow(known: Known, row: Row, wallMs: number): void {
    const knowledge = this.#knowledge;
    const what = `${quoted(known)} ${row.state}`;
    for (const [field, column] of Object.entries(COLUMN_OF)) {
      const last = this.#history.lastOf(known.order.id, field);
      if ((row[column] ?? null) !== last)
        knowledge.fail('row equals last event', `${what} ${column} ${row[column]}, ${last}`);
    }
    const dueAt = row['next_action_at'];
    if (LOOKED_AT.includes(row.state) && (dueAt === null || Date.parse(String(dueAt)) > wallMs + LONGEST_WAIT_MS)) {
      knowledge.fail('no order is lost', `${what} is looked at ${dueAt === null ? 'never' : `only ${dueAt}`}`);
    }
    if (row['asset'] !== known.asset) knowledge.fail('what was sent stays', `${what} has asset ${row['asset']}`);
    // The database may have lost the id with the answer.
    if (row.state === 'accepted' && row['pre_order_id'] === null && !known.isTakenForSent)
      knowledge.fail('no order is lost', `${what} without its id`);
    const preOrderId = row['pre_order_id'];
    if (preOrderId !== null && !known.idsGiven.has(String(preOrderId)))
      knowledge.fail('ids as the exchange gave them', `${what} has the pre-order ${preOrderId}`);
    this.#checkModified(known, 'row', Date.parse(String(row['modification_date'])));
  }

  /** A record that may be of another order is always taken: its date orders nothing. */
  #checkModified(known: Known, what: 'row' | 'record', modifiedAt: number): void {
    // A date far ahead orders nothing either.
    if (Number.isNaN(modifiedAt) || modifiedAt > FAR_AHEAD) return;
    const key = `${what} ${known.order.id}`;
    const mayBeOfAnother = known.wasContradicted || this.#knowledge.isMerchantUnclear;
    if (modifiedAt < (this.#modifiedAt.get(key) ?? Number.NEGATIVE_INFINITY) && !mayBeOfAnother)
      this.#knowledge.fail('no older record over a newer one', `the ${what} of ${quoted(known)} went back`);
    this.#modifiedAt.set(key, modifiedAt);
  }
}
