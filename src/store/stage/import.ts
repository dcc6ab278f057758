import { sql, type RawBuilder } from 'kysely';
import { ORDER_COLUMNS, type OrderColumns } from '../order-columns.ts';
import type { Database, Transaction } from '../port.ts';

const AMOUNTS: readonly string[] = ['asset', 'order_limit', 'bonus'];

/** A checked row of an import, with the line it came from. */
export type ImportRow = OrderColumns & { readonly line: number };

/** A row whose id another row has with other content. */
export interface ImportConflict {
  readonly line: number;
  readonly externalOrderId: string;
  /** Names of the columns that differ. */
  readonly columns: string;
  /** The place of the other row: `line 5` or `merchant_orders`. */
  readonly place: string;
}

/** The result of an import. With conflicts nothing was inserted; `conflictCount` also counts those not named. */
export interface Settlement {
  readonly inserted: number;
  readonly conflicts: readonly ImportConflict[];
  readonly conflictCount: number;
}

/** Lists the columns in which the rows `a` and `b` differ; empty when they are the same. */
const DIFFERENT = sql.raw(
  ORDER_COLUMNS.map((name) => `case when ${same(name)} then '' else ', ${name}' end`).join(' || '),
);

/**
 * Empties the stage: the rows of an import until they are inserted. They wait in a temporary table of this connection, so
 * that no other program waits while a long file is read, and memory does not grow with it.
 */
export async function emptyStage(db: Database): Promise<void> {
  const columns = sql.raw(ORDER_COLUMNS.map((column) => `${column} text`).join(', '));
  await sql`drop table if exists temp.import_rows`.execute(db);
  await sql`create temporary table import_rows (line integer primary key, ${columns})`.execute(db);
  await sql`create index temp.import_rows_id on import_rows (external_order_id)`.execute(db);
}

/** Takes a batch of at most 1,000 rows. */
export async function stageRows(db: Database, rows: readonly ImportRow[]): Promise<void> {
  if (rows.length === 0) return;
  await db.withTables<{ import_rows: ImportRow }>().insertInto('import_rows').values(rows).execute();
}

/**
 * Looks for rows that contradict each other or the table and, when there are none and inserting `isWanted`, inserts
 * every row that is not there yet. One transaction: nobody inserts in between. At most `limit` conflicts are named.
 */
export async function settleStage(
  tx: Transaction,
  { account, isWanted, limit }: { account: string; isWanted: boolean; limit: number },
): Promise<Settlement> {
  const inFile = await findConflicts(tx, limit, {
    place: sql`'line ' || a.line`,
    others: sql`import_rows a on a.external_order_id = b.external_order_id and a.line < b.line
      and a.line = (select min(line) from import_rows where external_order_id = b.external_order_id)`,
  });
  const inTable = await findConflicts(tx, limit, {
    place: sql`'merchant_orders'`,
    others: sql`merchant_orders a on a.account = ${account} and a.external_order_id = b.external_order_id`,
  });
  const conflicts = [...inFile.named, ...inTable.named].toSorted((one, other) => one.line - other.line);
  const conflictCount = inFile.count + inTable.count;
  const inserted = isWanted && conflictCount === 0 ? await insertMissing(tx, account) : 0;
  return { inserted, conflicts: conflicts.slice(0, limit), conflictCount };
}

/** A row of the stage whose order waits in the table: it was never sent as far as the table knows. */
export interface StagedRow {
  readonly line: number;
  readonly externalOrderId: string;
}

/** Reads the rows of the stage, after a line, whose orders are pending or invalid in the table. */
export async function stagedUnsent(
  tx: Transaction,
  { account, afterLine, limit }: { account: string; afterLine: number; limit: number },
): Promise<readonly StagedRow[]> {
  const { rows } = await sql<StagedRow>`
    select line, r.external_order_id as "externalOrderId"
    from import_rows r cross join merchant_orders m on m.account = ${account} and m.external_order_id = r.external_order_id
    where line > ${afterLine} and m.state in ('pending', 'invalid')
    order by line limit ${limit}`.execute(tx);
  return rows;
}

/** Finds rows `b` of the stage whose id a row `a` elsewhere has with other content. */
async function findConflicts(
  tx: Transaction,
  limit: number,
  { place, others }: { place: RawBuilder<unknown>; others: RawBuilder<unknown> },
): Promise<{ named: ImportConflict[]; count: number }> {
  const { rows } = await sql<ImportConflict & { total: number | bigint }>`
    select line, "externalOrderId", substr(differences, 3) as columns, place, count(*) over () as total
    from (select b.line, b.external_order_id as "externalOrderId", ${place} as place, ${DIFFERENT} as differences
      from import_rows b join ${others}) as compared
    where differences <> '' order by line limit ${limit}`.execute(tx);
  return { named: rows, count: Number(rows[0]?.total ?? 0) };
}

async function insertMissing(tx: Transaction, account: string): Promise<number> {
  const columns = sql.raw(ORDER_COLUMNS.join(', '));
  const result = await sql`
    insert into merchant_orders (account, ${columns})
    select ${account}, ${columns} from import_rows r
    where line = (select min(line) from import_rows where external_order_id = r.external_order_id)
      and not exists (select 1 from merchant_orders
        where account = ${account} and external_order_id = r.external_order_id)`.execute(tx);
  return Number(result.numAffectedRows ?? 0n);
}

/** Compares a column of `a` and `b`. Amounts are compared without the zeros that add nothing to a plain number. */
function same(name: string): string {
  if (!AMOUNTS.includes(name)) return `a.${name} is b.${name}`;
  const number = (row: string) => {
    const text = `${row}.${name}`;
    return `case when ${text} like '%.%' then rtrim(rtrim(${text}, '0'), '.') else ${text} end`;
  };
  return `(${number('a')}) is (${number('b')})`;
}
