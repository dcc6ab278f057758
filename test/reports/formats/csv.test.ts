import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { csvParts, csvText } from '../../../src/reports/formats/csv.ts';
import { documentOf, HOSTILE, hostileDocument, texts, wholeText } from '../../support/report-document.ts';

const EXACT = '12345678901234567.123456789012345678';

async function bare(keys: readonly string[], ...rows: Record<string, string | number | null>[]): Promise<string> {
  return await wholeText(csvText(documentOf(texts(...keys), rows, null)));
}

describe('CSV', () => {
  it('has a header, also where there are no rows', async () => {
    expect(await bare(['pair', 'asset'])).toBe('pair,asset\n');
    expect(await bare(['pair', 'orders', 'status'], { pair: 'BTC/EUR', orders: 2, status: null })).toBe(
      'pair,orders,status\nBTC/EUR,2,\n',
    );
  });

  it('comes back as it was, every digit of it, with quotes, commas and line ends', async () => {
    const row = { id: 'a "b", c\nd', asset: EXACT, empty: '' };
    expect(parse(await bare(Object.keys(row), row), { columns: true })).toEqual([row]);
  });

  it.each([
    '=1+1',
    '+1',
    '@SUM(A1)',
    '-1+1',
    '-',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '=HYPERLINK("http://x";"y")',
    '-1e5',
    '--1',
  ])('is no formula in a spreadsheet: %j', async (text) => {
    expect(parse(await bare(['text'], { text }), { columns: true })).toEqual([{ text: `'${text}` }]);
  });

  it.each(['-5', '-0.50', `-${EXACT}`, '5', 'a=1', "'x", ''])(
    'is left as it stands where it is none: %j',
    async (text) => {
      expect(parse(await bare(['text'], { text }), { columns: true })).toEqual([{ text }]);
    },
  );

  it('has a part for the facts and one for each section, by their names', async () => {
    const parts = csvParts(documentOf(texts('id'), [{ id: 'a' }, { id: 'b' }], 'x/1'));
    const read = await Promise.all(parts.map(async ({ name, text }) => [name, await wholeText(text)]));
    expect(read).toEqual([
      ['report', 'fact,value\nverdict,clean\n'],
      ['lines', 'id\na\nb\n'],
    ]);
  });

  it('has the parts behind each other, with their names, where it is one text', async () => {
    const text = await wholeText(csvText(documentOf(texts('id'), [{ id: 'a' }], 'x/1')));
    expect(text).toBe('report\nfact,value\nverdict,clean\n\nlines\nid\na\n');
  });

  it('has all of many rows', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => ({ id: `o${index}` }));
    expect(parse(await bare(['id'], ...rows), { columns: true })).toEqual(rows);
  });

  it('has hostile ids as text, none of which a spreadsheet runs', async () => {
    const [, lines] = csvParts(hostileDocument());
    if (lines === undefined) throw new Error('there is no such part');
    const ids = parse<{ id: string }>(await wholeText(lines.text), { columns: true }).map(({ id }) => id);
    expect(ids).toEqual(HOSTILE.map((text) => (/^[=@]/.test(text) ? `'${text}` : text)));
  });
});
