import Database from 'better-sqlite3';
import type { ReportFinding } from '../../reports/reconciliation/findings.ts';

/**
 * A temporary database of one report, for rows that are too many for memory and have to be sorted. SQLite keeps it in
 * memory while it is small and in a file without a name after that; it is gone with the report.
 */
export interface Scratch extends Disposable {
  add(finding: ReportFinding): void;
  /** Adds a finding that the report derived by itself, unless the order has one of that class; true when it was added. */
  addUnlessKnown(finding: ReportFinding): boolean;
  /** Reads every finding: the gravest first, then by class and order. */
  findings(): Iterable<ReportFinding>;
}

/** Opens an empty scratch database. */
export function openScratch(): Scratch {
  const sqlite = new Database('');
  sqlite.pragma('journal_mode = off');
  sqlite.pragma('cache_size = -16000');
  sqlite.exec(`create table finding (id integer, rank integer, severity text, class text, status text, external_order_id text,
    pair text, day text, expected text, actual text, since text, reason text)`);
  const columns = 'id, rank, severity, class, status, external_order_id, pair, day, expected, actual, since, reason';
  const values = columns.replace(/\w+/g, '@$&');
  const insert = sqlite.prepare(`insert into finding (${columns}) values (${values})`);
  // Known findings are added first; the index is made once they are all there.
  let insertUnlessKnown: Database.Statement | undefined;
  sqlite.exec('begin');
  return {
    add: (finding) => void insert.run(finding),
    addUnlessKnown(finding) {
      if (insertUnlessKnown === undefined) {
        sqlite.exec('create index finding_of_order on finding (external_order_id, class)');
        insertUnlessKnown = sqlite.prepare(`insert into finding (${columns}) select ${values} where not exists
          (select 1 from finding where external_order_id = @external_order_id and class = @class)`);
      }
      return insertUnlessKnown.run(finding).changes === 1;
    },
    // Begun when it is read: a statement that nobody has read to its end keeps the database from being closed.
    *findings() {
      yield* sqlite
        .prepare<[], ReportFinding>(
          `select ${columns} from finding order by rank, class, external_order_id, since, expected, actual, id`,
        )
        .iterate();
    },
    [Symbol.dispose]: () => void sqlite.close(),
  };
}
