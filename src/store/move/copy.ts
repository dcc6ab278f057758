import { StoreError } from '../errors.ts';
import { checkChains } from '../chain.ts';
import type { Database } from '../port.ts';
import { checkTable } from './check.ts';
import { sourceRows, targetRows, type Session } from './rows.ts';
import { describeTables, readLastIds } from './source.ts';
import { analyzeTarget, completeTarget, insertRows, takeTarget } from './target.ts';
import { COPIED, rowName, type TableColumns, type TextRow } from './tables.ts';

/** Shows how far a copy is; signals are heard meanwhile. */
export type ShowProgress = (text: string) => Promise<void>;

/** What was copied. */
export interface Copied {
  readonly tables: Readonly<Record<string, number>>;
  readonly rows: number;
  /** Tables and columns of the old database that are not of order-sync. */
  readonly others: readonly string[];
}

/** The two sides, each in a transaction that nobody else comes into. */
export interface Sides {
  readonly source: Database;
  readonly session: Session;
  readonly address: string;
  /** The target has a copy of the same source that was broken off: it begins anew. */
  readonly isBrokenOff: boolean;
}

/** Most rows, and about so many characters, that are written at a time. */
const PAGE = 1_000;
const PAGE_CHARACTERS = 4_000_000;
const SHOWN_EVERY = 5_000;

/**
 * Copies every table, row by row as it is, and then holds each row of one side against the other's. Nothing is committed.
 * Throws `StoreError` where a row cannot be copied as it is, or a chain of events is broken.
 */
export async function copyTables(sides: Sides, show: ShowProgress): Promise<Copied> {
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
  throw new StoreError('unusable', message);
}

async function copyTable({ source, session }: Sides, table: TableColumns, onRow: () => Promise<void>): Promise<void> {
  for await (const page of pagesOf(sourceRows(source, table))) {
    await insertRows(session.db, table, page);
    for (let rows = 0; rows < page.length; rows += 1) await onRow();
  }
}

/** Throws `StoreError` with the first row that is not the same on both sides. */
async function compareTable(sides: Sides, table: TableColumns, onRow: () => Promise<void>): Promise<void> {
  const others = targetRows(sides.session, table);
  for await (const row of sourceRows(sides.source, table)) {
    const { value: other } = await others.next();
    const difference = differenceOf(table, row, other);
    if (difference !== undefined) throw new StoreError('unusable', `${difference}; nothing was moved`);
    await onRow();
  }
  const { value: extra } = await others.next();
  if (extra === undefined) return;
  throw new StoreError('unusable', `${rowName(table.table, extra)} is in the copy alone; nothing was moved`);
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

/** Counts rows, and shows now and then how many there were. */
function counter(show: ShowProgress, what: string, total?: number): () => Promise<void> {
  let rows = 0;
  return async () => {
    rows += 1;
    if (rows % SHOWN_EVERY === 0) await show(`${what}: ${rows}${total === undefined ? '' : ` of ${total}`}`);
  };
}
