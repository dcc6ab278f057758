import readExcelFile from 'read-excel-file/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CellKind, Column, ReportDocument, Row, Section } from '../../../src/extensions/documents/document.ts';
import { xlsxBytes } from '../../../src/extensions/documents/xlsx.ts';
import { documentOf, HOSTILE, hostileDocument, ODD, texts } from '../../support/report-document.ts';
import { unzip } from '../../support/unzip.ts';

const BIG = '12345678901234567.123456789012345678';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

async function sheetsOf(document: ReportDocument) {
  const sheets = await readExcelFile(await xlsxBytes(document));
  return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data]));
}

/** The rows of a sheet with one column of these values. */
async function columnOf(kind: CellKind, ...values: (string | number | null)[]) {
  const columns: readonly Column[] = [{ key: 'value', label: 'Value', kind }];
  const { Lines: lines = [] } = await sheetsOf(
    documentOf(
      columns,
      [null, ...values].map((value) => ({ value })),
      null,
    ),
  );
  return lines;
}

/** The parts of the workbook of a document, by name. */
async function partsOf(document: ReportDocument): Promise<(name: string) => string> {
  const { files } = unzip(await xlsxBytes(document));
  return (name) => files.get(name) ?? '';
}

function section(name: string, more: Partial<Section> = {}): Section {
  return { name, title: `Title of ${name}`, columns: texts('id'), rows: [{ id: 'a' }], ...more };
}

/** A document with something of everything. */
function wholeDocument(): ReportDocument {
  const groups = {
    says: ['id'],
    describe: ({ id }: Row) =>
      ({ title: `Class ${id}`, tone: 'error', meaning: 'It means.', advice: 'Do this.' }) as const,
  };
  const rows = [{ id: 'x' }, { id: 'x' }, { id: 'y' }];
  return {
    ...documentOf(texts('id'), [], 'x/1'),
    verdict: {
      tone: 'error',
      text: 'Not clean',
      reasons: ['open errors: 3', 'unchecked: 1'],
      first: { section: 'findings', head: groups.describe({ id: 'x' }) },
    },
    cards: [{ label: 'Orders', value: '12', note: '11 at the exchange', tone: 'warning' }],
    facts: [
      { key: 'account', label: 'Account', value: 'default' },
      { key: 'from', label: 'Inserted from', value: null },
      { key: 'as_of', label: 'As of', value: '2026-01-31T00:00:00.000Z' },
      { key: 'orders', label: 'Orders', value: 12 },
    ],
    sections: [
      section('rows', { isForPrograms: true }),
      section('days', { part: 'money', isFolded: true }),
      section('money', { part: 'money' }),
      section('findings', { part: 'attention', rows, groups }),
      section('unchecked', { part: 'attention' }),
    ],
  };
}

describe('the first sheet of a workbook', () => {
  it('reads as the page does: verdict, reasons, its subject, figures, classes of findings, the place of the rest', async () => {
    const { Report = [] } = await sheetsOf(wholeDocument());
    expect(Report.filter((row) => row.some((cell) => cell !== null))).toEqual([
      ['A report', null, null],
      ['Not clean', null, null],
      ['open errors: 3', null, null],
      ['unchecked: 1', null, null],
      ['Begin with: Class x. Do this.', null, null],
      ['As of (UTC)', new Date('2026-01-31T00:00:00.000Z'), null],
      ['Account', 'default', null],
      ['In figures', null, null],
      ['Orders', '12', '11 at the exchange'],
      ['Title of findings', null, null],
      ['Class x', '2', 'It means. Do this.'],
      ['Class y', '1', 'It means. Do this.'],
      ['Sheets', null, null],
      ['Title of findings', '3 rows', null],
      ['Title of unchecked', '1 row', null],
      ['Title of money', '1 row', null],
      ['Title of rows', '1 row', expect.stringContaining('Hidden')],
      ['Title of days', '1 row', expect.stringContaining('Hidden')],
      ['About this report', '4 rows', expect.stringContaining('Hidden')],
    ]);
  });

  it('comes before a sheet for each section, which has its title as its name, and links to the ones that are seen', async () => {
    const bytes = await xlsxBytes(wholeDocument());
    const names = (await readExcelFile(bytes)).map(({ sheet }) => sheet);
    const seen = ['findings', 'unchecked', 'money'].map((name) => `Title of ${name}`);
    expect(names).toEqual(['Report', ...seen, 'Title of rows', 'Title of days', 'About this report']);
    const { files } = unzip(bytes);
    const links = (files.get('xl/worksheets/sheet1.xml') ?? '').matchAll(
      /<hyperlink ref="A\d+" location="&apos;(.+?)&apos;!A1"\/>/g,
    );
    expect([...links].map(([, name]) => name)).toEqual(seen);
    // A hidden sheet is not printed.
    const hidden = (files.get('xl/workbook.xml') ?? '').matchAll(/<sheet [^>]*state="hidden" name="([^"]+)"/g);
    expect([...hidden].map(([, name]) => name)).toEqual(['Title of rows', 'Title of days', 'About this report']);
  });

  it('hides no sheet of a whole document', async () => {
    const part = await partsOf({ ...wholeDocument(), isWhole: true });
    expect(part('xl/workbook.xml')).not.toContain('hidden');
  });

  it('is left out if the document is rows alone', async () => {
    expect(await sheetsOf(documentOf(texts('id', 'pair'), [{ id: 'a', pair: null }], null))).toEqual({
      Lines: [
        ['id', 'pair'],
        ['a', null],
      ],
    });
  });

  it('has the facts by name on the last one', async () => {
    expect((await sheetsOf(documentOf(texts('id'), [], 'x/1')))['About this report']).toEqual([
      ['Name', 'Value', 'Meaning'],
      ['verdict', 'clean', 'Verdict'],
    ]);
  });
});

describe('a column of a sheet', () => {
  it.each<[CellKind, readonly (string | number)[], readonly number[], readonly string[]]>([
    ['decimal', ['0.1', '-5', '1.50', '123456789012345'], [0.1, -5, 1.5, 123_456_789_012_345], ['0.0', '0', '0.00']],
    ['decimal', ['0.000000000000000001', '1e-7'], [1e-18, 1e-7], ['0.000000000000000000', '0.0000000']],
    ['decimal', ['100000000000000000000'], [1e20], ['0']],
    ['digits', ['1.50', '-0.25'], [1.5, -0.25], ['0.00']],
    ['count', [12, 123_456_789_012_345], [12, 123_456_789_012_345], ['0']],
    ['count', [12.5], [12.5], ['0.0']],
  ])('of the kind %s with %j is numbers, each with its own decimals', async (kind, values, numbers, formats) => {
    expect(await columnOf(kind, ...values)).toEqual([['Value'], [null], ...numbers.map((number) => [number])]);
    const columns: readonly Column[] = [{ key: 'value', label: 'Value', kind }];
    const rows = values.map((value) => ({ value }));
    const part = await partsOf(documentOf(columns, rows, null));
    const found = [...part('xl/styles.xml').matchAll(/formatCode="([^"@]+)"/g)].map(([, code]) => code);
    expect(found).toEqual(formats);
  });

  it.each<[CellKind, readonly string[], readonly (string | number)[]]>([
    // Sixteen digits: a spreadsheet would make the last one a zero.
    ['decimal', ['1.5', '1234567890123456'], [1.5, '1234567890123456']],
    ['decimal', [BIG, '0.25'], [BIG, 0.25]],
    ['decimal', ['0.5', '?'], [0.5, '?']],
    ['decimal', ['1e-30'], ['1e-30']],
    ['digits', ['1.50', '1e-8'], [1.5, '1e-8']],
  ])('of the kind %s with %j has text only if a digit would be lost', async (kind, values, cells) => {
    expect(await columnOf(kind, ...values)).toEqual([
      // The headings of an export are names of fields, and stay as they are.
      [kind === 'digits' ? 'Value' : 'Value (long numbers as text)'],
      [null],
      ...cells.map((cell) => [cell]),
    ]);
  });

  it('has times and days as dates in UTC, wherever the machine stands, and text if it is no time', async () => {
    vi.stubEnv('TZ', 'Pacific/Auckland');
    const at = '2026-01-31T12:00:00.000Z';
    expect(await columnOf('time', at, 'never', '9999-99-99T00:00:00Z')).toEqual([
      ['Value (UTC)'],
      [null],
      [new Date('2026-01-31T12:00:00.000Z')],
      ['never'],
      ['9999-99-99T00:00:00Z'],
    ]);
    expect(await columnOf('day', '2026-01-31', '?')).toEqual([
      ['Value (UTC)'],
      [null],
      [new Date('2026-01-31')],
      ['?'],
    ]);
    const columns: readonly Column[] = [{ key: 'value', label: 'Day (UTC)', kind: 'day' }];
    const part = await partsOf(documentOf(columns, [{ value: '2026-01-31' }], null));
    expect(part('xl/styles.xml')).toContain('formatCode="yyyy-mm-dd"');
    expect(part('xl/worksheets/sheet1.xml')).toContain('<v>46053</v>');
  });

  it('is text if it is of text, also if that reads like a number, and if it has both', async () => {
    expect(await columnOf('text', '007', '1.5')).toEqual([['Value'], [null], ['007'], ['1.5']]);
    expect(await columnOf('text', 'clean', 12)).toEqual([['Value'], [null], ['clean'], ['12']]);
  });

  it('is as wide as its longest number, and not as wide as its longest text', async () => {
    const columns: readonly Column[] = [...texts('id'), { key: 'amount', label: 'Amount', kind: 'decimal' }];
    const part = await partsOf(documentOf(columns, [{ id: ODD[0], amount: BIG }], null));
    const widths = [...part('xl/worksheets/sheet1.xml').matchAll(/<col [^>]*width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    );
    expect(widths).toHaveLength(2);
    for (const width of widths) expect(width).toBeLessThan(60);
    expect(widths[1]).toBeGreaterThanOrEqual(BIG.length);
    expect(part('xl/worksheets/sheet1.xml')).toMatch(/<row r="2" ht="[3-9]\d"/);
  });
});

describe('a sheet', () => {
  const COLUMNS: readonly Column[] = [...texts('id', 'pair'), { key: 'n', label: 'N', kind: 'count' }];

  it('has headings and keys that stay in place and are printed on every page, filters over all rows, and one font', async () => {
    const part = await partsOf(
      documentOf(
        COLUMNS,
        [
          { id: 'a', n: 1 },
          { id: 'b', n: 2 },
        ],
        null,
      ),
    );
    const xml = part('xl/worksheets/sheet1.xml');
    expect(xml).toContain('<autoFilter ref="A1:C3"/>');
    expect(xml).toMatch(/<pane ySplit="1" xSplit="2" [^>]*state="frozen"/);
    expect(xml).toContain('<pageSetUpPr fitToPage="1"/>');
    expect(xml).toMatch(/<pageSetup [^>]*orientation="landscape"[^>]*fitToWidth="1" fitToHeight="0"/);
    expect(part('xl/workbook.xml')).toContain(
      '<definedName name="_xlnm.Print_Titles" localSheetId="0">\'Lines\'!$A:$B,\'Lines\'!$1:$1</definedName>',
    );
    expect(new Set(part('xl/styles.xml').match(/<name val="[^"]*"\/><sz val="[^"]*"\/>/g)).size).toBe(1);
  });

  it('that is very wide is printed on several pages side by side', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `column-${index}`);
    const part = await partsOf(documentOf(texts(...keys), [], null));
    expect(part('xl/worksheets/sheet1.xml')).toMatch(/fitToWidth="[2-4]"/);
    expect(part('xl/worksheets/sheet1.xml')).toContain('<autoFilter ref="A1:AN1"/>');
  });

  it('has a name of its own that a spreadsheet takes', async () => {
    const long = 'a-name-that-is-longer-than-a-sheet-may-have';
    const names = ['History', 'a/b', 'A-B', `${long}-1`, `${long}-2`, ''];
    const document = { ...documentOf([], [], null), sections: names.map((title) => section('one', { title })) };
    expect(Object.keys(await sheetsOf(document))).toEqual([
      'History-2',
      'a-b',
      'A-B-2',
      long.slice(0, 31),
      `${long.slice(0, 29)}-2`,
      'sheet',
    ]);
  });

  it('says how many more rows there are than it holds, below what is filtered, and on the first sheet', async () => {
    const rows = Array.from({ length: 20_002 }, (_, index) => ({ id: `o${index}` }));
    const { Report: report, Lines: lines } = await sheetsOf(documentOf(texts('id'), rows, 'x/1'));
    expect([lines?.length, lines?.at(-2), lines?.at(-1)]).toEqual([
      20_002,
      ['o19999'],
      ['2 more; the formats csv and json have all rows'],
    ]);
    expect(report?.at(-2)).toEqual(['Lines', '20000 of 20002 rows', null]);
    const part = await partsOf(documentOf(texts('id'), rows, null));
    expect(part('xl/worksheets/sheet1.xml')).toContain('<autoFilter ref="A1:A20001"/>');
  });
});

describe('a workbook', () => {
  it('has hostile texts as text and no formula, nor a link that leaves it', async () => {
    const verdict = { tone: 'error' as const, text: HOSTILE[0], reasons: HOSTILE };
    const cards = HOSTILE.map((text) => ({ label: text, value: text, note: text }));
    const workbook = await xlsxBytes({ ...hostileDocument(), verdict, cards });
    const sheets = await readExcelFile(workbook);
    const ids = sheets.find(({ data }) => data[0]?.includes('Amount'))?.data.slice(1);
    expect(ids?.map(([id]) => id)).toEqual(HOSTILE);
    const { files } = unzip(workbook);
    const parts = [...files].filter(([name]) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name));
    expect(parts).toHaveLength(3);
    for (const [, xml] of parts) expect(xml).not.toMatch(/<f[ >]|<hyperlink [^>]*r:id/);
    // Who edits a cell of another format makes a formula of its text.
    expect(files.get('xl/styles.xml')).toContain('formatCode="@"');
  });

  it('has odd texts as they are, except that characters it cannot hold are escaped', async () => {
    const { Lines: lines = [] } = await sheetsOf(
      documentOf(
        texts('id'),
        ODD.map((id) => ({ id })),
        null,
      ),
    );
    const [long, rightToLeft, emoji, wide, ...escaped] = lines.slice(1).map(([id]) => String(id));
    expect([long, emoji, wide]).toEqual([ODD[0], ODD[2], ODD[3]]);
    expect(rightToLeft).toBe(ODD[1].replace('\u202e', String.raw`\u202e`));
    expect(escaped).toEqual([
      String.raw`a\u0000\u0007\u001b[31mb`,
      String.raw`two\r\nlines`,
      String.raw`\u2028\ufeff\ufffd\uffff`,
    ]);
  });

  it('has the same bytes whenever it is written, and the title of the report', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:00Z') });
    const first = await xlsxBytes(wholeDocument());
    vi.setSystemTime(Date.parse('2031-07-01T03:04:05Z'));
    const second = await xlsxBytes(wholeDocument());
    expect(second.equals(first)).toBe(true);
    const { files, times } = unzip(second);
    expect(new Set(times)).toEqual(new Set([0x00210000]));
    expect(files.get('docProps/core.xml')).toContain('<dc:title>A report</dc:title>');
  });
});
