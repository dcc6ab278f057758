import Table from 'cli-table3';
import { stringify } from 'csv-stringify/sync';

/** Rows of a report, all with the same columns. */
export type ReportRows = readonly Readonly<Record<string, string | number | null>>[];

/** A table for people: no colour, so that it can be piped. */
export function asTable(rows: ReportRows): string {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return 'nothing\n';
  const table = new Table({ head: columns, style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => printable(row[column])));
  return `${table.toString()}\n`;
}

/** CSV with a header; text that a spreadsheet would run as a formula is quoted with an apostrophe. */
export function asCsv(rows: ReportRows): string {
  const harmless = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? noFormula(value) : value]),
    ),
  );
  return stringify(harmless, { header: true });
}

/** JSON; decimals stay text. */
export function asJson(rows: ReportRows): string {
  return `${JSON.stringify(rows, null, 2)}\n`;
}

function noFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Control characters of an id must not steer the reader's terminal. */
function printable(value: string | number | null | undefined): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return String(value ?? '').replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}
