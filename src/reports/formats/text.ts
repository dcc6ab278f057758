import Table from 'cli-table3';

/** Rows that all have the same columns. */
export type ReportRows = readonly Readonly<Record<string, string | number | null>>[];

/** Draws a table without colours. Without rows it is the header, if `columns` is given. */
export function asTable(rows: ReportRows, columns: readonly string[] = Object.keys(rows[0] ?? {})): string {
  const table = new Table({ head: [...columns], style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => printable(row[column])));
  return `${table.toString()}\n`;
}

/** Escapes characters that could control a terminal or reverse the reading order. */
export function printable(value: string | number | null | undefined): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return String(value ?? '').replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
  });
}

/** Puts an apostrophe before text that a spreadsheet would run as a formula. A negative amount stays a number. */
export function noFormula(text: string): string {
  const isFormula = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-\d+(\.\d+)?$/.test(text);
  return isFormula ? `'${text}` : text;
}
