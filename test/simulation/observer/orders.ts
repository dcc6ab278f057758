import type Database from 'better-sqlite3';
import { COLUMN_OF, type HistoryChecks } from './history.ts';
import { isForeign, quoted, type Known, type Knowledge } from './known.ts';

const LOOKED_AT = ['pending', 'unknown', 'accepted', 'open', 'held'];
const ROW_COLUMNS =
  'external_order_id, state, order_status, crypto_status, fiat_status, asset, pre_order_id, modification_date, next_action_at';
const LONGEST_WAIT_MS = 8 * 24 * 3_600_000;

/** A row of `merchant_orders`. */
export type Row = Readonly<Record<string, string | number | null>> & { external_order_id: string; state: string };

/** Checks the rows of orders against their events, and the newest records. */
export class OrderChecks {
  readonly #knowledge: Knowledge;
  readonly #history: HistoryChecks;
  readonly #statements: Record<'rows' | 'records', Database.Statement>;
  /** The modification dates of the newest row and record so far. */
  readonly #modifiedAt = new Map<string, number>();

  constructor(reader: Database.Database, knowledge: Knowledge, history: HistoryChecks) {
    this.#knowledge = knowledge;
    this.#history = history;
    this.#statements = {
      rows: reader.prepare(`select ${ROW_COLUMNS} from merchant_orders`),
      records: reader.prepare('select external_order_id as id, body from order_records'),
    };
  }

  /** All rows by id. */
  rows(): Map<string, Row> {
    return new Map((this.#statements.rows.all() as Row[]).map((row) => [row.external_order_id, row]));
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
    for (const { id, body } of this.#statements.records.all() as { id: string; body: string }[]) {
      const modifiedAt = Date.parse(/"modificationDate":"([^"]*)"/.exec(body)?.[1] ?? '');
      this.#checkModified(this.#knowledge.of(id), 'record', modifiedAt);
    }
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
    if (row.state === 'accepted' && row['pre_order_id'] === null)
      knowledge.fail('no order is lost', `${what} without its id`);
    this.#checkModified(known, 'row', Date.parse(String(row['modification_date'])));
  }

  /** A record that may be of another order is always taken: its date orders nothing. */
  #checkModified(known: Known, what: 'row' | 'record', modifiedAt: number): void {
    if (Number.isNaN(modifiedAt)) return;
    const key = `${what} ${known.order.id}`;
    if (modifiedAt < (this.#modifiedAt.get(key) ?? Number.NEGATIVE_INFINITY) && !isForeign(known.order))
      this.#knowledge.fail('no older record over a newer one', `the ${what} of ${quoted(known)} went back`);
    this.#modifiedAt.set(key, modifiedAt);
  }
}
