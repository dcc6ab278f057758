import { drawCharts } from './chart.ts';
import type { Column, ReportDocument, Row, Section } from './document.ts';
import { printable } from './text.ts';
import { toneOf } from './tone.ts';

/** Nobody reads more rows, and they make the page slow. */
const MOST_ROWS = 1_000;

/** The page loads nothing and runs nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const STYLE = `
body { font: 14px/1.45 system-ui, sans-serif; color: #1f2328; margin: 24px; max-width: 1400px; }
h1 { font-size: 22px; margin: 0 0 12px; }
h2 { font-size: 16px; margin: 28px 0 8px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #d0d7de; padding: 3px 7px; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead th { background: #f6f8fa; }
.decimal, .count, .percent { text-align: right; }
.facts th { font-weight: 600; white-space: nowrap; background: #f6f8fa; }
svg { max-width: 100%; height: auto; }
figure { margin: 16px 0; break-inside: avoid; }
figcaption { font-weight: 600; }
.note { color: #59636e; }
@page { size: A4 landscape; margin: 10mm; }
@media print {
  body { font-size: 7pt; margin: 0; max-width: none; }
  h1 { font-size: 14pt; }
  h2 { font-size: 10pt; break-after: avoid; }
  th, td { padding: 1px 3px; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
`;

/** Writes a report as one page with its charts, without scripts. */
export async function* htmlText(document: ReportDocument): AsyncGenerator<string> {
  const title = escapeText(document.title);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
`;
  if (document.facts.length > 0) {
    const facts = document.facts.map(
      ({ label, value }) => `<tr><th scope="row">${escapeText(label)}</th><td>${escapeText(value)}</td></tr>\n`,
    );
    yield `<table class="facts"><tbody>\n${facts.join('')}</tbody></table>\n`;
  }
  for (const { title: caption, svg } of await drawCharts(document.charts)) {
    yield `<figure><figcaption>${escapeText(caption)}</figcaption>\n${svg}\n</figure>\n`;
  }
  for (const section of document.sections) yield* sectionText(section);
  yield '</body>\n</html>\n';
}

async function* sectionText({ name, title, columns, rows }: Section): AsyncGenerator<string> {
  const heads = columns.map(({ label, kind }) => `<th scope="col" class="${kind}">${escapeText(label)}</th>`).join('');
  yield `<section id="${escapeText(name)}">\n<h2>${escapeText(title)}</h2>\n<table><thead><tr>${heads}</tr></thead><tbody>\n`;
  let count = 0;
  for await (const row of rows) {
    count += 1;
    if (count <= MOST_ROWS) yield `<tr>${columns.map((column) => cell(row, column)).join('')}</tr>\n`;
  }
  yield '</tbody></table>\n';
  if (count === 0) yield '<p class="note">none</p>\n';
  if (count > MOST_ROWS) yield `<p class="note">${count - MOST_ROWS} more; the forms csv and json have them all</p>\n`;
  yield '</section>\n';
}

function cell(row: Row, { key, kind }: Column): string {
  const value = row[key] ?? null;
  const tone = toneOf(kind, value);
  return `<td class="${tone === 'neutral' ? kind : `${kind} ${tone}`}">${escapeText(value)}</td>`;
}

/** Escapes text, so that it is not markup and does not reverse the reading order. */
function escapeText(value: string | number | null): string {
  return printable(value)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
