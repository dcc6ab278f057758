import { sql, type Kysely } from 'kysely';
import type { TABLES } from '../../../../migrations/rules.ts';
import { messageOf } from '../../../base/text.ts';
import { StoreError, unusable } from '../../../store/errors.ts';
import type { Database, Transaction } from '../../../store/port.ts';
import { cursorPages, type Session } from '../snapshot.ts';

export type CopiedTable = Exclude<(typeof TABLES)[number], 'database_moves' | 'migration_hashes'>;

export const COPIED: Readonly<Record<CopiedTable, readonly string[]>> = {
  account_facts: ['account', 'name'],
  account_holds: ['account', 'kind'],
  account_owners: ['account'],
  event_heads: ['account'],
  events: ['id'],
  findings: ['id'],
  idempotent_requests: ['account', 'key_hash'],
  kept_answers: ['id'],
  links: ['account', 'link_id'],
  merchant_orders: ['account', 'external_order_id'],
  order_records: ['account', 'external_order_id'],
  photo_tokens: ['account', 'token_hash'],
  photos: ['id'],
  pre_orders: ['account', 'external_order_id'],
  request_leases: ['account'],
  seen_statuses: ['account', 'field', 'value'],
  webhook_cursors: ['account', 'endpoint'],
  webhook_deliveries: ['account', 'endpoint', 'event_id'],
  webhook_endpoints: ['name'],
};

export const COPIED_TABLES = Object.keys(COPIED) as CopiedTable[];

export type Column = Readonly<{ name: string; isNumber: boolean }>;
export type TableColumns = Readonly<{ table: CopiedTable; columns: readonly Column[] }>;

export type Row = Readonly<Record<string, unknown>>;

export function rowName(table: CopiedTable, row: Row): string {
  const key = COPIED[table].map((column) => `${column} ${JSON.stringify(row[column] ?? null)}`);
  return `${table} (${key.join(', ')})`;
}

/** The most rows of the copy that are read at a time, because a row may hold a large answer of the exchange. */
const AHEAD = 200;

export async function countRows(db: Database, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Reads the rows in the order of their keys. `all_bytes` holds the bytes of all values of a row. */
export function sourceRows(source: Database, table: TableColumns): AsyncIterable<Row> {
  const names = table.columns.map(({ name }) => sql.ref(name));
  const bytes = sql`cast(concat_ws(char(10), ${sql.join(names)}) as blob)`.as('all_bytes');
  return selected(source, table).select(bytes).stream();
}

export async function* targetRows(session: Session, table: TableColumns): AsyncGenerator<Row, undefined> {
  for await (const page of cursorPages<Row>(session, selected(session.db, table), AHEAD)) yield* page;
  return undefined;
}

function selected(db: Database, { table, columns }: TableColumns) {
  const names = columns.map(({ name }) => name);
  const rows = (db as unknown as Kysely<Record<string, Row>>).selectFrom(table).select(names);
  return rows.orderBy(sql`${sql.join(COPIED[table].map((column) => sql.ref(column)))}`);
}

/** Only PostgreSQL has these tables. A row in them shows that workers use the database. */
const WORKERS = ['workers', 'account_wakes'];
/** The tables with triggers that would change or refuse a copied row. */
const GUARDED = ['merchant_orders', 'events'];

async function columnsOf(db: Database, schema?: string) {
  const tables = (await db.introspection.getTables()).filter((one) => !one.isView && one.schema === schema);
  return new Map(tables.map(({ name, columns }) => [name, columns]));
}

/** Finds the columns to copy, and the tables and columns of the old database that do not belong to order-sync. */
export async function describeTables(source: Database, target: Database) {
  const { rows } = await sql<{ name: string }>`select current_schema()::text as name`.execute(target);
  const [here, there] = [await columnsOf(source), await columnsOf(target, rows[0]?.name)];
  const others: string[] = [];
  const copied = COPIED_TABLES.map((table): TableColumns => {
    const ours = here.get(table) ?? [];
    const theirs = new Set(there.get(table)?.map(({ name }) => name));
    const columns = ours
      .filter(({ name }) => theirs.has(name))
      .map(({ name, dataType }) => ({ name, isNumber: dataType.toLowerCase() === 'integer' }));
    if (columns.length < Math.max(1, theirs.size))
      throw unusable(`the databases are of different versions (${table}); bring both up to date`);
    others.push(...ours.filter(({ name }) => !theirs.has(name)).map(({ name }) => `${table}.${name}`));
    return { table, columns };
  });
  return { copied, others: [...others, ...[...here.keys()].filter((table) => !there.has(table))] };
}

/** Locks the new database, and empties it if an earlier move was broken off. Throws `StoreError` if rows are left. */
export async function takeTarget(tx: Transaction, address: string, isBrokenOff: boolean): Promise<void> {
  await sql`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`.execute(tx);
  const tables = [...COPIED_TABLES, ...WORKERS];
  const names = sql.join(tables.map((name) => sql.table(name)));
  // Workers and inserts of a merchant wait for this lock, and then find that the database must not be used yet.
  await sql`lock table ${names} in access exclusive mode`.execute(tx);
  // Only the owner of the tables can disable triggers. `completeTarget` enables them again in this transaction.
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
  if (isBrokenOff) await sql`truncate ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
  for (const table of tables) {
    const { rows } = await sql`select from ${sql.table(table)} limit 1`.execute(tx);
    if (rows.length === 0) continue;
    const message = `${address} has rows in ${table}, but a copy needs an empty database; name another database`;
    throw new StoreError('refused', message);
  }
}

export async function insertRows(tx: Transaction, { table, columns }: TableColumns, rows: readonly Row[]) {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  const json = JSON.stringify(rows);
  try {
    await sql`insert into ${sql.table(table)} (${names})
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  } catch (error) {
    const [first, last] = [rows[0] ?? {}, rows.at(-1) ?? {}];
    const where = `between ${rowName(table, first)} and ${rowName(table, last)}`;
    throw new StoreError('refused', `a row ${where} was refused: ${messageOf(error)}`, { cause: error });
  }
}

/** Collects statistics, because without them the planner would read whole tables for a while. */
export async function analyzeTarget(tx: Transaction): Promise<void> {
  await sql`analyze ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
}

/** Enables the triggers again, and makes new ids follow the newest ids of the old database. */
export async function completeTarget(source: Database, tx: Transaction): Promise<void> {
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
  const { rows } = await sql<{ name: CopiedTable; last: number }>`select name, seq as last from sqlite_sequence
    where seq > 0`.execute(source);
  for (const { name, last } of rows.filter((one) => COPIED_TABLES.includes(one.name)))
    await sql`select setval(pg_get_serial_sequence(${name}, 'id'), ${last})`.execute(tx);
}
