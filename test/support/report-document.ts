import type { Chart, Column, Look, ReportDocument, Row } from '../../src/extensions/documents/document.ts';

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

/** Texts that are hard to lay out, or that not every form can hold. */
export const ODD = [
  'x'.repeat(3_000),
  '\u0639\u0631\u0628\u064a \u05d8\u05e7\u05e1\u05d8 \u202e reversed',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467} \u{1f680}',
  '\u6f22\u5b57'.repeat(30),
  'a\u0000\u0007\u001b[31mb',
  'two\r\nlines',
  '\u2028\ufeff\ufffd\uffff',
] as const;

const LOOKS: readonly Look[] = (['good', 'info', 'warning', 'error', 'neutral'] as const).flatMap((tone) =>
  (['plain', 'stripes', 'dots', 'grid'] as const).map((pattern) => ({ tone, pattern })),
);

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
  return {
    schema: 'order-sync.test/1',
    title: all,
    facts: HOSTILE.map((text, index) => ({ key: `fact_${index}`, label: text, value: text })),
    sections: [{ name: 'lines', title: all, columns, rows }],
    charts: hostileCharts(HOSTILE),
  };
}

/** A chart of each kind, and another with the same looks; the texts wherever a chart has text. */
function hostileCharts(all: readonly string[]): readonly Chart[] {
  const head = { part: 'details', title: all.join(' '), text: all.join(' ') } as const;
  const series = all.map((name, index) => ({
    name,
    note: name,
    look: LOOKS[index % LOOKS.length] ?? { tone: 'info' },
  }));
  const values = all.map((_, index) => index + 1);
  const span = { p1: 0, p25: 1_000, p50: 90_000, p75: 3_600_000, p99: 90_000_000 };
  const columns: Chart = {
    ...head,
    kind: 'columns',
    steps: all,
    series,
    panels: [{ unit: head.title, values: all.map(() => values) }],
  };
  return [
    columns,
    { ...columns, panels: all.map((unit) => ({ unit, values: [values] })), series: series.slice(0, 1) },
    { ...head, kind: 'spans', rows: series.map((one) => ({ ...one, span })) },
  ];
}

/** Texts that are hard to lay out. */
const UNRULY = [
  'x'.repeat(3_000),
  'W'.repeat(60),
  'order-'.repeat(500),
  'many words '.repeat(300),
  'שלום \u202eabc\u202c עולם'.repeat(20),
  '👩‍👩‍👧‍👦'.repeat(50),
  '漢字'.repeat(300),
  '\u0000\u001b[31m\r\n\t\u2028',
  `\\"';}*{display:none}`,
] as const;

/** Hostile and unruly texts in every place that a page has. */
export function hostilePage(): ReportDocument {
  const document = hostileDocument();
  const all = [...HOSTILE, ...UNRULY];
  const columns: readonly Column[] = [
    { key: 'group', label: 'Group', kind: 'text' },
    { key: 'id', label: HOSTILE.join(' '), kind: 'text' },
    { key: 'time', label: UNRULY[1], kind: 'time' },
    { key: 'state', label: UNRULY[4], kind: 'state' },
    { key: 'amount', label: UNRULY[8], kind: 'decimal' },
    { key: 'count', label: UNRULY[3], kind: 'count', rank: 2 },
    { key: 'note', label: UNRULY[6], kind: 'text', rank: 1 },
  ];
  const rows = all.map((text, index) => ({
    group: all[Math.floor(index / 3)] ?? null,
    id: text,
    time: text,
    state: text,
    amount: index % 2 === 0 ? text : `-${'1234567890'.repeat(index)}.${'0'.repeat(index)}1`,
    count: index * 1_000_000,
    note: all[all.length - 1 - index] ?? null,
  }));
  const describe = ({ group }: Row) => {
    return { title: String(group), tone: 'error' as const, meaning: all.join(' '), advice: all.join(' ') };
  };
  const groups = { says: ['group'], describe };
  return {
    ...document,
    charts: hostileCharts(all),
    verdict: {
      tone: 'error',
      text: all.join(' '),
      reasons: all,
      first: { section: 'grouped', head: describe({ group: all.join(' ') }) },
    },
    cards: all.map((text) => ({ label: text, value: text, note: text, tone: 'warning', section: 'lines' })),
    facts: [...document.facts, ...all.map((text) => ({ key: 'from', label: text, value: text }))],
    sections: [
      { name: 'grouped', title: all.join(' '), part: 'attention', lead: all.join(' '), columns, rows, groups },
      { name: 'empty', title: UNRULY[1], part: 'money', empty: all.join(' '), columns, rows: [] },
      { name: 'folded', title: all.join(' '), part: 'money', isFolded: true, columns, rows },
      ...document.sections,
    ],
  };
}

/** The whole text of a form that is written in pieces. */
export async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
