import Database from 'better-sqlite3';

/** Orders a transaction. */
const BATCH = 100_000;
/** As long as a hash. */
const HASH = '0'.repeat(64);
const AT = '2026-01-15T00:00:00.000Z';
const NUMBERS = 'with recursive n(i) as (select :first union all select i + 1 from n where i < :last)';
const ID = `printf('shop-%09d', i)`;

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

/** Fills a new database with final orders of which none is due: what the daemon has after years. */
export function fillWithFinalOrders(path: string, orders: number, say: (text: string) => void): void {
  const sqlite = new Database(path);
  withoutTriggers(sqlite, () => {
    const fills = FILLS.map((sql) => sqlite.prepare(sql));
    for (let first = 1; first <= orders; first += BATCH) {
      const last = Math.min(first + BATCH - 1, orders);
      sqlite.transaction(() => fills.forEach((fill) => fill.run({ first, last })))();
      if (last % 1_000_000 === 0) say(`size: ${last} orders made`);
    }
  });
  sqlite.close();
}

/** Does the work in a database that takes any row, as a row begins as pending for everybody else, without a sync of the disk. */
export function withoutTriggers(sqlite: Database.Database, work: () => void): void {
  sqlite.pragma('synchronous = off');
  sqlite.pragma('cache_size = -1000000');
  const triggers = sqlite.prepare(`select name, sql from sqlite_master where type = 'trigger'`).all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of triggers) sqlite.exec(`drop trigger ${name}`);
  work();
  for (const { sql } of triggers) sqlite.exec(sql);
  sqlite.pragma('wal_checkpoint(truncate)');
}
