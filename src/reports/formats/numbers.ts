import type { Cell, Column } from './document.ts';

const NUMBERS: ReadonlySet<Column['kind']> = new Set(['count', 'percent', 'decimal', 'digits']);

/** Whether the column has numbers, which stand right. */
export function isNumeric({ kind }: Column): boolean {
  return NUMBERS.has(kind);
}

/** Whether a cell says nothing where all cells of its column say the same: it is empty, or the number zero. */
export function saysNothing(value: Cell, column: Column): boolean {
  if (value === null || value === '' || value === 0) return true;
  return isNumeric(column) && /^-?0+(?:\.0*)?$/.test(String(value));
}
