import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { linksPass } from '../../src/flows/clients/links.ts';
import { sweep } from '../../src/flows/findings/sweep.ts';
import { createPass } from '../../src/flows/orders/create.ts';
import { followPass } from '../../src/flows/orders/follow.ts';
import { decideOrders, listTargets } from '../../src/flows/orders/operator-decisions.ts';
import { syncOnce } from '../../src/flows/orders/sync.ts';
import { countWaiting } from '../../src/store/waiting-orders.ts';
import { listFindings } from '../../src/store/listed-findings.ts';
import { listOrders } from '../../src/store/listed-orders.ts';
import type { WrapStatement } from '../../src/store/sqlite/connection.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { hastyClock } from '../support/test-clock.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { DAY, HOUR, MINUTE } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';

const NEVER = new AbortController().signal;
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
  [/USING (COVERING )?INDEX (merchant_orders_followed|order_records_uncompared) /, 'the index has the few rows alone'],
  [/^SCAN (CONSTANT ROW|late|never|due|accounts):/, 'what the statement has just found, a page or one row an account'],
  [/^SEARCH merchant_orders USING COVERING INDEX \w+( \(account>\?\))?: .* min\(account\)/, 'the first entry'],
  [
    /^SEARCH merchant_orders USING (COVERING )?INDEX merchant_orders_by_age \(account=\?.* order by created_at desc/,
    'the newest, as many as a list looks at',
  ],
  [/^SCAN (listed|findings): .* from \(select .* limit (\?|1 offset \?)\)/, 'what a list looks at, limited'],
  [
    /^SEARCH (merchant_orders|findings) USING .*external_order_id>\? AND external_order_id<\?\): .* limit (\?|1 offset \?)\)/,
    'the ids that begin alike, limited',
  ],
  [/^SEARCH links USING COVERING INDEX links_to_check /, 'a page of the links that wait, limited'],
  [/^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\):/, 'the rows between two ids'],
  [/^SEARCH events: .* max\("id"\)/, 'the newest event'],
  [/^SCAN events: .* order by "id" desc limit \?$/, 'the newest event'],
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

const CREATES: Readonly<Record<string, ScriptedAnswer>> = {
  refused: refusal(400),
  blocked: refusal(403),
  lost: 'reset',
};

/** Has the program do all that it does by itself: starts, passes, sweeps, `sync`, and a decision of a person. */
async function doEverything(statements: Statements): Promise<TestProgram> {
  const overrides = { store: { wrap: collecting(statements) } };
  const { program, exchange } = await scriptedProgram({ clock: hastyClock(), overrides });
  exchange.answer = (request) => {
    const { externalOrderId: id, method } = request;
    if (method === 'POST') return CREATES[id] ?? echo(request, { id });
    if (id === 'ended') return record(id, { status: 'COMPLETED', crypto: 'DONE' });
    return id === 'open' ? record(id) : NOT_FOUND;
  };
  program.insert(
    ...['refused', 'blocked', 'lost', 'ended', 'open', 'waiting', 'dying'].map((external_order_id) => ({
      external_order_id,
    })),
    { external_order_id: 'wrong', asset: 'x' },
  );
  program.merchant.exec(`insert into links (account, link_id, source, status, created_at, updated_at, last_checked_at)
    values ('default', 'l1', 'create', 'NOT_VERIFIED', '2026', '2026', '2026')`);
  await createPass(program.app, NEVER);
  for (const ms of [MINUTE, HOUR, DAY, 7 * DAY]) {
    program.clock.advance(ms);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'due', NEVER);
    await followPass(program.app, 'all', NEVER);
    await sweep(program.app, NEVER);
  }
  await linksPass(program.app, NEVER);
  await countWaiting(program.app.store.db, { account: 'default', now: program.clock.now() });
  const action = { actor: 'a', reason: 'r', judgement: { kind: 'abandoned' } } as const;
  await listTargets(program.app, { state: 'held', limit: 10 }, action);
  for (const state of ['held', 'final'] as const)
    await listOrders(program.app.store.db, { account: 'default', state, limit: 10 });
  await listEverything(program);
  const decided = await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'waiting' }], action));
  expect(decided).toMatchObject([{ kind: 'done' }]);
  await program.app[Symbol.asyncDispose]();
  unguarded(program.merchant, () =>
    program.merchant
      .exec(`update merchant_orders set state = 'sending', next_action_at = '2099', revision = revision + 1
      where external_order_id in ('dying', 'open')`),
  );
  program.merchant.exec('update order_records set compared_at = null');
  await program.restart();
  await syncOnce(program.app, 'all', NEVER);
  return program;
}

/** Has the lists read by each of their filters. */
async function listEverything({ app: { store } }: TestProgram): Promise<void> {
  const [period, pair] = [
    { from: '2025', to: '2099' },
    { from: 'BTC', to: 'EUR' },
  ];
  for (const filter of [
    {},
    { ...period, pair },
    { state: 'final', pair },
    { class: 'STUCK', ...period },
    { order: { id: 'open', isPrefix: false } },
    { order: { id: 'o', isPrefix: true }, pair },
  ] as const) {
    const query = { account: 'default', limit: 10, ...filter };
    await listOrders(store.db, query);
    await listFindings(store.db, query);
    await listFindings(store.db, { ...query, status: 'open' });
  }
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
  const program = await doEverything(statements);
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
