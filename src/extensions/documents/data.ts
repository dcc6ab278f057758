import { readDecimal } from '../../base/decimal.ts';
import type { ReportDocument, Row, Section } from './document.ts';
import { noFormula } from './words.ts';

/** The number is small, because a row of an export contains answers of the exchange and may be long. */
const ROWS_A_CHUNK = 100;

export async function* csvText({ columns, rows }: Section): AsyncGenerator<string> {
  const { stringify } = await import('csv-stringify/sync');
  let records: (string | number | null)[][] = [columns.map(({ key }) => key)];
  for await (const row of rows) {
    const cells = columns.map(({ key, kind }) => {
      const value = row[key] ?? null;
      const isSafe = typeof value !== 'string' || (kind === 'digits' && readDecimal(value).ok);
      return isSafe ? value : noFormula(value);
    });
    records.push(cells);
    if (records.length < ROWS_A_CHUNK) continue;
    yield stringify(records);
    records = [];
  }
  yield stringify(records);
}

export async function* jsonText(document: ReportDocument): AsyncGenerator<string> {
  const { schema, title, facts, sections } = document;
  const [only] = sections;
  if (schema === null) {
    if (only !== undefined) yield* jsonRows(only, '');
    yield '\n';
    return;
  }
  const values = Object.fromEntries(facts.map(({ key, value }) => [key, value]));
  const head = JSON.stringify({ schema, title, facts: values }, null, 2);
  yield `${head.slice(0, -2)},\n  "sections": {`;
  let separator = '\n';
  for (const section of sections) {
    yield `${separator}    ${JSON.stringify(section.name)}: `;
    yield* jsonRows(section, '    ');
    separator = ',\n';
  }
  yield '\n  }\n}\n';
}

async function* jsonRows(section: Section, indent: string): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const row of keyedRows(section)) {
    // A regular expression with `^` would also match after line ends such as U+2028 within texts.
    yield `${separator}${indent}  ${JSON.stringify(row, null, 2).replaceAll('\n', `\n${indent}  `)}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]' : `\n${indent}]`;
}

export async function* ndjsonText(section: Section): AsyncGenerator<string> {
  for await (const row of keyedRows(section)) yield `${JSON.stringify(row)}\n`;
}

async function* keyedRows({ columns, rows }: Section): AsyncGenerator<Row> {
  for await (const row of rows) yield Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null]));
}
