import { sql } from 'kysely';
import { StoreError } from '../errors.ts';
import type { Database } from '../port.ts';
import { targetColumns } from './target.ts';
import { COPIED_TABLES, NUMBERED_TABLES, type CopiedTable, type TableColumns } from './tables.ts';

/** What a database has to be copied, and what it has that is not. */
export interface SourceTables {
  readonly copied: readonly TableColumns[];
  /** Tables and columns that are not of order-sync. */
  readonly others: readonly string[];
}

/** Describes the tables of both sides. Throws `StoreError` where one lacks what the other has. */
export async function describeTables(source: Database, target: Database): Promise<SourceTables> {
  const [here, there] = [await columnsOf(source), await targetColumns(target)];
  const others: string[] = [];
  const copied = COPIED_TABLES.map((table): TableColumns => {
    const [ours, theirs] = [here.get(table) ?? new Map<string, string>(), there.get(table) ?? new Set<string>()];
    const lacking = [...theirs].find((name) => !ours.has(name));
    if (theirs.size === 0 || lacking !== undefined) {
      throw new StoreError('unusable', `the databases are of different versions (${table}); bring both up to date`);
    }
    const isOurs = ([name]: readonly [string, string]) => theirs.has(name);
    others.push(...[...ours.keys()].filter((name) => !theirs.has(name)).map((name) => `${table}.${name}`));
    const columns = [...ours].filter(isOurs).map(([name, type]) => ({ name, isNumber: type === 'integer' }));
    return { table, columns };
  });
  others.push(...[...here.keys()].filter((table) => !there.has(table)));
  return { copied, others };
}

/** The highest id that each table has ever given: a row that is gone leaves its id to no other. */
export async function readLastIds(source: Database): Promise<ReadonlyMap<CopiedTable, number>> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(source);
  const numbered = rows.filter(({ name }) => NUMBERED_TABLES.includes(name as CopiedTable));
  return new Map(numbered.map(({ name, seq }) => [name as CopiedTable, seq]));
}

/** The columns of each table, and their types as declared. */
async function columnsOf(db: Database): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const tables = await db.introspection.getTables();
  return new Map(
    tables
      .filter(({ isView }) => !isView)
      .map(({ name, columns }) => [
        name,
        new Map(columns.map((column) => [column.name, column.dataType.toLowerCase()])),
      ]),
  );
}
