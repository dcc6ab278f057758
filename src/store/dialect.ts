import {
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteQueryCompiler,
  ValueNode,
  type Compilable,
  type Insertable,
  type LimitNode,
  type OperationNodeSource,
  type RawBuilder,
  type RawNode,
  type SelectModifierNode,
  type SqlBool,
} from 'kysely';
import { IS_FOLLOWED } from '../../migrations/sqlite/0004_quick_followed.ts';
import type { Tables } from './schema.ts';

export type Query<Row> = (Compilable<Row> | RawBuilder<Row>) & OperationNodeSource;

/** Omits row locks, because a transaction of SQLite locks the whole database. */
export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForNoKeyUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }

  /** Inlines a constant limit and adds 0 to a parameter, because for a bare parameter SQLite plans anew at each run. */
  protected override visitLimit({ limit }: LimitNode): void {
    const isConstant = ValueNode.is(limit) && typeof limit.value === 'number';
    this.append(isConstant ? `limit ${limit.value}` : ValueNode.is(limit) ? 'limit 0 + ' : 'limit ');
    if (!isConstant) this.visitNode(limit);
  }
}

/** The parts of SQL that differ between databases, as SQLite has them. Another driver has a function for each name. */
const SQLITE = {
  /** A column for which SQLite uses no index, because with the wrong index it would read all rows of the account. */
  unindexed: <Value = string>(column: string): RawBuilder<Value> => sql`+${sql.ref<Value>(column)}`,
  /** The condition that an indexed column equals a text. PostgreSQL indexes only the beginning of a long text. */
  hasLongText: (column: string, value: string): RawBuilder<SqlBool> => sql`${sql.ref(column)} = ${value}`,
  /** Names the index that SQLite must use. Stands after the name of the table. */
  indexedBy: (index: string): RawBuilder<unknown> => sql`indexed by ${sql.ref(index)}`,
  isFollowed: (): RawBuilder<SqlBool> => sql.raw(IS_FOLLOWED),
  /** The number by which `db backup` marks a copy; 0 in any other database. */
  markOfCopy: (): RawBuilder<number> => sql`(select user_version from pragma_user_version)`,
  /** The bytes of a text. SQLite accepts ids that are no valid text, and reading such an id as text would change it. */
  bytesOf: (text: RawBuilder<string>): RawBuilder<Uint8Array> => sql`cast(${text} as blob)`,
  textOf: (bytes: Uint8Array): RawBuilder<string> => sql`cast(${bytes} as text)`,
  /** The condition that a column is in a JSON array of texts. One compiled statement serves arrays of any length. */
  isOneOf: (column: string, texts: string): RawBuilder<SqlBool> =>
    sql`${sql.ref(column)} in (select value from json_each(${texts}))`,
  /** The condition that an event comes after `last` in the order of `orderOfEvents`. */
  isAfterEvent: (last: { readonly account: string; readonly id: number }): RawBuilder<SqlBool> => sql`id > ${last.id}`,
  orderOfEvents: (): RawBuilder<unknown> => sql`id`,
  isStoredTime: (column: string): RawBuilder<SqlBool> =>
    sql`${sql.ref(column)} is not distinct from date(${sql.ref(column)}) || 'T' || time(${sql.ref(column)}, 'subsec') || 'Z'`,
  /** The exact sum of the decimals in a column, as JSON: `[sum, number of the values that are no decimal]`. */
  exactSum: (column: string): RawBuilder<string> => sql`exact_sum(${sql.ref<string | null>(column)})`,
};

export type SqlParts = typeof SQLITE;

/** A part of a statement, in SQL of SQLite. `in` returns the same part in the SQL of another database. */
export interface SqlPartNode extends RawNode {
  readonly in: (parts: SqlParts) => RawNode;
}

function part(name: keyof SqlParts) {
  return (...args: readonly never[]): RawBuilder<never> => {
    const build = (parts: SqlParts) => (parts[name] as (...given: readonly never[]) => RawBuilder<never>)(...args);
    const node: SqlPartNode = { ...build(SQLITE).toOperationNode(), in: (parts) => build(parts).toOperationNode() };
    return sql<never>`${{ toOperationNode: () => node }}`;
  };
}

const PARTS = Object.fromEntries(
  Object.keys(SQLITE).map((name) => [name, part(name as keyof SqlParts)]),
) as unknown as SqlParts;

export const { unindexed, hasLongText, indexedBy, isFollowed, markOfCopy, bytesOf, textOf, isOneOf } = PARTS;
export const { isAfterEvent, orderOfEvents, isStoredTime, exactSum } = PARTS;

/** Joins constant texts for `in (…)` without parameters. */
export const literals = (texts: readonly string[]) => sql.join(texts.map((text) => sql.lit(text)));

export function allOf(...conditions: readonly (RawBuilder<SqlBool> | undefined)[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.join([sql`true`, ...conditions.filter((one) => one !== undefined)], sql` and `)}`;
}

/** Casts a parameter to text, because SQLite may plan a statement with a bare parameter anew at each run. */
export const textToFind = <Value extends string>(value: Value): RawBuilder<Value> => sql`cast(${value} as text)`;

/** Inserts a row, or writes all its columns into the row with the same key. */
export function upsert<Table extends keyof Tables>(
  table: Table,
  row: Insertable<Tables[Table]>,
  ...key: readonly (keyof Tables[Table] & string)[]
): RawBuilder<unknown> {
  const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
  const changed = Object.keys(row).filter((column) => !(key as readonly string[]).includes(column));
  const changes = changed.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  return sql`insert into ${sql.table(table)} (${names(Object.keys(row))}) values (${sql.join(Object.values(row))})
    on conflict (${names(key)}) do update set ${sql.join(changes)}`;
}

export const queries = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: () => {
      throw new Error('this builder has no database');
    },
    createQueryCompiler: () => new SqliteCompiler(),
  },
});
