import readExcelFile from 'read-excel-file/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Column } from '../../../src/reports/formats/document.ts';
import { xlsxBytes } from '../../../src/reports/formats/xlsx.ts';
import { documentOf, HOSTILE, hostileDocument, texts } from '../../support/report-document.ts';
import { unzip } from '../../support/unzip.ts';

const AMOUNT: readonly Column[] = [{ key: 'amount', label: 'Amount', kind: 'decimal' }];

afterEach(() => {
  vi.useRealTimers();
});

async function readBack(...args: Parameters<typeof documentOf>) {
  const sheets = await readExcelFile(await xlsxBytes(documentOf(...args)));
  return Object.fromEntries(sheets.map(({ sheet, data }) => [sheet, data]));
}

describe('XLSX', () => {
  it('has a sheet for the facts and one for each section, with labels as headers', async () => {
    expect(await readBack(texts('id', 'pair'), [{ id: 'a', pair: null }], 'x/1')).toEqual({
      report: [
        ['Fact', 'Value'],
        ['verdict', 'clean'],
      ],
      lines: [
        ['id', 'pair'],
        ['a', null],
      ],
    });
  });

  it.each([
    ['0.1', 0.1],
    ['-5', -5],
    ['123456789012345', 123_456_789_012_345],
    ['0.000000000000000001', 1e-18],
    ['1.50', 1.5],
    ['0', 0],
    // Sixteen digits: a spreadsheet would make the last one a zero.
    ['1234567890123456', '1234567890123456'],
    ['12345678901234567.123456789012345678', '12345678901234567.123456789012345678'],
    ['0.1000000000000001', '0.1000000000000001'],
    ['?', '?'],
  ])('has the amount %s as %j', async (amount, cell) => {
    const { lines } = await readBack(AMOUNT, [{ amount }], 'x/1');
    expect(lines?.[1]).toEqual([cell]);
  });

  it('has counts as numbers', async () => {
    const columns: readonly Column[] = [{ key: 'orders', label: 'Orders', kind: 'count' }];
    expect((await readBack(columns, [{ orders: 12 }], 'x/1'))['lines']).toEqual([['Orders'], [12]]);
  });

  it('has ids of digits as text: they are no amounts', async () => {
    expect((await readBack(texts('id'), [{ id: '007' }], 'x/1'))['lines']?.[1]).toEqual(['007']);
  });

  it('has hostile texts as text and no formula anywhere', async () => {
    const workbook = await xlsxBytes(hostileDocument());
    const sheets = await readExcelFile(workbook);
    const ids = sheets.find(({ sheet }) => sheet === 'lines')?.data.slice(1);
    expect(ids?.map(([id]) => id)).toEqual(HOSTILE);
    const { files } = unzip(workbook);
    const parts = [...files].filter(([name]) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name));
    expect(parts).toHaveLength(2);
    for (const [, xml] of parts) expect(xml).not.toMatch(/<f[ >]|<hyperlink/);
  });

  it('has a header that stays in place, and filters over all rows', async () => {
    const rows = [{ id: 'a' }, { id: 'b' }];
    const { files } = unzip(await xlsxBytes(documentOf(texts('id', 'pair'), rows, 'x/1')));
    const sheet = files.get('xl/worksheets/sheet2.xml');
    expect(sheet).toContain('<autoFilter ref="A1:B3"/>');
    expect(sheet).toMatch(/<pane [^>]*ySplit="1"[^>]*state="frozen"/);
  });

  it('says how many more rows there are than a sheet holds', async () => {
    const rows = Array.from({ length: 20_002 }, (_, index) => ({ id: `o${index}` }));
    const { lines } = await readBack(texts('id'), rows, 'x/1');
    expect([lines?.length, lines?.at(-2), lines?.at(-1)]).toEqual([
      20_002,
      ['o19999'],
      ['2 more; the forms csv and json have them all'],
    ]);
  });

  it('has the same bytes whenever it is written', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T12:00:00Z') });
    const first = await xlsxBytes(hostileDocument());
    vi.setSystemTime(Date.parse('2031-07-01T03:04:05Z'));
    const second = await xlsxBytes(hostileDocument());
    expect(second.equals(first)).toBe(true);
    expect(new Set(unzip(second).times)).toEqual(new Set([0x00210000]));
  });
});
