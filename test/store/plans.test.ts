import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { WrapStatement } from '../../src/store/sqlite/connection.ts';
import { doEverything } from '../support/everything.ts';

const MILLIONS = 5_000_000;

/** Each statement that the program ran, with the values of its first run. */
type Statements = Map<string, readonly unknown[]>;

/**
 * Steps of plans, each followed by its statement, that compare no column but the account for equality, and why they do not
 * read a table whole all the same. A step that is new here wants an index, another condition, or its reason in this list.
 */
const BOUNDED: readonly (readonly [step: RegExp, why: string])[] = [
  [
    /^(SCAN|SEARCH) (account_owners|request_leases|event_heads|account_holds|database_moves)\b/,
    'a few rows an account',
  ],
  [/^SCAN (holds|\(subquery-\d+\)): select account, kind, since, /, 'a few rows an account'],
  [/^SCAN \d+-ROW VALUES CLAUSE: insert into "?(events|seen_statuses)"? /, 'the rows that the statement inserts'],
  [/^SCAN json_each VIRTUAL TABLE INDEX 1:: /, 'the texts that the statement is given'],
  [/^SEARCH seen_statuses .* limit 0 \+ \?$/, 'statuses are few, and no more are read than the limit'],
  [/USING (COVERING )?INDEX (merchant_orders_followed|order_records_uncompared) /, 'the index has the few rows alone'],
  [
    /^SEARCH merchant_orders USING COVERING INDEX merchant_orders_(pending|corrected) \(account>\?\)/,
    'the first entry',
  ],
  [
    /^SCAN (CONSTANT ROW|late|never|due|accounts|first|waiting|of_pending|of_invalid|found|few|judged|named|unknown_orders|invalid_orders):/,
    'what the statement has just found, a page or one row an account',
  ],
  [
    /^(SCAN|SEARCH) merchant_orders USING COVERING INDEX merchant_orders_pending\b.* limit (0 \+ \?|\?|\d+)\) as found/,
    'the pending ones alone, counted up to a limit',
  ],
  [
    /^SEARCH events USING INDEX events_of_account \(account=\? AND id>\?\): .* limit (0 \+ \?|\?|\d+)$/,
    'a page of the feed, limited',
  ],
  [
    /^SEARCH events USING INDEX events_of_account .* desc limit (0 \+ \?|\?|\d+)$/,
    'the newest events, as many as are shown',
  ],
  [/^SEARCH merchant_orders USING COVERING INDEX \w+( \(account>\?\))?: .* min\(account\)/, 'the first entry'],
  [
    /^SEARCH merchant_orders USING (COVERING )?INDEX merchant_orders_by_age \(account=\?.* order by created_at( desc)?(, external_order_id( desc)?)? limit/,
    'as many as a list looks at',
  ],
  [
    /^SEARCH merchant_orders USING PRIMARY KEY \(account=\?( AND external_order_id>\?)?\): .* limit 1 offset \?$/,
    'the last one that a list looks at',
  ],
  [
    /^SEARCH merchant_orders USING PRIMARY KEY .*external_order_id<\?\): .* and external_order_id <= \?.* limit \?$/,
    'up to the last one that a list looks at',
  ],
  [/^SCAN (listed|findings): .* from \(select .* limit (\?|\d+|\d+ offset \?)\)/, 'what a list looks at, limited'],
  [
    /^SEARCH (merchant_orders|findings) USING .*external_order_id>\? AND external_order_id<\?\): .* limit (\?|\d+|\d+ offset \?)\)/,
    'the ids that begin alike, limited',
  ],
  [
    /^SEARCH events USING INDEX events_of_account .* id desc limit (1 offset \?$|(\?|\d+)\) as newest_events)/,
    'the newest events, as many as are counted',
  ],
  [
    /^SEARCH merchant_orders USING COVERING INDEX merchant_orders_by_age \(account=\? AND created_at>\?\): select "move"/,
    'the newest orders: from the time on of the last one that is counted',
  ],
  [/^SCAN (newest_events|followed): .* limit (0 \+ \?|\?|\d+)\) as \1/, 'what the statement has just found, limited'],
  [
    /^SEARCH merchant_orders USING PRIMARY KEY .*external_order_id>\? AND external_order_id<\?\): .* limit (0 \+ \?|\?|\d+)$/,
    'the ids that begin alike, limited',
  ],
  [
    /^(SCAN (head|after_cursors|retrying|dead)|SEARCH waiting|SEARCH events USING INDEX events_of_account \(account=\? AND id>\?\)): select name, taken_at/,
    'one event an account, and rows of events that were refused up to a limit',
  ],
  [/^SCAN pragma_user_version VIRTUAL TABLE /, 'one number of the file'],
  [/^SEARCH links USING COVERING INDEX links_to_check /, 'a page of the links that wait, limited'],
  [/^SCAN newest: .* limit 200\) as newest /, 'the newest events of an order, limited'],
  [
    /^SEARCH events USING (COVERING )?INDEX events_of_statuses .* limit (0 \+ \?|\?|\d+)( offset \?)?$/,
    'a page of changes, limited',
  ],
  [/^SEARCH e USING INDEX events_of_creates .* limit (0 \+ \?|\?|\d+)$/, 'a page of the creates of the last hour'],
  [
    /^SEARCH webhook_deliveries USING .* webhook_deliveries_delivered .* limit (0 \+ \?|\?|\d+)\)?$/,
    'a page of what may be deleted',
  ],
  [/^SEARCH account_facts USING INDEX .* "name" >= 'fail-over\.' /, 'the promotions of the database'],
  [/^SEARCH head USING INDEX sqlite_autoindex_event_heads_1 /, 'one row an account'],
  [
    /^SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_due \(account>\? AND account<\?\)/,
    'one row an order that an endpoint has refused or failed at',
  ],
  [
    /^SCAN retrying: select count\(\*\) as "?count"? from \(select .* limit (0 \+ \?|\?|\d+)\)/,
    'the events that are retried, up to a limit',
  ],
  [
    /^SEARCH (answer|photos|idempotent_requests) USING (COVERING )?INDEX \w+_by_age .* limit (0 \+ \?|\?|\d+)$/,
    'a page of what is old enough to be deleted',
  ],
  [/^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\):/, 'the rows between two ids'],
  [/^SEARCH events: .* max\("?id"?\)/, 'the newest event'],
  [/^SCAN events: .* order by "id" desc limit (0 \+ \?|\?|\d+)$/, 'the newest event'],
];

function collecting(statements: Statements): WrapStatement {
  return (text, statement) => {
    const note = (parameters: readonly unknown[]) => {
      if (!statements.has(text)) statements.set(text, parameters);
      return parameters;
    };
    return {
      reader: statement.reader,
      all: (parameters) => statement.all(note(parameters)),
      run: (parameters) => statement.run(note(parameters)),
      iterate: (parameters) => statement.iterate(note(parameters)),
    };
  };
}

/** The columns that distinguish rows; of all others every row may have the same. */
const IDS = [
  'external_order_id',
  'subject',
  'link_id',
  'id',
  'transaction_hash',
  'token_hash',
  'stored_name',
  'delivery',
];

/** Puts the statistics into the database that it has with millions of orders of one account. */
function pretendLarge(sqlite: Database.Database): void {
  sqlite.exec('analyze; delete from sqlite_stat1');
  const put = sqlite.prepare('insert into sqlite_stat1 values (?, ?, ?)');
  const tables = sqlite.prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`);
  for (const table of tables.pluck().all() as string[]) {
    for (const { name, partial } of sqlite.pragma(`index_list(${table})`) as { name: string; partial: number }[]) {
      const columns = (sqlite.pragma(`index_info(${name})`) as { name: string }[]).map((column) => column.name);
      const rows = partial === 1 ? 0 : MILLIONS;
      const alike = columns.map((_, index) =>
        columns.slice(0, index + 1).some((one) => IDS.includes(one)) ? 2 : rows,
      );
      // The key of a table without a rowid bears the name of the table there.
      const isIndex = sqlite.prepare('select rootpage from sqlite_master where name = ?').get(name) !== undefined;
      put.run(table, isIndex ? name : table, [rows, ...alike].join(' '));
    }
  }
}

/** The steps of a statement that may read a table whole. */
function wholeReads(sqlite: Database.Database, text: string, parameters: readonly unknown[]): string[] {
  const plan = sqlite.prepare(`explain query plan ${text}`).all(parameters) as { detail: string }[];
  const comparesAnother = /\((.* )?(?!account\b)\w+=\?/;
  return plan
    .map(({ detail }) => detail)
    .filter((step) => /^(SCAN|SEARCH)/.test(step) && !comparesAnother.test(step))
    .map((step) => `${step}: ${text.replaceAll(/\s+/g, ' ').trim()}`)
    .filter((step) => !BOUNDED.some(([bounded]) => bounded.test(step)));
}

it.each([
  ['without statistics', () => {}],
  ['with the statistics of millions of orders', pretendLarge],
])('nothing that the program does by itself reads a table whole, %s', async (_name, prepare) => {
  const statements: Statements = new Map();
  const program = await doEverything({ store: { wrap: collecting(statements) } });
  const { path } = program.config.database;
  const statistics = new Database(path);
  prepare(statistics);
  statistics.close();
  // Statistics are read when a database is opened.
  const sqlite = new Database(path);
  const whole = [...statements].flatMap(([text, parameters]) => wholeReads(sqlite, text, parameters));
  sqlite.close();
  expect(statements.size).toBeGreaterThan(40);
  expect(whole).toEqual([]);
});
