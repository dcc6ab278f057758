import {
  DummyDriver,
  ExpressionWrapper,
  Kysely,
  OperatorNode,
  sql,
  SqliteAdapter,
  SqliteQueryCompiler,
  UnaryOperationNode,
  type Compilable,
  type Expression,
  type OperationNodeSource,
  type SelectModifierNode,
} from 'kysely';
import type { Tables } from './schema.ts';

/** A query that is built: each database compiles it in its own dialect. */
export type Query<Row> = Compilable<Row> & OperationNodeSource;

/** Compiles for SQLite. A transaction there has the database to itself, so no row is locked. */
export class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node);
  }
}

/**
 * A column that SQLite is to look for in no index: where it would take a wrong one, all rows of the account would be read.
 * The sign says so to SQLite, and nothing else.
 */
export function unindexed<Value = string>(column: string): Expression<Value> {
  return new ExpressionWrapper(UnaryOperationNode.create(OperatorNode.create('+'), sql.ref(column).toOperationNode()));
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
