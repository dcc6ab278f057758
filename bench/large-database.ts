import Database from 'better-sqlite3';

/** Orders a statement. */
const BATCH = 100_000;
/** As long as a hash. */
export const HASH = '0'.repeat(64);
const AT = '2026-01-15T00:00:00.000Z';
const ID = `printf('shop-%09d', i)`;

/** The numbers of a batch of orders, for statements that insert one row a number. */
export const NUMBERS = 'with recursive n(i) as (select :first union all select i + 1 from n where i < :last)';

/** One row a table of each order; events are two. */
const FILLS = [
  `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, state, pre_order_id, exchange_type,
    order_id, order_status, crypto_status, fiat_status, attempts, next_action_at, last_lookup_at, created_at, updated_at,
    sent_at, changed_at, modification_date)
    ${NUMBERS} select ${ID}, '0.0125', 'BTC', 'EUR', 'final', 'pre-' || i, 'SELL', 'order-' || i, 'REQUEST', 'NEW', 'NEW', 1, null,
    '${AT}', '${AT}', '${AT}', '${AT}', '${AT}', '${AT}' from n`,
  `insert into order_records (account, external_order_id, body, received_at, merchant_id, compared_at)
    ${NUMBERS} select 'default', ${ID}, '{}', '${AT}', 'm1', '${AT}' from n`,
  ...[
    ['state', 'final'],
    ['order.status', 'REQUEST'],
  ].map(
    ([
      field,
      value,
    ]) => `insert into events (account, type, subject, field, new_value, observed_at, source, previous_hash,
      hash) ${NUMBERS} select 'default', 'order', ${ID}, '${field}', '${value}', '${AT}', 'lookup', '${HASH}', '${HASH}' from n`,
  ),
];
/** The newest event of the account, and what its events tell, as the program keeps it. */
const HEAD = `insert into event_heads (account, id, hash, counts) select account, id, hash, json_object(
  'orders', json((select json_group_object(state, orders) from (select state, count(*) as orders from merchant_orders group by state))),
  'findings', json((select json_group_object(class, open) from (select class, count(*) as open from findings group by class))))
  from events order by id desc limit 1`;

/** Fills a new database with final orders of which none is due: what the daemon has after years. */
export function fillWithFinalOrders(path: string, orders: number, say: (text: string) => void): void {
  fillDatabase(path, orders, FILLS, say);
}

/**
 * Fills a new database that takes any row, as a row begins as pending for everybody else. Statements insert many rows
 * each, and the indexes are made at the end, by sorting: row by row they would take most of the time.
 */
export function fillDatabase(
  path: string,
  orders: number,
  fills: readonly string[],
  say: (text: string) => void,
): void {
  const sqlite = new Database(path);
  // A fill that was broken off is of no use: it needs neither a journal nor the disk.
  sqlite.pragma('journal_mode = off');
  sqlite.pragma('synchronous = off');
  sqlite.pragma('cache_size = -1000000');
  const guards = sqlite.prepare(`select type, name, sql from sqlite_master
    where type in ('trigger', 'index') and sql is not null`);
  const dropped = guards.all() as { type: string; name: string; sql: string }[];
  for (const { type, name } of dropped) sqlite.exec(`drop ${type} ${name}`);
  const statements = fills.map((sql) => sqlite.prepare(sql));
  for (let first = 0; first < orders; first += BATCH) {
    const last = Math.min(first + BATCH, orders);
    sqlite.transaction(() => statements.forEach((fill) => fill.run({ first, last: last - 1 })))();
    if (last === orders || last % 1_000_000 === 0) say(`${last} orders made`);
  }
  sqlite.exec(HEAD);
  for (const { sql } of dropped) sqlite.exec(sql);
  sqlite.pragma('journal_mode = wal');
  sqlite.close();
}
