import type { Statement } from 'better-sqlite3';
import type { Row } from '../../documents/document.ts';
import type { AccountRows } from '../reconciliation/document.ts';
import { type ReportFinding, MOST_UNCHECKED, type UncheckedOrder } from '../reconciliation/findings.ts';
import { UNCHECKED_REASONS } from '../reconciliation/judge.ts';
import { TemporaryTables } from '../../../store/temporary.ts';

const FINDING =
  'id, rank, severity, class, status, account, external_order_id, pair, day, expected, actual, currency, since, reason';
const UNCHECKED = 'account, external_order_id, reason, pair, state, since, last_lookup, state_reason';

const TABLES = `
  create table finding (id integer, rank integer, severity text, class text, status text, account text, external_order_id text,
    pair text, day text, expected text, actual text, currency text, since text, reason text);
  create table unchecked (${UNCHECKED.replaceAll(/\w+/g, '$& text')});
  create table to_look_at (account text, external_order_id text, primary key (account, external_order_id)) without rowid;
  create table account_row (kind text, row text)`;

/** In the order of the reasons, which SQLite gets as their places. */
const REASON_PLACE = `case reason ${UNCHECKED_REASONS.map((reason, place) => `when '${reason}' then ${place}`).join(' ')} end`;

const findingsWhere = (condition: string) => `select ${FINDING} from finding where ${condition}
  order by status = 'acknowledged', rank, class, account, external_order_id, since, expected, actual, id`;

export class ReportTables extends TemporaryTables {
  readonly add = this.inserter<ReportFinding>('finding', FINDING);
  readonly addUnchecked = this.inserter<UncheckedOrder>('unchecked', UNCHECKED);
  readonly #addAccountRow = this.inserter<{ kind: keyof AccountRows; row: string }>('account_row', 'kind, row');
  readonly #addToLookAt = this.sqlite.prepare('insert or ignore into to_look_at values (?, ?)');
  #known: Statement | undefined;

  constructor() {
    super(TABLES);
  }

  /** Adds a derived finding unless the order has one of that class: known ones are added first. Returns true if it was added. */
  addUnlessKnown(finding: ReportFinding): boolean {
    if (this.#known === undefined) {
      this.sqlite.exec('create index finding_of_order on finding (account, external_order_id, class)');
      this.#known = this.sqlite.prepare(`select 1 from finding
        where account = @account and external_order_id = @external_order_id and class = @class`);
    }
    const { account, external_order_id, class: name } = finding;
    const isKnown = this.#known.get({ account, external_order_id, class: name }) !== undefined;
    if (!isKnown) this.add(finding);
    return !isKnown;
  }

  addToLookAt(account: string, externalOrderId: string): void {
    this.#addToLookAt.run(account, externalOrderId);
  }

  addAccount({ counts, pairs }: AccountRows): void {
    this.#addAccountRow({ kind: 'counts', row: JSON.stringify(counts) });
    for (const row of pairs) this.#addAccountRow({ kind: 'pairs', row: JSON.stringify(row) });
  }

  *accountRows(kind: keyof AccountRows): Iterable<Row> {
    const rows = this.rows<{ row: string }>('select row from account_row where kind = ? order by rowid', kind);
    for (const { row } of rows) yield JSON.parse(row) as Row;
  }

  findings(): Iterable<ReportFinding> {
    return this.rows(findingsWhere('true'));
  }

  worst(limit: number): readonly ReportFinding[] {
    return [...this.rows<ReportFinding>(`${findingsWhere(`status = 'open' and rank < 3`)} limit ?`, limit)];
  }

  /** Reads the orders that were not checked, by reason: of each those that have waited the longest, a bounded number. */
  unchecked(): Iterable<UncheckedOrder> {
    return this.#longest(`reason <> 'disputed'`);
  }

  disputed(): Iterable<UncheckedOrder> {
    return this.#longest(`reason = 'disputed'`);
  }

  ordersToLookAt(): number {
    return this.count('to_look_at');
  }

  #longest(condition: string): Iterable<UncheckedOrder> {
    const places = 'row_number() over (partition by reason order by since, account, external_order_id)';
    return this.rows(
      `select ${UNCHECKED} from (select *, ${places} as place from unchecked where ${condition})
        where place <= ? order by ${REASON_PLACE}, place`,
      MOST_UNCHECKED,
    );
  }
}
