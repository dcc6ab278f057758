import { createHash } from 'node:crypto';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { countWaiting, DUE_COLUMNS, findOrders, FIRST_DUE } from '../../../src/store/find-orders.ts';
import { accountsToSend, dueLookups } from '../../../src/store/orders/due-times.ts';
import { findingsOf } from '../../../src/store/tables/findings.ts';
import { sendingOrders } from '../../../src/store/orders/orders.ts';
import type { Database } from '../../../src/store/port.ts';
import { openConnections } from '../../../src/extensions/postgres/connection.ts';
import { beforeNewestChanges, changedOrders, statusEvents } from '../../../src/extensions/pace/tables/status-events.ts';
import { doEverything } from '../../support/everything.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { placeOf } from '../../support/postgres-store.ts';

/** Tables with a few rows an account. */
const FEW = /^(account_\w+|request_leases|event_heads|seen_statuses|workers|database_\w+|kysely_migration)$/;

/**
 * Scans that compare no column but the account, each followed by its statement, and why they do not read a table whole all the
 * same. A scan that is new here wants an index, another condition, or its reason in this list.
 */
const BOUNDED: readonly (readonly [scan: RegExp, why: string])[] = [
  [
    /^merchant_orders merchant_orders_pending .* limit (0 \+ )?\$\d+\)/,
    'the pending ones alone, counted up to a limit',
  ],
  [/^merchant_orders merchant_orders_corrected \(account = waiting\w*\.account.* limit 1\) as "at"/, 'the first entry'],
  [/ \(account = account_owners\.account\): .* limit 1\) is not null/, 'one entry'],
  [/^events events_of_statuses .* limit 1 offset \$\d+$/, 'the newest changes, as many as are learned from'],
  [/^events events_key .* order by "account" desc, "id" desc limit \$2$/, 'the newest events, as many as are shown'],
  [/^events events_key .* order by newest\.id desc limit 1\) as hash/, 'the newest event of an account'],
  [
    /^events events_key .* id desc limit (1 offset \$\d+$|\$\d+\) as newest_events)/,
    'the newest events, as many as are counted',
  ],
  [/^merchant_orders merchant_orders_followed .* limit \$\d+\) as followed\)/, 'orders that are followed, limited'],
  [/^merchant_orders merchant_orders_(by_age|key) .* limit 1 offset \$\d+$/, 'as many as a list looks at'],
  [
    /^merchant_orders merchant_orders_by_age .* order by created_at desc, external_order_id desc limit \$\d+$/,
    'no more rows than a list looks at: the statement before it has counted them',
  ],
];

const COUNT = 20_000;
/** The most pages that a statement reads to find a few of many. */
const MOST_READ = 300;
const LATER = new Date('2027-01-01');
const AT = `to_char(timestamp '2026-01-01' + i * interval '10 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Orders, nine in ten of one account and the others of a hundred; a few in each state, most final. */
const orders = (from: number, to: number) =>
  `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, state, pre_order_id,
      attempts, next_action_at, last_lookup_at, created_at, updated_at)
    select case when i % 10 > 0 then 'default' else 'account ' || i % 1000 end, md5(i::text), '1.5', 'BTC', 'EUR', state,
      case when state <> 'pending' then 'pre-' || i end, 1, ${AT}, case when i % 7 > 0 then ${AT} end, ${AT}, ${AT}
    from generate_series(${from}, ${to}) i, lateral (select case when i % 100 < 1 then 'held' when i % 100 < 2 then 'unknown'
      when i % 100 < 5 then 'accepted' when i % 100 < 8 then 'open' when i % 100 < 12 then 'pending'
      when i % 100 < 13 then 'disputed' when i % 100 < 20 then 'rejected' else 'final' end as state) s`;

/** The orders of one account with which the planner takes the ways that it takes for millions. */
const MANY = [
  ...['merchant_orders', 'events', 'order_records', 'findings', 'links'].map(
    (table) => `alter table ${table} set (autovacuum_enabled = off)`,
  ),
  'alter table merchant_orders disable trigger user',
  orders(1, COUNT),
  'alter table merchant_orders enable trigger user',
  `insert into events (account, type, subject, field, new_value, observed_at, source, previous_hash, hash)
    select account, 'order', external_order_id, field, 'x', created_at, 'lookup', '', ''
    from merchant_orders, unnest(array['state', 'order.status', 'record.ratio']) field`,
  `insert into order_records (account, external_order_id, body, received_at, order_id, transaction_hash, completed_at,
      compared_at)
    select account, external_order_id, '{}', created_at, 'o-' || external_order_id, 'h-' || external_order_id, created_at,
      case when right(external_order_id, 3) <> '000' then created_at end
    from merchant_orders where state = 'final' on conflict do nothing`,
  `insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at, status)
    select account, (array['STUCK', 'UNCHECKED', 'AMOUNT_MISMATCH'])[1 + i % 3], 'warning', external_order_id, created_at,
      created_at, (array['open', 'acknowledged', 'resolved', 'resolved'])[1 + i % 4]
    from (select *, row_number() over (order by external_order_id) as i from merchant_orders) o`,
  `insert into links (account, link_id, source, status, created_at, updated_at, last_checked_at)
    select 'default', 'l' || i, 'create', 'NOT_VERIFIED', ${AT}, ${AT}, ${AT} from generate_series(2, ${COUNT}) i`,
  // Of every row: a plan that depends on a sample is another one now and then.
  'set default_statistics_target = 10000',
  'analyze',
];

/** The statements that connections are given while `work` runs, each with the values of its last run. */
async function statementsOf(work: () => Promise<unknown>): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const statements = new Map<string, readonly unknown[]>();
  const query = Reflect.get(pg.Client.prototype, 'query') as (...given: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [first] = given as [string | { readonly text?: string; readonly values?: readonly unknown[] } | undefined];
    const { text, values = [] } = typeof first === 'string' ? { text: first } : (first ?? {});
    if (text !== undefined && /^\s*(select|insert|update|delete|with)\b/i.test(text)) statements.set(text, values);
    return query.apply(this, given);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return statements;
}

/** The scans of a plan: of which table, by which index, with which condition. */
function scansOf(plan: readonly string[]): { table: string; index: string; condition: string }[] {
  return plan.flatMap((line, place) => {
    const [, kind, index = '', table = ''] =
      /(Seq Scan|Index Scan|Index Only Scan|Bitmap Index Scan)(?: Backward)?(?: using (\S+))? on (\S+)/.exec(line) ??
      [];
    if (kind === undefined) return [];
    const condition = /^\s*Index Cond: (.*)$/.exec(plan[place + 1] ?? '')?.[1] ?? '';
    return [{ table, index: kind === 'Bitmap Index Scan' ? table : index, condition }];
  });
}

it('nothing that the program does by itself reads a table whole, also with plans that know no values', async () => {
  let url = '';
  const statements = await statementsOf(async () => {
    const program = await doEverything();
    for (const statement of MANY) program.merchant.exec(statement);
    ({ url } = program.database);
  });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set enable_seqscan = off; set plan_cache_mode = force_generic_plan');
  const whole: string[] = [];
  for (const text of statements.keys()) {
    await client.query(`prepare one as ${text}`);
    const values = new Set(text.match(/\$\d+/g) ?? []).size;
    const given = values === 0 ? '' : `(${Array.from({ length: values }, () => 'null').join(', ')})`;
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute one${given}`);
    await client.query('deallocate one');
    for (const { table, index, condition } of scansOf(rows.map((row) => row['QUERY PLAN']))) {
      if (FEW.test(table)) continue;
      const others = condition.replaceAll(/\(+account = [^)]*\)+( AND)?/g, '').trim();
      const scan = `${table} ${index} ${condition}: ${text.replaceAll(/\s+/g, ' ').trim()}`;
      if (others === '' && !BOUNDED.some(([bounded]) => bounded.test(scan))) whole.push(scan);
    }
  }
  await client.end();
  expect(statements.size).toBeGreaterThan(40);
  expect(whole).toEqual([]);
});

it('an order or a link is found by its key also with a plan that was made when there were none', async () => {
  const database = await newPostgresDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
  for (const [table, id] of [
    ['merchant_orders', 'external_order_id'],
    ['links', 'link_id'],
  ]) {
    await client.query(`prepare one as select * from ${table} where account = $1 and ${id} = $2 for no key update`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) execute one ('a', 'b')`);
    await client.query('deallocate one');
    expect(scansOf(rows.map((row) => row['QUERY PLAN'])).map(({ index }) => index)).toEqual([`${table}_key`]);
  }
  await client.end();
});

/** The statements that run many times a minute, of an account or of all. */
const ASKED: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  sendingOrders: (db) => sendingOrders(db, { account: 'default', until: LATER, limit: 100 }),
  dueLookups: (db) =>
    dueLookups(db, { account: 'default', limit: 10, placeOf: () => ({ until: LATER, after: undefined }) }),
  findOrders: (db) =>
    findOrders(
      db,
      { account: 'default', state: 'pending', until: LATER, after: FIRST_DUE, by: 'due', limit: 10 },
      DUE_COLUMNS,
    ),
  findingsOf: (db) => findingsOf(db, 'default', 'none'),
  accountsToSend: (db) => accountsToSend(db, ''),
  countWaiting: (db) => countWaiting(db, { account: 'default', now: LATER, limit: 10 }),
  beforeNewestChanges: (db) => beforeNewestChanges(db, 'default', 100),
  changedOrders: (db) => changedOrders(db, { account: 'default', afterId: 20, limit: 100 }),
  statusEvents: (db) => statusEvents(db, 'default', [1, 2, 4, 5, 7].map(idOf)),
};

function idOf(order: number): string {
  return createHash('md5').update(`${order}`).digest('hex');
}

/** Prepares the statements, with plans for the tables as they are. Returns a run of each. */
async function keepPlans(client: pg.Client, url: string, made: string): Promise<readonly string[]> {
  await using connections = openConnections(placeOf(url), { max: 1 });
  const runs: string[] = [];
  for (const [name, ask] of Object.entries(ASKED)) {
    const [[text, values] = ['', []]] = await statementsOf(() => ask(connections.db));
    await client.query(`prepare "${name} ${made}" as ${text}`);
    runs.push(`execute "${name} ${made}" (${values.map((value) => pg.escapeLiteral(String(value))).join(', ')})`);
    await client.query(`explain ${runs.at(-1)}`);
  }
  return runs;
}

it('what is asked again and again reads little also with plans that were made for a smaller table', async () => {
  const { url } = await newPostgresDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
  // Statistics would have the plans made anew.
  for (const table of ['merchant_orders', 'findings', 'events'])
    await client.query(`alter table ${table} disable trigger user, set (autovacuum_enabled = off)`);
  const grow = async (from: number, to: number) => {
    await client.query(orders(from, to));
    await client.query(`insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at)
      select 'default', 'STUCK', 'warning', md5(i::text), ${AT}, ${AT} from generate_series(${from}, ${to}) i`);
    await client.query(`insert into events (account, type, subject, field, observed_at, source, previous_hash, hash)
      select 'default', 'order', md5(i::text), field, ${AT}, 'lookup', '', ''
      from generate_series(${from}, ${to}) i, unnest(array['state', 'order.status', 'record.ratio']) field`);
  };
  const runs = [...(await keepPlans(client, url, 'for none'))];
  await grow(1, COUNT / 2);
  runs.push(...(await keepPlans(client, url, 'for half')));
  await grow(COUNT / 2 + 1, COUNT);
  const slow: string[] = [];
  for (const run of runs) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${run}`);
    const [, hit = 0, read = 0] =
      /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(rows.map((row) => row['QUERY PLAN']).join('\n')) ?? [];
    if (Number(hit) + Number(read) > MOST_READ) slow.push(`${run}: ${hit} + ${read} pages`);
  }
  await client.end();
  expect(runs).toHaveLength(2 * Object.keys(ASKED).length);
  expect(slow).toEqual([]);
});
