import { sql, type Kysely } from 'kysely';
import type { TABLES } from '../../../../migrations/rules.ts';
import { StoreError } from '../../../store/errors.ts';
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

export const NUMBERED_TABLES = COPIED_TABLES.filter((table) => COPIED[table][0] === 'id');

export interface TableColumns {
  readonly table: CopiedTable;
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
}

export type TextRow = Readonly<Record<string, string | null>>;

export function rowName(table: CopiedTable, row: Readonly<Record<string, unknown>>): string {
  const key = COPIED[table].map((column) => `${column} ${JSON.stringify(row[column] ?? null)}`);
  return `${table} (${key.join(', ')})`;
}

/** How many rows are read at a time. Each may hold a large answer of the exchange. */
const AHEAD = 200;

type AnyDatabase = Kysely<Record<string, Record<string, unknown>>>;

export function anyTable(db: Database): AnyDatabase {
  return db as unknown as AnyDatabase;
}

export function sourceRows(source: Database, table: TableColumns): AsyncIterable<TextRow> {
  return selected(source, table).stream() as AsyncIterable<TextRow>;
}

export async function* targetRows(session: Session, table: TableColumns): AsyncGenerator<TextRow, undefined> {
  for await (const page of cursorPages<TextRow>(session, selected(session.db, table), AHEAD)) yield* page;
  return undefined;
}

function selected(db: Database, { table, columns }: TableColumns) {
  let rows = anyTable(db)
    .selectFrom(table)
    .select(columns.map(({ name }) => sql<string | null>`cast(${sql.ref(name)} as text)`.as(name)));
  for (const column of COPIED[table]) rows = rows.orderBy(sql.ref(`${table}.${column}`));
  return rows;
}

/** Tables that only PostgreSQL has. They are empty until a worker uses the database. */
const WORKERS = ['workers', 'account_wakes'];
/** The tables whose guards would change a row that is copied, or refuse it. */
const GUARDED = ['merchant_orders', 'events'];

export async function columnsOf(db: Database, schema?: string) {
  const tables = await db.introspection.getTables();
  return new Map(
    tables
      .filter((table) => !table.isView && table.schema === schema)
      .map(({ name, columns }) => [
        name,
        new Map(columns.map((column) => [column.name, column.dataType.toLowerCase()])),
      ]),
  );
}

/** Takes the new database for this transaction, and empties it if `isBrokenOff`. Throws `StoreError` if it has rows. */
export async function takeTarget(tx: Transaction, address: string, isBrokenOff: boolean): Promise<void> {
  await sql`set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`.execute(tx);
  const tables = [...COPIED_TABLES, ...WORKERS];
  const names = sql.join(tables.map((name) => sql.table(name)));
  // A worker, or a merchant who inserts, waits meanwhile, and then finds that this database must not be used yet.
  await sql`lock table ${names} in access exclusive mode`.execute(tx);
  // Only the owner of the tables can disable triggers. They are enabled again before this transaction is committed.
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx);
  if (isBrokenOff) await sql`truncate ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
  for (const table of tables) {
    const row = await anyTable(tx)
      .selectFrom(table)
      .select(sql`1`.as('one'))
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) continue;
    const message = `${address} has rows in ${table}, and a copy wants an empty database; name a new one`;
    throw new StoreError('refused', message);
  }
}

export async function insertRows(tx: Transaction, { table, columns }: TableColumns, rows: readonly TextRow[]) {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  const json = JSON.stringify(rows);
  try {
    await sql`insert into ${sql.table(table)} (${names})
      select ${names} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(tx);
  } catch (error) {
    const [first, last] = [rows[0] ?? {}, rows.at(-1) ?? {}];
    const why = error instanceof Error ? error.message : String(error);
    const where = `between ${rowName(table, first)} and ${rowName(table, last)}`;
    throw new StoreError('refused', `a row ${where} was refused: ${why}`, { cause: error });
  }
}

/** Collects statistics, without which the database would read whole tables until it collects them by itself. */
export async function analyzeTarget(tx: Transaction): Promise<void> {
  await sql`analyze ${sql.join(COPIED_TABLES.map((name) => sql.table(name)))}`.execute(tx);
}

/** Enables the guards again, and makes new ids follow the newest ids of the old database. */
export async function completeTarget(tx: Transaction, lastIds: ReadonlyMap<CopiedTable, number>): Promise<void> {
  for (const table of GUARDED) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx);
  for (const table of NUMBERED_TABLES) {
    const last = lastIds.get(table) ?? 0;
    if (last > 0) await sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${last})`.execute(tx);
  }
}
