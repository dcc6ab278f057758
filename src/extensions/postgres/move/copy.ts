import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Clock } from '../../../base/clock.ts';
import { accountsIn } from '../../commands/tables/accounts.ts';
import { StoreError, unusable } from '../../../store/errors.ts';
import { readSignOfRestore, RESTORE_ADVICE } from '../../../store/mark.ts';
import { readMove, recordMove, type Move } from '../../../store/tables/moves.ts';
import type { Database, Store } from '../../../store/port.ts';
import type { Session } from '../snapshot.ts';
import {
  analyzeTarget,
  anyTable,
  columnsOf,
  completeTarget,
  COPIED,
  COPIED_TABLES,
  insertRows,
  NUMBERED_TABLES,
  rowName,
  sourceRows,
  takeTarget,
  targetRows,
  type CopiedTable,
  type TableColumns,
  type TextRow,
} from './tables.ts';
import { checkChains } from '../../restore/tables/chain.ts';

type ShowProgress = (text: string) => Promise<void>;

export interface Copied {
  readonly tables: Readonly<Record<string, number>>;
  readonly rows: number;
  /** Tables and columns of the old database that are not of order-sync. */
  readonly others: readonly string[];
}

/** No process may own the old database meanwhile. */
interface MoveDeps {
  readonly source: Store;
  readonly target: Store;
  readonly session: Session;
  readonly clock: Clock;
}

/**
 * The copy is committed as arriving, the old database is marked as moved, and then the copy has arrived: after a crash
 * only one of the two is in use. Returns undefined if only the end was missing. Throws `StoreError`, and then the old
 * database is as it was.
 */
export async function moveDatabase(deps: MoveDeps, show: ShowProgress): Promise<Copied | undefined> {
  const { source, target, session, clock } = deps;
  const left = await readMove(source.db);
  if (left?.state === 'moved') return await finish(deps, left);
  const move = { id: randomUUID(), source: source.address, target: target.address, at: clock.now().toISOString() };
  const here = await source.db.startTransaction().execute();
  try {
    const sign = await readSignOfRestore(here, await source.mark.read());
    if (sign !== undefined) throw unusable(`${source.address} ${sign}; ${RESTORE_ADVICE}`);
    const copied = await copyTo(deps, move, (isBrokenOff) =>
      copyTables({ source: here, session, address: target.address, isBrokenOff }, show),
    );
    await recordMove(here, move, 'moved');
    await here.commit().execute();
    await finish(deps, move);
    return copied;
  } catch (error) {
    if (!here.isCommitted && !here.isRolledBack) await here.rollback().execute();
    throw error;
  }
}

async function copyTo(
  { source, target, session }: MoveDeps,
  move: Move,
  copy: (isBrokenOff: boolean) => Promise<Copied>,
): Promise<Copied> {
  await session.exec('begin');
  try {
    const last = await readMove(session.db);
    const isBrokenOff = last?.state === 'arriving';
    if (isBrokenOff && last.source !== source.address) {
      const message = `a copy of ${last.source} to ${target.address} was broken off; end that one first`;
      throw new StoreError('refused', message);
    }
    const copied = await copy(isBrokenOff);
    await session.db.deleteFrom('database_moves').execute();
    await recordMove(session.db, move, 'arriving');
    await session.exec('commit');
    return copied;
  } catch (error) {
    // A lost connection has undone the transaction by itself.
    await session.exec('rollback').catch(() => undefined);
    throw error;
  }
}

async function finish({ source, target, clock }: MoveDeps, move: Move): Promise<undefined> {
  const arrived = await readMove(target.db);
  if (arrived?.id !== move.id) {
    throw unusable(`${source.address} was moved to ${move.target} on ${move.at}`);
  }
  for (const account of await accountsIn(target.db, 'account_owners')) {
    const { mark } = target.forAccount(account);
    await mark.write({ ...(await mark.position()), at: clock.now().toISOString() });
  }
  await target.db.updateTable('database_moves').set({ state: 'arrived' }).where('id', '=', move.id).execute();
}

interface Sides {
  readonly source: Database;
  readonly session: Session;
  readonly address: string;
  readonly isBrokenOff: boolean;
}

/** The most rows, and about the most characters, that are written at a time. */
const PAGE = 1_000;
const PAGE_CHARACTERS = 4_000_000;
const SHOWN_EVERY = 5_000;

/** Copies all rows as they are, and compares both sides. Throws `StoreError` if a row or a chain of events is unfit. */
async function copyTables(sides: Sides, show: ShowProgress): Promise<Copied> {
  const { source, session, address, isBrokenOff } = sides;
  const { db: target } = session;
  const { copied, others } = await describeTables(source, target);
  const counts = new Map<TableColumns, number>();
  for (const table of copied)
    counts.set(table, await checkTable(source, table, counter(show, `checked ${table.table}`)));
  await assertWhole(source, 'the old database');
  await takeTarget(target, address, isBrokenOff);
  for (const [table, count] of counts) await copyTable(sides, table, counter(show, `copied ${table.table}`, count));
  await analyzeTarget(target);
  for (const [table, count] of counts)
    await compareTable(sides, table, counter(show, `compared ${table.table}`, count));
  await assertWhole(target, address);
  await completeTarget(target, await readLastIds(source));
  const tables = Object.fromEntries([...counts].map(([{ table }, count]) => [table, count]));
  return { tables, rows: [...counts.values()].reduce((sum, count) => sum + count, 0), others };
}

async function assertWhole(db: Database, name: string): Promise<void> {
  const { broken } = await checkChains(db);
  if (broken === null) return;
  const message = `event ${broken.id} of ${name} breaks the chain: ${broken.why}; nothing was copied`;
  throw unusable(message);
}

async function copyTable({ source, session }: Sides, table: TableColumns, onRow: () => Promise<void>): Promise<void> {
  for await (const page of pagesOf(sourceRows(source, table))) {
    await insertRows(session.db, table, page);
    for (let rows = 0; rows < page.length; rows += 1) await onRow();
  }
}

async function compareTable(sides: Sides, table: TableColumns, onRow: () => Promise<void>): Promise<void> {
  const others = targetRows(sides.session, table);
  for await (const row of sourceRows(sides.source, table)) {
    const { value: other } = await others.next();
    const difference = differenceOf(table, row, other);
    if (difference !== undefined) throw unusable(`${difference}; nothing was moved`);
    await onRow();
  }
  const { value: extra } = await others.next();
  if (extra === undefined) return;
  throw unusable(`${rowName(table.table, extra)} is in the copy alone; nothing was moved`);
}

function differenceOf({ table, columns }: TableColumns, row: TextRow, other: TextRow | undefined): string | undefined {
  const isSame = (column: string) => other?.[column] === row[column];
  if (other === undefined || !COPIED[table].every(isSame)) return `${rowName(table, row)} is not in the copy`;
  const different = columns.filter(({ name }) => !isSame(name)).map(({ name }) => name);
  return different.length === 0 ? undefined : `${rowName(table, row)} differs in ${different.join(', ')}`;
}

async function* pagesOf(rows: AsyncIterable<TextRow>): AsyncIterable<readonly TextRow[]> {
  let page: TextRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    page.push(row);
    for (const value of Object.values(row)) characters += value?.length ?? 0;
    if (page.length < PAGE && characters < PAGE_CHARACTERS) continue;
    yield page;
    page = [];
    characters = 0;
  }
  if (page.length > 0) yield page;
}

function counter(show: ShowProgress, what: string, total?: number): () => Promise<void> {
  let rows = 0;
  return async () => {
    rows += 1;
    if (rows % SHOWN_EVERY === 0) await show(`${what}: ${rows}${total === undefined ? '' : ` of ${total}`}`);
  };
}

async function describeTables(source: Database, target: Database) {
  const { rows } = await sql<{ name: string }>`select current_schema()::text as name`.execute(target);
  const [here, there] = [await columnsOf(source), await columnsOf(target, rows[0]?.name)];
  const others: string[] = [];
  const copied = COPIED_TABLES.map((table): TableColumns => {
    const [ours, theirs] = [
      here.get(table) ?? new Map<string, string>(),
      there.get(table) ?? new Map<string, string>(),
    ];
    const lacking = [...theirs.keys()].find((name) => !ours.has(name));
    if (theirs.size === 0 || lacking !== undefined) {
      throw unusable(`the databases are of different versions (${table}); bring both up to date`);
    }
    const isOurs = ([name]: readonly [string, string]) => theirs.has(name);
    others.push(...[...ours.keys()].filter((name) => !theirs.has(name)).map((name) => `${table}.${name}`));
    const columns = [...ours].filter(isOurs).map(([name, type]) => ({ name, isNumber: type === 'integer' }));
    return { table, columns };
  });
  others.push(...[...here.keys()].filter((table) => !there.has(table)));
  return { copied, others };
}

/** The highest id that each table has ever used: the id of a deleted row is not used again. */
async function readLastIds(source: Database): Promise<ReadonlyMap<CopiedTable, number>> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(source);
  const numbered = rows.filter(({ name }) => NUMBERED_TABLES.includes(name as CopiedTable));
  return new Map(numbered.map(({ name, seq }) => [name as CopiedTable, seq]));
}

const AHEAD = 100;
/** The longest keys that fit into an index of PostgreSQL, in bytes. */
const LONGEST: Readonly<Record<string, number>> = { account: 200, external_order_id: 2_000 };

type Row = Readonly<Record<string, unknown>>;

/** Counts the rows. Throws `StoreError` at a value that is not of its column's type, because SQLite takes any value. */
async function checkTable(db: Database, { table, columns }: TableColumns, onRow: () => Promise<void>): Promise<number> {
  const names = columns.map(({ name }) => sql.ref(name));
  // A driver reads invalid Unicode as if it were valid, so the bytes are checked.
  const rows = anyTable(db)
    .selectFrom(table)
    .select(names.map((name, index) => sql<unknown>`${name}`.as(columns[index]?.name ?? '')))
    .select(sql<Uint8Array>`cast(concat_ws(char(10), ${sql.join(names)}) as blob)`.as('all_bytes'));
  let count = 0;
  for await (const { all_bytes: bytes, ...row } of rows.stream(AHEAD) as AsyncIterable<Row>) {
    const isText = isUtf8(bytes as Uint8Array) && !(bytes as Uint8Array).includes(0);
    for (const { name, isNumber } of columns) assertValue(table, row, { name, isNumber, isText });
    if (!isText) throw refusal(table, row, 'has text that is no valid UTF-8');
    count += 1;
    await onRow();
  }
  return count;
}

function assertValue(
  table: CopiedTable,
  row: Row,
  { name, isNumber, isText }: { name: string; isNumber: boolean; isText: boolean },
): void {
  const value = row[name] ?? null;
  if (value === null) return;
  if (isNumber ? !Number.isSafeInteger(value) : typeof value !== 'string') {
    const wanted = isNumber ? `a whole number up to ${Number.MAX_SAFE_INTEGER}` : 'text';
    throw refusal(table, row, `has in ${name} what is not ${wanted}`);
  }
  if (typeof value !== 'string') return;
  if (!isText && value.includes('\0'))
    throw refusal(table, row, `has a NUL in ${name}, which PostgreSQL does not take`);
  if (!isText && value.includes('\uFFFD')) throw refusal(table, row, `has text in ${name} that is no valid UTF-8`);
  const longest = LONGEST[name];
  if (longest !== undefined && value.length * 3 > longest && Buffer.byteLength(value) > longest) {
    throw refusal(table, row, `has a longer ${name} than ${longest} bytes`);
  }
}

function refusal(table: CopiedTable, row: Row, what: string): StoreError {
  const message = `${rowName(table, row)} ${what}; nothing was copied, correct the row first`;
  return new StoreError('refused', message);
}
