import type { Section } from './document.ts';

/** Writes the rows of a section as one JSON object a line. */
export async function* ndjsonText({ columns, rows }: Section): AsyncGenerator<string> {
  for await (const row of rows) {
    yield `${JSON.stringify(Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null])))}\n`;
  }
}
