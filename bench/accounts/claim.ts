import type { CompiledQuery, QueryResult } from 'kysely';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from '../../test/support/settings.ts';
import { accountsToSend } from '../../src/store/orders/due-times.ts';
import { openStore } from '../../src/store/open.ts';
import { DUE_COLUMNS, findOrders, FIRST_DUE } from '../../src/store/find-orders.ts';
import type { Database } from '../../src/store/port.ts';
import { middle, type Figure } from '../figures.ts';
import { settingsFor } from '../settings.ts';
import { fillOrders, LONG_AGO } from './fill.ts';
import { makeDatabase, type ServerBench } from './server.ts';

const DUE = 100;
const ACCOUNTS = 100;
const TARGET_MS = 1;
/** Each statement is run so often, the first time unmeasured. */
const RUNS = 21;
const NOBODY = 'http://127.0.0.1:9';

/** The time of the search for 100 due rows among millions in the database, half of them final and half pending for later. */
export async function measureClaim(bench: ServerBench): Promise<Figure[]> {
  const name = 'claim';
  const url = await makeDatabase(bench, name);
  const admin = bench.server.admin(name);
  await fill(admin, bench);
  const config = loadConfig({ requireExchange: true, cwd: bench.folder, env: settingsFor(NOBODY, url) });
  const store = await openStore(config.database, systemClock(), { expect: 'upgrade' });
  const { db } = store;
  const due = {
    account: 'shop-1',
    state: 'pending',
    until: new Date(),
    after: FIRST_DUE,
    by: 'due',
    limit: DUE,
  } as const;
  const found = await findOrders(db, due, DUE_COLUMNS);
  if (found.length !== DUE) throw new Error(`${found.length} due rows were found, not ${DUE}`);
  const claim = await statementOf(db, (collecting) => findOrders(collecting, due, DUE_COLUMNS));
  const look = await statementOf(db, (collecting) => accountsToSend(collecting, ''));
  await store.close();
  const rows = `${bench.sizes.many.orders.toLocaleString('en')} rows`;
  const figures = [
    {
      name: `claim of ${DUE} due among ${rows}`,
      unit: 'ms',
      ...middle(await executionMs(admin, claim)),
      target: { atMost: TARGET_MS },
    },
    {
      name: `look for ${ACCOUNTS} accounts to send among ${rows}`,
      unit: 'ms',
      ...middle(await executionMs(admin, look)),
    },
  ];
  await admin.end();
  return figures;
}

async function fill(admin: pg.Pool, { sizes, say }: ServerBench): Promise<void> {
  await fillOrders(admin, { orders: sizes.many.orders, accounts: ACCOUNTS, isHalfPending: true }, say);
  await admin.query(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, next_action_at)
      select 'shop-1', 'due-' || i, '0.0125', 'BTC', 'EUR', $1 from generate_series(1, ${DUE}) as i`,
    [LONG_AGO],
  );
  await admin.query('vacuum analyze merchant_orders');
}

/** The statement that the program runs, with its values. */
async function statementOf(db: Database, run: (collecting: Database) => Promise<unknown>): Promise<CompiledQuery> {
  const queries: CompiledQuery[] = [];
  const collecting = Object.create(db, {
    getExecutor: { value: () => db.getExecutor() },
    run: {
      value: <Row>(query: CompiledQuery<Row>): QueryResult<Row> => {
        queries.push(query);
        return { rows: [] };
      },
    },
  }) as Database;
  await run(collecting);
  const [query] = queries;
  if (query === undefined) throw new Error('the program ran no statement');
  return query;
}

/** The times that the database itself needs, with the statement kept as the program's connections keep it. */
async function executionMs(admin: pg.Pool, { sql, parameters }: CompiledQuery): Promise<number[]> {
  const client = await admin.connect();
  await client.query(`prepare kept as ${sql}`);
  const values = parameters.map((value) => pg.escapeLiteral(String(value))).join(', ');
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ 'Execution Time': number }] }>(
      `explain (analyze, format json) execute kept (${values})`,
    );
    times.push(rows[0]?.['QUERY PLAN'][0]['Execution Time'] ?? Number.NaN);
  }
  await client.query('deallocate kept');
  client.release();
  return times.slice(1);
}
