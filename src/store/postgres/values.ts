import pg from 'pg';
import { storable } from '../../domain/text.ts';

/** Texts of the exchange or other programs may contain NUL. */
export function storableValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' && value.includes('\0') ? storable(value) : value));
}

/** A number, or its text where a number would lose digits. */
function exactNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

/** Reads values of each type as SQLite does. All other types are read as text. */
export const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BYTEA]: (text) => Buffer.from(text.slice('\\x'.length), 'hex'),
  [pg.types.builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
  [pg.types.builtins.INT2]: Number,
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.INT8]: exactNumber,
  [pg.types.builtins.NUMERIC]: exactNumber,
  [pg.types.builtins.FLOAT4]: Number,
  [pg.types.builtins.FLOAT8]: Number,
};
