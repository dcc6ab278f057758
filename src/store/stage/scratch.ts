import Database from 'better-sqlite3';
import type { Row } from '../../reports/formats/document.ts';
import type { AccountRows } from '../../reports/reconciliation/accounts.ts';
import type { ReportFinding } from '../../reports/reconciliation/findings.ts';
import { MOST_UNCHECKED, UNCHECKED_ORDER, type UncheckedOrder } from '../../reports/reconciliation/unchecked.ts';

/**
 * A temporary database of one report, for rows that are too many for memory and have to be sorted. SQLite keeps it in
 * memory while it is small and in a file without a name after that; it is gone with the report.
 */
export interface Scratch extends Disposable {
  add(finding: ReportFinding): void;
  /** Adds a finding that the report derived by itself, unless the order has one of that class; true when it was added. */
  addUnlessKnown(finding: ReportFinding): boolean;
  addUnchecked(order: UncheckedOrder): void;
  /** Notes an order that a person should look at; noted twice it counts once. */
  addToLookAt(account: string, externalOrderId: string): void;
  /** Keeps the rows of an account in a report of all. */
  addAccount(rows: AccountRows): void;
  /** Reads the rows of the accounts in the order in which they were added. */
  accountRows(kind: keyof AccountRows): Iterable<Row>;
  /** Reads every finding: open ones, the gravest first, then by class and order. */
  findings(): Iterable<ReportFinding>;
  /** The first open findings of severity error or warning. */
  worst(limit: number): readonly ReportFinding[];
  /** Reads the orders that were not checked, by reason: of each those that have waited the longest, a bounded number. */
  unchecked(): Iterable<UncheckedOrder>;
  /** Reads a bounded number of the disputed orders. */
  disputed(): Iterable<UncheckedOrder>;
  ordersToLookAt(): number;
}

/** In the order of the reasons, which SQLite gets as their places. */
const REASON_PLACE = `case reason ${UNCHECKED_ORDER.map((reason, place) => `when '${reason}' then ${place}`).join(' ')} end`;

const TABLES = `
  create table finding (id integer, rank integer, severity text, class text, status text, account text, external_order_id text,
    pair text, day text, expected text, actual text, currency text, since text, reason text);
  create table unchecked (account text, external_order_id text, reason text, pair text, state text, since text,
    last_lookup text, state_reason text);
  create table to_look_at (account text, external_order_id text, primary key (account, external_order_id)) without rowid;
  create table account_row (kind text, row text)`;

/** Opens an empty scratch database. */
export function openScratch(): Scratch {
  const sqlite = new Database('');
  sqlite.pragma('journal_mode = off');
  sqlite.pragma('cache_size = -16000');
  sqlite.exec(TABLES);
  const columns =
    'id, rank, severity, class, status, account, external_order_id, pair, day, expected, actual, currency, since, reason';
  const values = columns.replace(/\w+/g, '@$&');
  const insert = sqlite.prepare(`insert into finding (${columns}) values (${values})`);
  const uncheckedColumns = 'account, external_order_id, reason, pair, state, since, last_lookup, state_reason';
  const insertUnchecked = sqlite.prepare(
    `insert into unchecked (${uncheckedColumns}) values (${uncheckedColumns.replace(/\w+/g, '@$&')})`,
  );
  const insertToLookAt = sqlite.prepare('insert or ignore into to_look_at values (?, ?)');
  const select = (condition: string) => `select ${columns} from finding where ${condition}
    order by status = 'acknowledged', rank, class, account, external_order_id, since, expected, actual, id`;
  function* longest(condition: string): Iterable<UncheckedOrder> {
    const places = 'row_number() over (partition by reason order by since, account, external_order_id)';
    yield* sqlite
      .prepare<[number], UncheckedOrder>(
        `select ${uncheckedColumns} from (select *, ${places} as place from unchecked where ${condition})
        where place <= ? order by ${REASON_PLACE}, place`,
      )
      .iterate(MOST_UNCHECKED);
  }
  // Known findings are added first; the index is made once they are all there.
  let insertUnlessKnown: Database.Statement | undefined;
  sqlite.exec('begin');
  return {
    add: (finding) => void insert.run(finding),
    addUnlessKnown(finding) {
      if (insertUnlessKnown === undefined) {
        sqlite.exec('create index finding_of_order on finding (account, external_order_id, class)');
        insertUnlessKnown = sqlite.prepare(`insert into finding (${columns}) select ${values} where not exists
          (select 1 from finding where account = @account and external_order_id = @external_order_id and class = @class)`);
      }
      return insertUnlessKnown.run(finding).changes === 1;
    },
    addUnchecked: (order) => void insertUnchecked.run(order),
    addToLookAt: (account, externalOrderId) => void insertToLookAt.run(account, externalOrderId),
    ...accountTable(sqlite),
    // Begun when it is read: a statement that nobody has read to its end keeps the database from being closed.
    *findings() {
      yield* sqlite.prepare<[], ReportFinding>(select('true')).iterate();
    },
    worst: (limit) =>
      sqlite.prepare<[number], ReportFinding>(`${select(`status = 'open' and rank < 3`)} limit ?`).all(limit),
    unchecked: () => longest(`reason <> 'disputed'`),
    disputed: () => longest(`reason = 'disputed'`),
    ordersToLookAt: () => sqlite.prepare('select count(*) from to_look_at').pluck().get() as number,
    [Symbol.dispose]: () => void sqlite.close(),
  };
}

/** The rows of accounts, kept as JSON. */
function accountTable(sqlite: Database.Database): Pick<Scratch, 'addAccount' | 'accountRows'> {
  const insert = sqlite.prepare('insert into account_row values (?, ?)');
  return {
    addAccount({ counts, pairs }) {
      insert.run('counts', JSON.stringify(counts));
      for (const row of pairs) insert.run('pairs', JSON.stringify(row));
    },
    *accountRows(kind) {
      const rows = sqlite
        .prepare<[string], string>('select row from account_row where kind = ? order by rowid')
        .pluck();
      for (const row of rows.iterate(kind)) yield JSON.parse(row) as Row;
    },
  };
}
