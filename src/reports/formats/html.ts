import { figureText } from './chart.ts';
import type { ReportDocument } from './document.ts';
import { aboutText, headText, PART_TITLES, partsOf } from './html/head.ts';
import { readSection } from './html/read.ts';
import { STYLE } from './html/style.ts';
import { sectionText } from './html/section.ts';
import { cssString, escapeText } from './html/text.ts';

/** The page loads nothing and runs nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Writes a report as one page with its charts, without scripts. */
export async function* htmlText(document: ReportDocument): AsyncGenerator<string> {
  yield pageHead(document.title);
  yield* contentText(document);
  yield '</main>\n</body>\n</html>\n';
}

/** Reads a report and writes what its page has between head and end, for a page that has more than the report. */
export async function* contentText(document: ReportDocument): AsyncGenerator<string> {
  const shown = document.sections.filter(({ isForPrograms }) => isForPrograms !== true);
  const sections = [];
  for (const section of shown) sections.push(await readSection(section));
  yield headText(document, sections);
  const parts = partsOf(sections);
  const figures = document.charts.map((chart, id) => ({ part: chart.part, text: figureText(chart, id) }));
  // A part without sections has no heading.
  for (const figure of figures) if (!parts.some(([part]) => part === figure.part)) yield figure.text;
  const hasParts = parts.length > 1;
  for (const [part, members] of parts) {
    if (hasParts) yield `<h2 class="part" id="part-${part}">${PART_TITLES[part]}</h2>\n`;
    const drawn = figures.filter((figure) => figure.part === part).map(({ text }) => text);
    // What needs a person stands before what is only seen.
    if (part !== 'attention') yield* drawn;
    for (const read of members) yield* sectionText(read, hasParts ? 3 : 2);
    if (part === 'attention') yield* drawn;
  }
  yield aboutText(document);
}

function pageHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)}</title>
<style>${STYLE}@page{@bottom-left{content:${cssString(title.slice(0, 100))}}}</style>
</head>
<body>
<main>
`;
}
