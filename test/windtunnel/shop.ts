import Database from 'better-sqlite3';
import pg from 'pg';
import { OWNER, type PostgresServer } from '../support/postgres-server.ts';

/** A row of an order. */
export interface Row {
  readonly account: string;
  readonly id: string;
  readonly state: string;
}

/** A change of the state of an order. */
interface StateEvent {
  readonly id: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The shops' own way to the database, which is not disturbed. */
export interface Shop extends AsyncDisposable {
  /** False if it may not have been inserted. */
  insert(account: string, id: string): Promise<boolean>;
  rows(): Promise<readonly Row[]>;
  stateEvents(): Promise<readonly StateEvent[]>;
}

const INSERT = `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, payment_token)
  values ($1, $2, '1.5', 'BTC', 'EUR', 'canary-payment-token') on conflict do nothing`;
const ROWS = 'select account, external_order_id as id, state from merchant_orders';
const STATE_EVENTS = `select external_order_id as id, old_value as before, new_value as after
  from order_events e where field = 'state' order by account, e.id`;

export function postgresShop({ folder, port }: PostgresServer, database: string): Shop & { readonly pool: pg.Pool } {
  const pool = new pg.Pool({ host: folder, port, user: OWNER, database, max: 4 });
  pool.on('error', () => undefined);
  return { pool, ...shopBy((sql, values) => pool.query(sql, values)), [Symbol.asyncDispose]: () => pool.end() };
}

/** A shop that sends its statements by `query`. */
export function shopBy(
  query: <Found extends pg.QueryResultRow>(
    sql: string,
    values?: string[],
  ) => Promise<{ readonly rows: readonly Found[] }>,
): Omit<Shop, typeof Symbol.asyncDispose> {
  return {
    insert: (account, id) =>
      query(INSERT, [account, id]).then(
        () => true,
        () => false,
      ),
    rows: async () => (await query<Row>(ROWS)).rows,
    stateEvents: async () => (await query<StateEvent>(STATE_EVENTS)).rows,
  };
}

/** Opens the file anew each time, so that its disk may come and go. It never waits: a wait here stops the exchange too. */
export function sqliteShop(path: string): Shop {
  const on = <Result>(use: (database: Database.Database) => Result): Result => {
    const database = new Database(path, { timeout: 20, fileMustExist: true });
    try {
      return use(database);
    } finally {
      database.close();
    }
  };
  return {
    async insert(account, id) {
      try {
        return on((database) => database.prepare(INSERT).run({ 1: account, 2: id })) !== undefined;
      } catch {
        return false;
      }
    },
    rows: async () => on((database) => database.prepare(ROWS).all() as Row[]),
    stateEvents: async () => on((database) => database.prepare(STATE_EVENTS).all() as StateEvent[]),
    async [Symbol.asyncDispose]() {},
  };
}
