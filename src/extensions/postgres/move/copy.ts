import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../base/clock.ts';
import { accountsIn } from '../../commands/tables/accounts.ts';
import { StoreError, unusable } from '../../../store/errors.ts';
import { readSignOfRestore, RESTORE_ADVICE } from '../../../store/mark.ts';
import { upsert } from '../../../store/statement.ts';
import { readMove, type Move } from '../../../store/tables/moves.ts';
import type { Database, Store } from '../../../store/port.ts';
import type { Session } from '../snapshot.ts';
import {
  analyzeTarget,
  completeTarget,
  COPIED,
  countRows,
  describeTables,
  insertRows,
  rowName,
  sourceRows,
  takeTarget,
  targetRows,
} from './tables.ts';
import type { Column, Row, TableColumns } from './tables.ts';
import { checkChains } from '../../restore/tables/chain.ts';

type ShowProgress = (text: string) => Promise<void>;

/** No process may own the old database during the move. */
type MoveDeps = Readonly<{ source: Store; target: Store; session: Session; clock: Clock }>;

/**
 * Commits the copy as `arriving`, then the old database as `moved`, and last the copy as `arrived`. So after a crash at
 * most one of the two can be used. If only the last step was missing, does this step and returns undefined. Throws
 * `StoreError`: the old database is then unchanged, or `moved` if only the last step is missing.
 */
export async function moveDatabase(deps: MoveDeps, show: ShowProgress) {
  const { source, target, clock } = deps;
  const left = await readMove(source.db);
  if (left?.state === 'moved') return await finish(deps, left);
  const move = { id: randomUUID(), source: source.address, target: target.address, at: clock.now().toISOString() };
  const here = await source.db.startTransaction().execute();
  try {
    const sign = await readSignOfRestore(here, await source.mark.read());
    if (sign !== undefined) throw unusable(`${source.address} ${sign}; ${RESTORE_ADVICE}`);
    const copied = await copyTo(deps.session, here, move, show);
    await upsert('database_moves', { ...move, state: 'moved' }, 'id').execute(here);
    await here.commit().execute();
    await finish(deps, move);
    return copied;
  } catch (error) {
    if (!here.isCommitted && !here.isRolledBack) await here.rollback().execute();
    throw error;
  }
}

async function copyTo(session: Session, source: Database, move: Move, show: ShowProgress) {
  await session.exec('begin');
  try {
    const last = await readMove(session.db);
    const isBrokenOff = last?.state === 'arriving';
    if (isBrokenOff && last.source !== move.source) {
      const message = `a copy of ${last.source} to ${move.target} was broken off; run its db copy again to finish it, or name another empty database`;
      throw new StoreError('refused', message);
    }
    const copied = await copyTables({ source, session, address: move.target, isBrokenOff }, show);
    await session.db.deleteFrom('database_moves').execute();
    await upsert('database_moves', { ...move, state: 'arriving' }, 'id').execute(session.db);
    await session.exec('commit');
    return copied;
  } catch (error) {
    // If the connection was lost, the server has rolled back by itself.
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

type Sides = Readonly<{ source: Database; session: Session; address: string; isBrokenOff: boolean }>;

/** The most rows, and about the most characters, that are written at a time. */
const PAGE = 1_000;
const PAGE_CHARACTERS = 4_000_000;
const SHOWN_EVERY = 5_000;
/** The longest keys that fit into an index of PostgreSQL, in bytes. */
const LONGEST: Readonly<Record<string, number>> = { account: 200, external_order_id: 2_000 };

/** Copies all rows unchanged, and compares both sides. Throws `StoreError` if a row is unfit or a chain is broken. */
async function copyTables(sides: Sides, show: ShowProgress) {
  const { source, address, isBrokenOff } = sides;
  const { db: target } = sides.session;
  const { copied, others } = await describeTables(source, target);
  const tables: Record<string, number> = {};
  for (const { table } of copied) tables[table] = await countRows(source, table);
  const counter = (done: string, { table }: TableColumns) => {
    let rows = 0;
    return async () => {
      rows += 1;
      if (rows % SHOWN_EVERY === 0) await show(`${done} ${table}: ${rows} of ${tables[table]}`);
    };
  };
  await assertWhole(source, 'the old database');
  await takeTarget(target, address, isBrokenOff);
  for (const table of copied) await copyTable(sides, table, counter('copied', table));
  await analyzeTarget(target);
  for (const table of copied) await compareTable(sides, table, counter('compared', table));
  await assertWhole(target, address);
  await completeTarget(source, target);
  return { tables, rows: Object.values(tables).reduce((sum, count) => sum + count, 0), others };
}

async function assertWhole(db: Database, name: string): Promise<void> {
  const { broken } = await checkChains(db);
  if (broken === null) return;
  throw unusable(`event ${broken.id} of ${name} breaks the chain: ${broken.why}; nothing was copied`);
}

async function copyTable({ source, session }: Sides, table: TableColumns, onRow: () => Promise<void>): Promise<void> {
  let page: Row[] = [];
  let characters = 0;
  for await (const { all_bytes: bytes, ...row } of sourceRows(source, table)) {
    assertFit(table, row, bytes as Uint8Array);
    page.push(row);
    for (const value of Object.values(row)) characters += typeof value === 'string' ? value.length : 0;
    await onRow();
    if (page.length < PAGE && characters < PAGE_CHARACTERS) continue;
    await insertRows(session.db, table, page);
    page = [];
    characters = 0;
  }
  if (page.length > 0) await insertRows(session.db, table, page);
}

/** A column of SQLite takes any value. Throws `StoreError` if PostgreSQL cannot store a value of the row unchanged. */
function assertFit({ table, columns }: TableColumns, row: Row, bytes: Uint8Array): void {
  // The driver reads invalid UTF-8 without an error, so the bytes are checked.
  const isText = isUtf8(bytes) && !bytes.includes(0);
  const faults = columns.flatMap((column) => faultOf(column, row[column.name], isText) ?? []);
  if (!isText) faults.push('has text that is no valid UTF-8');
  const [fault] = faults;
  if (fault === undefined) return;
  throw new StoreError('refused', `${rowName(table, row)} ${fault}; nothing was copied, correct the row first`);
}

function faultOf({ name, isNumber }: Column, value: unknown, isText: boolean): string | undefined {
  if (value === null || (isNumber && Number.isSafeInteger(value))) return undefined;
  if (isNumber) return `has a value in ${name} that is no whole number up to ${Number.MAX_SAFE_INTEGER}`;
  if (typeof value !== 'string') return `has a value in ${name} that is no text`;
  if (!isText && value.includes('\0')) return `has a NUL in ${name}, which PostgreSQL does not take`;
  if (!isText && value.includes('\uFFFD')) return `has text in ${name} that is no valid UTF-8`;
  const longest = LONGEST[name] ?? Infinity;
  return Buffer.byteLength(value) > longest ? `has a longer ${name} than ${longest} bytes` : undefined;
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

function differenceOf({ table, columns }: TableColumns, row: Row, other: Row | undefined): string | undefined {
  const different = columns.map(({ name }) => name).filter((name) => other?.[name] !== row[name]);
  const isAnother = other === undefined || COPIED[table].some((column) => different.includes(column));
  if (isAnother) return `${rowName(table, row)} is not in the copy`;
  return different.length === 0 ? undefined : `${rowName(table, row)} differs in ${different.join(', ')}`;
}
