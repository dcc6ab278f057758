import { describe, expect, it } from 'vitest';
import { csvText, jsonText } from '../../../src/extensions/documents/data.ts';
import type { ReportDocument, Row, Section } from '../../../src/extensions/documents/document.ts';
import { tableText } from '../../../src/extensions/documents/table.ts';
import { widthOf } from '../../../src/cli/shared/terminal.ts';
import { documentOf, hostileDocument, texts, wholeText } from '../../support/report-document.ts';

const SCREEN = { width: 60, hasColour: true };

const verdict = {
  tone: 'error',
  text: 'A person should look.',
  reasons: ['Two orders are held.'],
  first: { section: 'money', head: { title: 'In EUR', advice: 'Wait.' } },
} as const;

/** A document with everything that a terminal shows in a way of its own. */
function groupedDocument(): ReportDocument {
  const columns = [
    { key: 'currency', label: 'Currency', kind: 'text' },
    { key: 'day', label: 'Day', kind: 'text' },
    { key: 'sum', label: 'Sum', kind: 'decimal' },
  ] as const;
  const rows = [
    { currency: 'EUR', day: '2026-03-01', sum: '1.50' },
    { currency: 'EUR', day: '2026-03-02', sum: '20' },
    { currency: 'BTC', day: '2026-03-01', sum: '0.1' },
  ];
  const groups = {
    says: ['currency'],
    describe: ({ currency }: Row) =>
      ({ title: `In ${currency}`, tone: 'warning', meaning: 'What it means.', advice: 'Wait.' }) as const,
  };
  const section = { name: 'money', title: 'Money', lead: 'By currency and day.', columns, rows, groups };
  return {
    schema: 'x/1',
    title: 'A report',
    verdict,
    cards: [{ label: 'Orders', value: '3', note: 'two are held' }],
    facts: [
      { key: 'from', label: 'From', value: null },
      { key: 'to', label: 'Until', value: '2026' },
      { key: 'verdict', label: 'Verdict', value: 'said above' },
      { key: 'rule', label: 'Rule', value: 'none' },
    ],
    sections: [
      section,
      { ...section, title: 'Twice', isForPrograms: true },
      { ...section, rows: [], empty: 'No money.' },
    ],
    charts: [],
  };
}

describe('the form for a terminal', () => {
  it('has the facts, and a table for each section under its title', async () => {
    const text = await wholeText(tableText(documentOf(texts('id'), [{ id: 'a' }], 'x/1')));
    expect(text).toBe('A report\n\nLines\nid\n──\na\n\nAbout this report\nVerdict  clean\n');
  });

  it('says first what the report says as a whole, and leaves out what is for programs', async () => {
    const text = await wholeText(tableText(groupedDocument()));
    expect(text).toBe(`A report
Until  2026

A person should look.
- Two orders are held.
Begin with: In EUR. Wait.

Orders  3 (two are held)

Money
By currency and day.
Currency  Day           Sum
────────  ──────────  ─────
EUR       2026-03-01   1.50
EUR       2026-03-02  20
BTC       2026-03-01   0.1

Money
By currency and day.
No money.

About this report
Rule  none
`);
  });

  it('has a heading for each group of a whole document, in place of the columns that it says', async () => {
    const text = await wholeText(tableText({ ...groupedDocument(), isWhole: true }));
    expect(text).toContain(`In EUR
What it means.
What to do: Wait.
Day           Sum
──────────  ─────
2026-03-01   1.50
2026-03-02  20

In BTC
`);
  });

  it('has the total of a group below its rows, and once the names of columns that say nothing in any group', async () => {
    const document = groupedDocument();
    const [section] = document.sections as [Section];
    const [first, second, ...others] = section.rows as readonly Row[];
    const total = { currency: 'EUR', day: 'both', sum: '21.50' };
    const rowsForPeople = [first, second, total, ...others] as readonly Row[];
    const columns = [...section.columns, { key: 'unreadable', label: 'Unreadable', kind: 'count' }] as const;
    const withTotals = { ...section, columns, rowsForPeople };
    const text = await wholeText(tableText({ ...document, isWhole: true, sections: [withTotals] }));
    expect(text).toContain('2026-03-02  20\nboth        21.50\n\nIn BTC\n');
    expect(text.match(/unreadable/gi)).toEqual(['Unreadable']);
    expect(text).toContain('0.1\nzero or empty in every row: Unreadable\n');
    for (const form of [csvText(withTotals), jsonText({ ...document, sections: [withTotals] })])
      expect(await wholeText(form)).not.toContain('both');
  });

  it('names a column that there is no room for in any group once', async () => {
    const document = groupedDocument();
    const [section] = document.sections as [Section];
    const last = { key: 'before', label: 'Before that', kind: 'time', rank: 1 } as const;
    const narrow = {
      ...section,
      columns: [...section.columns, last],
      rows: ['EUR', 'BTC'].map((currency) => ({ currency, day: '2026-03-01', sum: '1', before: '2026-02-28' })),
    };
    const text = await wholeText(
      tableText({ ...document, isWhole: true, sections: [narrow] }, { width: 24, hasColour: false }),
    );
    expect(text.replaceAll('\n', ' ')).toContain('not shown here: Before that. ');
  });

  it('has the colour of the verdict and of groups on a screen that has colour', async () => {
    const text = await wholeText(tableText({ ...groupedDocument(), isWhole: true }, SCREEN));
    expect(text).toContain('\u001b[31m\u001b[1mA person should look.');
    expect(text).toContain('\u001b[33m\u001b[1mIn EUR');
  });

  it('has at most a thousand rows, and says how many more there are', async () => {
    const rows = Array.from({ length: 1_003 }, (_, index) => ({ id: `o${index}` }));
    const text = await wholeText(tableText(documentOf(texts('id'), rows, null)));
    expect(text).toContain('\no999\n');
    expect(text).not.toContain('o1000');
    expect(text).toMatch(/\n3 more rows: .*\n$/);
  });

  it('has nothing that steers a terminal, and no line that is wider than it', async () => {
    const rows = [{ id: '\u001b[2J\u202e' }];
    const text = await wholeText(tableText(documentOf(texts('id'), rows, null)));
    expect(text).toContain(String.raw`\u001b[2J\u202e`);
    const plain = { ...SCREEN, hasColour: false };
    const hostile = await wholeText(tableText(hostileDocument(), plain));
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(hostile).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(Math.max(...hostile.split('\n').map(widthOf))).toBeLessThanOrEqual(60);
  });
});
