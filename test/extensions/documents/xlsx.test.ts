import readExcelFile from 'read-excel-file/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CellKind, Column, ReportDocument, Section } from '../../../src/extensions/documents/document.ts';
import { xlsxBytes } from '../../../src/extensions/documents/xlsx.ts';
import { documentOf, HOSTILE, hostileDocument, ODD, texts } from '../../support/report-document.ts';
import { unzip } from '../../support/unzip.ts';

const BIG = '12345678901234567.123456789012345678';

afterEach(() => {
  vi.useRealTimers();
});

async function sheetsOf(document: ReportDocument) {
  const sheets = await readExcelFile(await xlsxBytes(document));
  return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data]));
}

/** The rows of a sheet with one column of these values. */
async function columnOf(kind: CellKind, ...values: (string | number | null)[]) {
  const columns: readonly Column[] = [{ key: 'value', label: 'Value', kind }];
  const { lines = [] } = await sheetsOf(
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
    key: 'id',
    describe: (value: unknown) => ({
      title: `Class ${String(value)}`,
      tone: 'error' as const,
      lines: ['It means.', 'Do this.'],
    }),
  };
  const rows = [{ id: 'x' }, { id: 'x' }, { id: 'y' }];
  return {
    ...documentOf(texts('id'), [], 'x/1'),
    verdict: { tone: 'error', text: 'Not clean', reasons: ['open errors: 3', 'unchecked: 1'] },
    cards: [{ label: 'Orders', value: '12', note: '11 at the exchange', tone: 'warning' }],
    facts: [
      { key: 'account', label: 'Account', value: 'default' },
      { key: 'from', label: 'Inserted from', value: null },
      { key: 'as_of', label: 'As of', value: '2026-01-31T00:00:00.000Z' },
      { key: 'orders', label: 'Orders', value: 12 },
    ],
    sections: [
      section('rows', { isForPrograms: true }),
      section('days', { part: 'days' }),
      section('attention', { part: 'attention', rows, groups, isForPeople: true }),
      section('unchecked', { part: 'attention', lead: 'Nobody knows.' }),
    ],
  };
}

describe('the first sheet of a workbook', () => {
  it('reads as the page does: verdict, reasons, what it is about, figures, classes of findings, where the rest is', async () => {
    const { report = [] } = await sheetsOf(wholeDocument());
    expect(report.filter((row) => row.some((cell) => cell !== null))).toEqual([
      ['A report', null, null],
      ['Not clean', null, null],
      ['open errors: 3', null, null],
      ['unchecked: 1', null, null],
      ['As of', '2026-01-31T00:00:00.000Z', null],
      ['Account', 'default', null],
      ['In figures', null, null],
      ['Orders', '12', '11 at the exchange'],
      ['Title of attention', null, null],
      ['Class x', '2', 'It means. Do this.'],
      ['Class y', '1', 'It means. Do this.'],
      ['Sheets', null, null],
      ['facts', '4 rows', 'Facts'],
      ['unchecked', '1 row', 'Title of unchecked. Nobody knows.'],
      ['days', '1 row', 'Title of days'],
      ['rows', '1 row', 'Title of rows'],
    ]);
  });

  it('comes before the facts and a sheet for each section, those for people first, and links to each of them', async () => {
    const bytes = await xlsxBytes(wholeDocument());
    const names = (await readExcelFile(bytes)).map(({ sheet }) => sheet);
    expect(names).toEqual(['report', 'facts', 'unchecked', 'days', 'rows']);
    const xml = unzip(bytes).files.get('xl/worksheets/sheet1.xml') ?? '';
    const links = [...xml.matchAll(/<hyperlink ref="A\d+" location="&apos;(\w+)&apos;!A1"\/>/g)].map(
      ([, name]) => name,
    );
    expect(links).toEqual(names.slice(1));
  });

  it('is left out where the document is rows alone', async () => {
    expect(await sheetsOf(documentOf(texts('id', 'pair'), [{ id: 'a', pair: null }], null))).toEqual({
      lines: [
        ['id', 'pair'],
        ['a', null],
      ],
    });
  });

  it('has the facts by name on the next one', async () => {
    expect((await sheetsOf(documentOf(texts('id'), [], 'x/1')))['facts']).toEqual([
      ['Name', 'Value', 'Meaning'],
      ['verdict', 'clean', 'Verdict'],
    ]);
  });
});

describe('a column of a sheet', () => {
  it.each<[CellKind, readonly (string | number)[], readonly number[], string]>([
    ['decimal', ['0.1', '-5', '1.50', '123456789012345'], [0.1, -5, 1.5, 123_456_789_012_345], '0.00'],
    ['decimal', ['0.000000000000000001', '1e-7'], [1e-18, 1e-7], '0.000000000000000000'],
    ['decimal', ['100000000000000000000'], [1e20], '0'],
    ['digits', ['1.50', '-0.25'], [1.5, -0.25], '0.00'],
    ['count', [12, 123_456_789_012_345], [12, 123_456_789_012_345], '0'],
    ['count', [12.5], [12.5], '0.0'],
  ])('of the kind %s with %j is numbers, with all of its decimals', async (kind, values, numbers, format) => {
    expect(await columnOf(kind, ...values)).toEqual([['Value'], [null], ...numbers.map((number) => [number])]);
    const columns: readonly Column[] = [{ key: 'value', label: 'Value', kind }];
    const part = await partsOf(
      documentOf(
        columns,
        values.map((value) => ({ value })),
        null,
      ),
    );
    const formats = [...part('xl/styles.xml').matchAll(/formatCode="([^"@]+)"/g)].map(([, code]) => code);
    expect(formats).toEqual([format]);
  });

  it.each<[CellKind, readonly string[], readonly (number | null)[]]>([
    // Sixteen digits: a spreadsheet would make the last one a zero.
    ['decimal', ['1.5', '1234567890123456'], [1.5, 1_234_567_890_123_460]],
    ['decimal', [BIG, '0.1000000000000001'], [12_345_678_901_234_600, 0.1]],
    ['decimal', ['0.5', '?'], [0.5, null]],
    ['decimal', ['1e-30'], [1e-30]],
    ['digits', ['1.50', '1.5'], [1.5, 1.5]],
    ['digits', ['1e-8'], [1e-8]],
  ])('of the kind %s with %j is text throughout, with the rounded numbers beside it', async (kind, values, rounded) => {
    expect(await columnOf(kind, ...values)).toEqual([
      ['Value', 'Value, rounded'],
      [null, null],
      ...values.map((value, index) => [value, rounded[index]]),
    ]);
  });

  it('is text where it is of text, also where that reads like a number, and where it has both', async () => {
    expect(await columnOf('text', '007', '1.5')).toEqual([['Value'], [null], ['007'], ['1.5']]);
    expect(await columnOf('text', 'clean', 12)).toEqual([['Value'], [null], ['clean'], ['12']]);
    expect(await columnOf('decimal', '?')).toEqual([['Value'], [null], ['?']]);
  });

  it('is as wide as its longest number, and not as wide as its longest text', async () => {
    const columns: readonly Column[] = [...texts('id'), { key: 'amount', label: 'Amount', kind: 'decimal' }];
    const part = await partsOf(documentOf(columns, [{ id: ODD[0], amount: BIG }], null));
    const widths = [...part('xl/worksheets/sheet1.xml').matchAll(/<col [^>]*width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    );
    expect(widths).toHaveLength(3);
    for (const width of widths) expect(width).toBeLessThan(60);
    expect(widths[1]).toBeGreaterThanOrEqual(BIG.length);
    expect(widths[2]).toBeGreaterThanOrEqual('12345678901234600'.length);
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
      '<definedName name="_xlnm.Print_Titles" localSheetId="0">\'lines\'!$A:$B,\'lines\'!$1:$1</definedName>',
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
    const document = { ...documentOf([], [], null), sections: names.map((name) => section(name)) };
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
    const { report, lines } = await sheetsOf(documentOf(texts('id'), rows, 'x/1'));
    expect([lines?.length, lines?.at(-2), lines?.at(-1)]).toEqual([
      20_002,
      ['o19999'],
      ['2 more; the forms csv and json have them all'],
    ]);
    expect(report?.at(-1)).toEqual(['lines', '20000 of 20002 rows', 'Lines']);
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
    const ids = sheets.find(({ sheet }) => sheet === 'lines')?.data.slice(1);
    expect(ids?.map(([id]) => id)).toEqual(HOSTILE);
    const { files } = unzip(workbook);
    const parts = [...files].filter(([name]) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name));
    expect(parts).toHaveLength(3);
    for (const [, xml] of parts) expect(xml).not.toMatch(/<f[ >]|<hyperlink [^>]*r:id/);
    // Who edits a cell of another format makes a formula of its text.
    expect(files.get('xl/styles.xml')).toContain('formatCode="@"');
  });

  it('has odd texts as they are, except that characters it cannot hold are escaped', async () => {
    const { lines = [] } = await sheetsOf(
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
