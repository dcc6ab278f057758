import { createQueryId, type CompiledQuery, type DialectAdapter, type QueryResult } from 'kysely';
import type { Query } from './dialect.ts';
import type { OrderKey } from './orders/order-columns.ts';
import { partsOf } from './pages.ts';
import type { Answered, Database } from './port.ts';

export { literals, queries, textToFind, upsert } from './dialect.ts';

export type Statement<Values, Row> = (db: Database, values: Values) => Answered<QueryResult<Row>>;

/** Compiles a query once for each adapter, because a compilation costs more than a run. `build` gets placeholders. */
export function statement<Values extends object, Row = unknown>(
  build: (values: Values) => Query<Row>,
): Statement<Values, Row> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (db, values) => {
    const { adapter } = db.getExecutor();
    let compiledQuery = compiled.get(adapter);
    if (compiledQuery === undefined) {
      compiledQuery = compileFor(db, build(placeholders<Values>()));
      compiled.set(adapter, compiledQuery);
    }
    const { sql, query, queryId } = compiledQuery;
    const parameters = compiledQuery.parameters.map((parameter) => {
      const value = typeof parameter === 'symbol' ? values[parameter.description as keyof Values] : parameter;
      return value instanceof Date ? value.toISOString() : value;
    });
    const filled: CompiledQuery<Row> = { sql, parameters, query, queryId };
    return db.run === undefined ? db.executeQuery(filled) : db.run(filled);
  };
}

/** As `statement`, but returns the result of `read`. */
export function reading<Values extends object, Row, Result>(
  build: (values: Values) => Query<Row>,
  read: (rows: readonly Row[]) => Result,
) {
  const find = statement(build);
  return async (db: Database, values: Values): Promise<Result> => read((await find(db, values)).rows);
}

/** As `reading`, for a statement about one order. */
export function ofOrder<Row, Result>(build: (order: OrderKey) => Query<Row>, read: (rows: readonly Row[]) => Result) {
  const find = reading(build, read);
  return (db: Database, account: string, externalOrderId: string) => find(db, { account, externalOrderId });
}

export const rowOfOrder = <Row>(build: (order: OrderKey) => Query<Row>) => ofOrder(build, ([row]) => row);

const MOST_ROWS = 20;

/** As `statement`, for any number of rows, in queries of up to `MOST_ROWS`. Each size of a query is compiled once. */
export function rowsStatement<Row extends object, Result>(
  columns: readonly (keyof Row & string)[],
  build: (rows: readonly Row[]) => Query<Result>,
) {
  const byRows = new Map<number, Statement<readonly unknown[], Result>>();
  const statementFor = (rows: number) => {
    const compiled = statement<readonly unknown[], Result>((values) => {
      const rowAt = (place: number) => columns.map((column, index) => [column, values[place * columns.length + index]]);
      return build(Array.from({ length: rows }, (_, place) => Object.fromEntries(rowAt(place)) as Row));
    });
    byRows.set(rows, compiled);
    return compiled;
  };
  const insert = (db: Database, rows: readonly Row[]) => {
    const values: unknown[] = [];
    for (const row of rows) for (const column of columns) values.push(row[column]);
    return (byRows.get(rows.length) ?? statementFor(rows.length))(db, values);
  };
  return async (db: Database, rows: readonly Row[]) => {
    const results = await together(...Array.from(partsOf(rows, MOST_ROWS), (part) => insert(db, part)));
    return results.flatMap((result) => result.rows);
  };
}

/** Awaits statements of a transaction. Throws the first error after all have ended, so that none runs later. */
export async function together<Results extends readonly unknown[]>(
  ...running: { readonly [Index in keyof Results]: Answered<Results[Index]> }
): Promise<Results> {
  if (!running.some((result) => result instanceof Promise)) return running as unknown as Results;
  const failures: unknown[] = [];
  const fail = (error: unknown) => failures.push(error);
  const caught = running.map((result) => (result instanceof Promise ? result.catch(fail) : result));
  const results: unknown[] = [];
  for (const result of caught) results.push(result instanceof Promise ? await result : result);
  if (failures.length > 0) throw failures[0];
  return results as unknown as Results;
}

export function compileFor<Row>(db: Database, query: Query<Row>): CompiledQuery<Row> {
  const executor = db.getExecutor();
  const id = createQueryId();
  return executor.compileQuery(executor.transformQuery(query.toOperationNode() as never, id), id);
}

/** Returns an object whose every property is a symbol with the property's name. */
function placeholders<Values extends object>(): Values {
  return new Proxy({} as Values, { get: (_target, name) => Symbol(String(name)) });
}
