import {
  DummyDriver,
  Kysely,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteQueryCompiler,
  ValueNode,
  type Compilable,
  type LimitNode,
  type OperationNodeSource,
  type RawBuilder,
  type RawNode,
  type SelectModifierNode,
  type SqlBool,
} from 'kysely';
import { isTime } from '../../migrations/postgres/guards.ts';
import { INDEXED_CHARACTERS, IS_FOLLOWED } from '../../migrations/postgres/0001_initial.ts';
import { IS_FOLLOWED as IS_FOLLOWED_SQLITE } from '../../migrations/sqlite/0004_quick_followed.ts';
import { MAX_DIGITS } from '../base/decimal.ts';
import type { Tables } from './schema.ts';

export type Query<Row> = (Compilable<Row> | RawBuilder<Row>) & OperationNodeSource;

/** Compiles for SQLite. A transaction there has the database to itself, so no row is locked. */
export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForNoKeyUpdate' && node.modifier !== 'SkipLocked') super.visitSelectModifier(node);
  }

  /** Writes a constant limit into the text: SQLite plans a statement anew at each run whose limit is a parameter. */
  protected override visitLimit({ limit }: LimitNode): void {
    const isConstant = ValueNode.is(limit) && typeof limit.value === 'number';
    this.append(isConstant ? `limit ${limit.value}` : 'limit ');
    if (!isConstant) this.visitNode(limit);
  }
}

export class PostgresCompiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode & Partial<TwoWordings>): void {
    super.visitRaw(node.postgres ?? node);
  }
}

interface TwoWordings extends RawNode {
  readonly postgres: RawNode;
}

function worded<Value>(words: {
  readonly sqlite: RawBuilder<Value>;
  readonly postgres: RawBuilder<Value>;
}): RawBuilder<Value> {
  const node: TwoWordings = { ...words.sqlite.toOperationNode(), postgres: words.postgres.toOperationNode() };
  return sql<Value>`${{ toOperationNode: () => node }}`;
}

/** A column for which SQLite uses no index: with a wrong one it would read all rows of the account. */
export function unindexed<Value = string>(column: string): RawBuilder<Value> {
  const plain = sql.ref<Value>(column);
  return worded({ sqlite: sql`+${plain}`, postgres: plain });
}

/**
 * Tells whether an indexed column has a value of any length. The index of PostgreSQL holds the beginning of each text, because
 * an entry of it is bounded: an id of the exchange's is not.
 */
export function hasLongText(column: string, value: string): RawBuilder<SqlBool> {
  const text = sql.ref(column);
  const isEqual = sql<SqlBool>`${text} = ${value}`;
  const begins = sql`substr(${text}, 1, ${sql.lit(INDEXED_CHARACTERS)}) = substr(${value}, 1, ${sql.lit(INDEXED_CHARACTERS)})`;
  return worded({ sqlite: isEqual, postgres: sql`${begins} and ${isEqual}` });
}

/** Names the index of a table that SQLite must use; it stands behind the table. */
export function indexedBy(index: string): RawBuilder<unknown> {
  return worded({ sqlite: sql`indexed by ${sql.ref(index)}`, postgres: sql`` });
}

/** The condition of the index `merchant_orders_followed`, in the words that each database has it in. */
export function isFollowed(): RawBuilder<SqlBool> {
  return worded({
    sqlite: sql.raw(IS_FOLLOWED_SQLITE),
    postgres: sql.raw(IS_FOLLOWED),
  });
}

/** What `db backup` writes into a copy, so that it is known as one: 0 in any other database. */
export function markOfCopy(): RawBuilder<number> {
  return worded({ sqlite: sql`(select user_version from pragma_user_version)`, postgres: sql`0` });
}

/** Joins conditions by `and`; an undefined one excludes nothing. */
export function allOf(...conditions: readonly (RawBuilder<SqlBool> | undefined)[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.join([sql`true`, ...conditions.filter((one) => one !== undefined)], sql` and `)}`;
}

/** The condition that a column is at or after `from` and before `to`; undefined if it has no end. */
export function isInPeriod(column: RawBuilder<unknown>, from: string | undefined, to: string | undefined) {
  if (from === undefined && to === undefined) return undefined;
  return allOf(
    from === undefined ? undefined : sql`${column} >= ${from}`,
    to === undefined ? undefined : sql`${column} < ${to}`,
  );
}

/** A text as its bytes: in SQLite an id need not be text that can be read. */
export function bytesOf(text: RawBuilder<string>): RawBuilder<Uint8Array> {
  return worded({ sqlite: sql`cast(${text} as blob)`, postgres: sql`convert_to(${text}, 'UTF8')` });
}

export function textOf(bytes: Uint8Array): RawBuilder<string> {
  return worded({ sqlite: sql`cast(${bytes} as text)`, postgres: sql`convert_from(${bytes}, 'UTF8')` });
}

/** The condition that a column is one of the texts of a JSON array: one statement serves lists of every length. */
export function isOneOf(column: string, texts: string): RawBuilder<SqlBool> {
  const text = sql.ref(column);
  return worded({
    sqlite: sql`${text} in (select value from json_each(${texts}))`,
    postgres: sql`${text} = any(array(select json_array_elements_text(${texts}::json)))`,
  });
}

/** The order of all events by their key, and the condition that an event comes after the last one that was read. */
export function eventsAfter(last: { readonly account: string; readonly id: number }) {
  return {
    isAfter: worded<SqlBool>({
      sqlite: sql`id > ${last.id}`,
      postgres: sql`(account, id) > (${last.account}, ${last.id})`,
    }),
    order: worded({ sqlite: sql`id`, postgres: sql`account, id` }),
  };
}

/** Tells whether a column holds a time as the program writes it. */
export function holdsTime(column: string): RawBuilder<SqlBool> {
  return worded({
    sqlite: sql`${sql.ref(column)} is not distinct from strftime('%Y-%m-%dT%H:%M:%fZ', ${sql.ref(column)})`,
    postgres: sql.raw(isTime(column)),
  });
}

/** A decimal, with an exponent of no more than `MAX_DIGITS`, which is 64. */
const DECIMAL = String.raw`'^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?(0{0,3}\d|0{0,2}[1-5]\d|0{0,2}6[0-4]))?$'`;

/** The exact sum of the decimals in a column, as JSON: `[sum, number of the values that are no decimal]`. */
export function exactSum(column: string): RawBuilder<string> {
  const text = sql.ref<string | null>(column);
  const written = sql`case when ${text} ~* 'e' then trim_scale(${text}::numeric)::text else ${text} end`;
  const isDecimal = sql`coalesce(case
    when length(${text}) > ${sql.lit(2 * MAX_DIGITS)} or ${text} !~ ${sql.raw(DECIMAL)} then false
    else length(regexp_replace(${written}, '[^0-9]', '', 'g')) <= ${sql.lit(MAX_DIGITS)} end, false)`;
  return worded({
    sqlite: sql`exact_sum(${text})`,
    postgres: sql`'["' || coalesce(trim_scale(sum(case when ${isDecimal} then ${text}::numeric end)), 0) || '",'
      || count(*) filter (where not ${isDecimal}) || ']'`,
  });
}

/** Builds queries without a database. */
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
