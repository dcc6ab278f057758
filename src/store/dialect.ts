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

/** Compiles for SQLite. It locks no row, because a transaction of SQLite has the database to itself. */
export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForNoKeyUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }

  /** SQLite plans again at each run if the limit is a bare parameter. Constants are inlined, others become a sum. */
  protected override visitLimit({ limit }: LimitNode): void {
    const isConstant = ValueNode.is(limit) && typeof limit.value === 'number';
    this.append(isConstant ? `limit ${limit.value}` : ValueNode.is(limit) ? 'limit 0 + ' : 'limit ');
    if (!isConstant) this.visitNode(limit);
  }
}

/** SQL that differs between databases, here for SQLite. Another driver replaces each of these functions. */
const SQLITE = {
  /** A column that SQLite looks up in no index: by a wrong index SQLite would read all rows of the account. */
  unindexed: <Value = string>(column: string): RawBuilder<Value> => sql`+${sql.ref<Value>(column)}`,
  /** True if an indexed column equals a text of any length. An index may hold only the beginning of a long text. */
  hasLongText: (column: string, value: string): RawBuilder<SqlBool> => sql`${sql.ref(column)} = ${value}`,
  /** Names the index that SQLite must use. Stands after the name of the table. */
  indexedBy: (index: string): RawBuilder<unknown> => sql`indexed by ${sql.ref(index)}`,
  isFollowed: (): RawBuilder<SqlBool> => sql.raw(IS_FOLLOWED),
  /** The number by which `db backup` marks a copy; 0 in any other database. */
  markOfCopy: (): RawBuilder<number> => sql`(select user_version from pragma_user_version)`,
  /** The bytes of a text: in SQLite an id may be bytes that are no readable text. */
  bytesOf: (text: RawBuilder<string>): RawBuilder<Uint8Array> => sql`cast(${text} as blob)`,
  textOf: (bytes: Uint8Array): RawBuilder<string> => sql`cast(${bytes} as text)`,
  /** The condition that a column is one of the texts of a JSON array: one statement serves lists of every length. */
  isOneOf: (column: string, texts: string): RawBuilder<SqlBool> =>
    sql`${sql.ref(column)} in (select value from json_each(${texts}))`,
  /** The condition that an event comes after the last event that was read, in the order of all events by their key. */
  isAfterEvent: (last: { readonly account: string; readonly id: number }): RawBuilder<SqlBool> => sql`id > ${last.id}`,
  orderOfEvents: (): RawBuilder<unknown> => sql`id`,
  holdsTime: (column: string): RawBuilder<SqlBool> =>
    sql`${sql.ref(column)} is not distinct from date(${sql.ref(column)}) || 'T' || time(${sql.ref(column)}, 'subsec') || 'Z'`,
  /** The exact sum of the decimals in a column, as JSON: `[sum, number of the values that are no decimal]`. */
  exactSum: (column: string): RawBuilder<string> => sql`exact_sum(${sql.ref<string | null>(column)})`,
};

export type Words = typeof SQLITE;

/** A part of a statement that the compiler of another database replaces by its own SQL, made by `in`. */
export interface WordedNode extends RawNode {
  readonly in: (words: Words) => RawNode;
}

function worded(name: keyof Words) {
  return (...args: readonly never[]): RawBuilder<never> => {
    const say = (words: Words) => (words[name] as (...given: readonly never[]) => RawBuilder<never>)(...args);
    const node: WordedNode = { ...say(SQLITE).toOperationNode(), in: (words) => say(words).toOperationNode() };
    return sql<never>`${{ toOperationNode: () => node }}`;
  };
}

const WORDED = Object.fromEntries(
  Object.keys(SQLITE).map((name) => [name, worded(name as keyof Words)]),
) as unknown as Words;

export const { unindexed, hasLongText, indexedBy, isFollowed, markOfCopy, bytesOf, textOf, isOneOf } = WORDED;
export const { isAfterEvent, orderOfEvents, holdsTime, exactSum } = WORDED;

/** Constant texts, such as those of `in (…)`, which need no parameters. */
export const literals = (texts: readonly string[]) => sql.join(texts.map((text) => sql.lit(text)));

/** Joins conditions by `and`; an undefined one excludes nothing. */
export function allOf(...conditions: readonly (RawBuilder<SqlBool> | undefined)[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.join([sql`true`, ...conditions.filter((one) => one !== undefined)], sql` and `)}`;
}

/** The condition that a column is at or after `from` and before `to`; undefined if neither is given. */
export function isInPeriod(column: RawBuilder<unknown>, from: string | undefined, to: string | undefined) {
  if (from === undefined && to === undefined) return undefined;
  return allOf(
    from === undefined ? undefined : sql`${column} >= ${from}`,
    to === undefined ? undefined : sql`${column} < ${to}`,
  );
}

/** A text in a statement that runs often. For a bare parameter, SQLite may plan the statement again at each run. */
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
