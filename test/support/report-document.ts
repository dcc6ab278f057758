import type { Column, ReportDocument, Row } from '../../src/reports/formats/document.ts';

/** Texts that could do harm in one form or another. */
export const HOSTILE = [
  '=HYPERLINK("http://example.test";"x")',
  '<script>alert(1)</script>',
  '"],[',
  '</text></svg><script>alert(2)</script>',
  '<img src="http://example.test/x.png" onerror="alert(3)">',
  '_x0041_',
  ']]></style>',
  '@SUM(A1:A9)',
  '{{7*7}} ${7*7}',
] as const;

/** A document of one section; without a schema it is its rows alone. */
export function documentOf(columns: readonly Column[], rows: readonly Row[], schema: string | null): ReportDocument {
  const sections = [{ name: 'lines', title: 'Lines', columns, rows }];
  const facts = schema === null ? [] : [{ key: 'verdict', label: 'Verdict', value: 'clean' }];
  return { schema, title: 'A report', facts, sections, charts: [] };
}

/** Columns of text. */
export function texts(...keys: readonly string[]): readonly Column[] {
  return keys.map((key) => ({ key, label: key, kind: 'text' }));
}

/** Hostile texts wherever a document has text. */
export function hostileDocument(): ReportDocument {
  const all = HOSTILE.join(' ');
  const rows = HOSTILE.map((text, index) => ({ id: text, amount: `${index}.10`, count: index }));
  const columns: readonly Column[] = [
    { key: 'id', label: all, kind: 'text' },
    { key: 'amount', label: 'Amount', kind: 'decimal' },
    { key: 'count', label: 'Count', kind: 'count' },
  ];
  const links = HOSTILE.map((text) => ({ from: 'all', to: text, value: 1 }));
  return {
    schema: 'order-sync.test/1',
    title: all,
    facts: HOSTILE.map((text, index) => ({ key: `fact_${index}`, label: text, value: text })),
    sections: [{ name: 'lines', title: all, columns, rows }],
    charts: [
      {
        title: all,
        kind: 'bar',
        categories: HOSTILE,
        series: HOSTILE.map((name) => ({ name, values: HOSTILE.map((_, index) => index + 1) })),
        unit: all,
      },
      {
        title: all,
        kind: 'bar',
        categories: HOSTILE,
        series: [{ name: all, values: HOSTILE.map(() => 3) }],
        unit: 'h',
      },
      { title: all, kind: 'flow', categories: ['all', ...HOSTILE], series: [], links, unit: all },
      { title: 'again', kind: 'flow', categories: ['all', ...HOSTILE], series: [], links, unit: all },
    ],
  };
}

/** The whole text of a form that is written in pieces. */
export async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
