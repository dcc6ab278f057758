import type { ReportDocument, Section } from './document.ts';

/** Writes a report for programs: decimals are text, so that no digit is lost. */
export async function* jsonText(document: ReportDocument): AsyncGenerator<string> {
  const { schema, title, facts, sections } = document;
  const [only] = sections;
  if (schema === null) {
    if (only !== undefined) yield* rowsText(only, '');
    yield '\n';
    return;
  }
  const values = Object.fromEntries(facts.map(({ key, value }) => [key, value]));
  const head = JSON.stringify({ schema, title, facts: values }, null, 2);
  yield `${head.slice(0, -2)},\n  "sections": {`;
  let separator = '\n';
  for (const section of sections) {
    if (section.isForPeople === true) continue;
    yield `${separator}    ${JSON.stringify(section.name)}: `;
    yield* rowsText(section, '    ');
    separator = ',\n';
  }
  yield '\n  }\n}\n';
}

/** Writes an array as `JSON.stringify(rows, null, 2)` does, row by row. */
async function* rowsText({ columns, rows }: Section, indent: string): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const row of rows) {
    const shown = Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null]));
    // A regular expression would also split at other line ends within texts.
    yield `${separator}${indent}  ${JSON.stringify(shown, null, 2).replaceAll('\n', `\n${indent}  `)}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]' : `\n${indent}]`;
}

/** Writes the rows of a section as one JSON object a line. */
export async function* ndjsonText({ columns, rows }: Section): AsyncGenerator<string> {
  for await (const row of rows) {
    yield `${JSON.stringify(Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null])))}\n`;
  }
}
