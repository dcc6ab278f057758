import type { Compilable, CompiledQuery, Kysely, QueryResult, SqliteDatabase } from 'kysely';
import type { Tables } from '../schema.ts';

/** A value that a statement takes at each run, as its builder sees it. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A statement that is built and compiled once and then run with other values. */
export type Statement<Values, Row> = (db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>>;

/**
 * Compiles a query once. The builder gets each value as a named placeholder that has the value's type; building and
 * compiling at each run would cost more than the database does.
 */
export function statement<Values extends object, Row = unknown>(
  build: (values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  let compiled: CompiledQuery<Row> | undefined;
  return async (db, values) => {
    compiled ??= build(placeholders<Values>()).compile();
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Parameter ? (values as Record<string, unknown>)[parameter.name] : parameter,
    );
    const database = databases.get(db);
    if (database === undefined) return await db.executeQuery({ ...compiled, parameters });
    return runNow(database, compiled.sql, parameters);
  };
}

/** Transactions whose statements run on the driver itself: on the way through Kysely each waits for ten promises. */
const databases = new WeakMap<Kysely<Tables>, SqliteDatabase>();

/** Has statements of this transaction run on `database`, which it has to itself until it ends. */
export function runOn(database: SqliteDatabase, tx: Kysely<Tables>): void {
  databases.set(tx, database);
}

function runNow<Row>(database: SqliteDatabase, sql: string, parameters: readonly unknown[]): QueryResult<Row> {
  const prepared = database.prepare(sql);
  if (prepared.reader) return { rows: prepared.all(parameters) as Row[] };
  const { changes, lastInsertRowid } = prepared.run(parameters);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

function placeholders<Values extends object>(): Values {
  return new Proxy({} as Values, { get: (_target, name) => new Parameter(String(name)) });
}
