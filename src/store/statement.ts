import {
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteQueryCompiler,
  type Compilable,
  type CompiledQuery,
  type QueryResult,
} from 'kysely';
import type { Database, Transaction } from './port.ts';
import type { Tables } from './schema.ts';

/** Builds queries that are compiled without a database. */
export const queries = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: () => {
      throw new Error('this builder has no database');
    },
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/** A value that a statement takes at each run, as its builder sees it. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A statement that is built and compiled once and then run with other values. */
export type Statement<Values, Row> = (db: Database | Transaction, values: Values) => Promise<QueryResult<Row>>;

/**
 * Compiles a query once. The builder gets each value as a named placeholder that has the value's type; building and
 * compiling at each run would cost more than the database does. A date is stored as its text.
 */
export function statement<Values extends object, Row = unknown>(
  build: (values: Values) => Compilable<Row>,
): Statement<Values, Row> {
  let compiled: CompiledQuery<Row> | undefined;
  return async (db, values) => {
    compiled ??= build(placeholders<Values>()).compile();
    const parameters = compiled.parameters.map((parameter) => {
      const value = parameter instanceof Parameter ? (values as Record<string, unknown>)[parameter.name] : parameter;
      return value instanceof Date ? value.toISOString() : value;
    });
    const query = { ...compiled, parameters };
    return 'run' in db ? db.run(query) : await db.executeQuery(query);
  };
}

function placeholders<Values extends object>(): Values {
  return new Proxy({} as Values, { get: (_target, name) => new Parameter(String(name)) });
}
