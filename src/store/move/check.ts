import { isUtf8 } from 'node:buffer';
import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import type { Database } from '../port.ts';
import { anyTable } from './rows.ts';
import { rowName, type CopiedTable, type TableColumns } from './tables.ts';

const AHEAD = 100;
/** The longest keys that fit into an index of PostgreSQL, in bytes. */
const LONGEST: Readonly<Record<string, number>> = { account: 200, external_order_id: 2_000 };

type Row = Readonly<Record<string, unknown>>;

/**
 * Reads a whole table of SQLite, which takes anything in any column, and counts its rows. Throws `StoreError` with the first
 * value that PostgreSQL would not take, or that is not of its column's type: what it should be is not guessed.
 */
export async function checkTable(
  db: Database,
  { table, columns }: TableColumns,
  onRow: () => Promise<void>,
): Promise<number> {
  const names = columns.map(({ name }) => sql.ref(name));
  // A driver reads text that is no valid Unicode as if it were: the bytes tell.
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
