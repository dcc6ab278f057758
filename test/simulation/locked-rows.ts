import type { SelectModifierNode } from 'kysely';
import { SqliteCompiler } from '../../src/store/dialect.ts';

const PASSES_OVER = '/* skip locked */';

interface Compiler {
  visitSelectModifier: (this: Compiler, node: SelectModifierNode) => void;
  append(text: string): void;
}

// SQLite locks no rows: a statement that passes over locked ones says so in a comment, and the world takes them out.
const compiler = SqliteCompiler.prototype as unknown as Compiler;
const visitSelectModifier = compiler.visitSelectModifier;
compiler.visitSelectModifier = function visitWithComment(this: Compiler, node) {
  visitSelectModifier.call(this, node);
  if (node.modifier === 'SkipLocked') this.append(PASSES_OVER);
};

/** The rows that a statement reads while other transactions have the rows of some orders locked. */
export function withoutLocked<Row>(sql: string, rows: readonly Row[], locked: ReadonlySet<string>): Row[] {
  const isFree = (row: Row) => !locked.has((row as { readonly external_order_id: string }).external_order_id);
  return locked.size > 0 && sql.startsWith('select') && sql.endsWith(PASSES_OVER) ? rows.filter(isFree) : [...rows];
}
