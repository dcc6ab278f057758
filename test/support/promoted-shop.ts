import { PARTS } from './parts.ts';
import { onTestFinished } from 'vitest';
import { createApp, type App, type Overrides } from '../../src/app.ts';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from './settings.ts';
import { createPass } from '../../src/orders/create.ts';
import { openStore } from '../../src/extensions/postgres/store.ts';
import { capturedLog } from './captured-log.ts';
import { temporaryFolder } from './folders.ts';
import { openMerchant } from './merchant-postgres.ts';
import { copyPostgresDatabase, newPostgresDatabase, type PostgresTestDatabase } from './postgres.ts';
import { placeOf } from './postgres-store.ts';
import { scriptedExchange, type ScriptedExchange } from './scripted-exchange.ts';

const NEVER = new AbortController().signal;
/** At this rate a pass reads some 650 rows in the time that counts at least. */
const RATE = { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '5' };

/** A shop on a primary, and what a standby has when it is promoted. */
export interface Shop {
  readonly exchange: ScriptedExchange;
  readonly database: PostgresTestDatabase;
  /** The settings of a worker. */
  readonly settings: (
    database: PostgresTestDatabase,
    more?: Readonly<Record<string, string>>,
  ) => Record<string, string>;
  /** Takes the account, does the work, and gives it back. */
  readonly drive: <Result>(
    database: PostgresTestDatabase,
    work: (app: App) => Promise<Result>,
    more?: Readonly<Record<string, string>>,
    overrides?: Overrides,
  ) => Promise<Result>;
  /** Promotes a standby that has received everything until now and nothing later. */
  readonly promotedLater: () => Promise<PostgresTestDatabase>;
  /** How often each order was created. */
  readonly created: () => ReadonlyMap<string, number>;
}

export async function shop(orders: number): Promise<Shop> {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  const database = await newPostgresDatabase();
  query(
    database,
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      select 'o' || lpad(n::text, 4, '0'), '1.5', 'BTC', 'EUR' from generate_series(1, ${orders}) n`,
  );
  const settings: Shop['settings'] = ({ url }, more = {}) => ({
    ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
    ORDER_SYNC_EXCHANGE_API_KEY: 'test-key',
    ...RATE,
    ORDER_SYNC_DATABASE_URL: url,
    ORDER_SYNC_OPS_LISTEN: 'off',
    ...more,
  });
  return {
    exchange,
    database,
    settings,
    async drive(place, work, more, overrides = {}) {
      const config = loadConfig({ requireExchange: true, cwd: temporaryFolder(), env: settings(place, more) });
      const options = { log: capturedLog().logger, ownerPatienceMs: 10_000, ...PARTS, ...overrides };
      await using app = await createApp(config, options);
      return await work(app);
    },
    async promotedLater() {
      const standby = await copyPostgresDatabase(database);
      promote(standby, 2);
      return standby;
    },
    created: () => {
      const ids = exchange.requests.filter(({ method }) => method === 'POST').map((one) => one.externalOrderId);
      return new Map([...Map.groupBy(ids, (id) => id)].map(([id, all]) => [id, all.length]));
    },
  };
}

/** From now on the server says that it was promoted. */
export function promote(database: PostgresTestDatabase, timeLine: number): void {
  query(
    database,
    `create or replace function order_sync_time_line() returns text language sql as
      $$ select system_identifier || '/0000000${timeLine}' from pg_control_system() $$`,
  );
}

/** From now on the database is on a server with another system identifier, as after a restore of a dump. */
export function moveToAnotherServer(database: PostgresTestDatabase): void {
  const line = `select '7000000000000000001/00000001'::text`;
  query(database, `create or replace function order_sync_time_line() returns text language sql as $$ ${line} $$`);
}

export function query(database: PostgresTestDatabase, sql: string, role?: string): readonly Record<string, unknown>[] {
  const merchant = openMerchant(database, role);
  try {
    if (/^select/i.test(sql)) return merchant.prepare(sql).all() as readonly Record<string, unknown>[];
    merchant.exec(sql);
    return [];
  } finally {
    merchant.close();
  }
}

export function idsIn(database: PostgresTestDatabase, state: string): readonly string[] {
  const select = `select external_order_id as id from merchant_orders where state = '${state}' order by 1`;
  return query(database, select).map(({ id }) => String(id));
}

export const send = async (app: App) => await createPass(app, NEVER);

/** Aborts once the app has sent this many orders. */
function stopAfter({ creates: { intents } }: App, most: number): AbortSignal {
  const stop = new AbortController();
  const add = intents.add.bind(intents);
  let left = most;
  intents.add = (intent) => {
    add(intent);
    left -= 1;
    if (left === 0) stop.abort();
  };
  return stop.signal;
}

/** Sends some orders and ends, as if its machine were lost. */
export const sendSome = (most: number) => async (app: App) => await createPass(app, stopAfter(app, most));

/** The database as a worker has it that does not drive the account. */
export async function openedBy(database: PostgresTestDatabase) {
  const clock = systemClock();
  const opened = await openStore(placeOf(database.url), clock, { expect: 'current' });
  onTestFinished(() => opened.close());
  const settings = { verifyAfter: [1_000] };
  return { clock, settings, log: capturedLog().logger, store: opened.forAccount('default') };
}

/** The rest of a fail-over: the id by which a person decides about it. */
export function failOverIn(database: PostgresTestDatabase): string {
  const [found] = query(database, 'select distinct fail_over as id from merchant_orders where fail_over is not null');
  return String(found?.['id']);
}

export const openFindings = (database: PostgresTestDatabase) =>
  query(database, `select class, external_order_id, actual from findings where status = 'open'`);
