import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { csvText, jsonText } from '../../../src/extensions/documents/data.ts';
import { documentOf, HOSTILE, hostileDocument, ODD, texts, wholeText } from '../../support/report-document.ts';

const EXACT = '12345678901234567.123456789012345678';

async function bare(keys: readonly string[], ...rows: Record<string, string | number | null>[]): Promise<string> {
  return await wholeText(csvText({ name: 'lines', title: 'Lines', columns: texts(...keys), rows }));
}

describe('CSV', () => {
  it('has a header, also if there are no rows', async () => {
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
    '\t1',
    '\r1',
    '\n1',
    '＝1',
    '=HYPERLINK("http://x";"y")',
    '-1e5',
    '--1',
  ])('is no formula in a spreadsheet: %j', async (text) => {
    expect(parse(await bare(['text'], { text }), { columns: true })).toEqual([{ text: `'${text}` }]);
  });

  it.each(['\t=1', '\r=1', 'a;=1+1', 'a;=1+1;b', 'a\t@x', 'a\n+1', ';-1+1', 'a;＝1'])(
    'is no formula where another character stands between cells: %j',
    async (text) => {
      const [{ text: written } = { text: '' }] = parse<{ text: string }>(await bare(['text'], { text }), {
        columns: true,
      });
      expect(written.split(/[;\t\r\n]/).filter((cell) => /^[=+\-@＝]/.test(cell))).toEqual([]);
      expect(written.replaceAll("'", '')).toBe(text);
    },
  );

  it.each(['-5', '-0.50', `-${EXACT}`, '5', 'a=1', "'x", ''])(
    'is left as it stands if it is none: %j',
    async (text) => {
      expect(parse(await bare(['text'], { text }), { columns: true })).toEqual([{ text }]);
    },
  );

  it('has all of many rows', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => ({ id: `o${index}` }));
    expect(parse(await bare(['id'], ...rows), { columns: true })).toEqual(rows);
  });

  it('has every other text as it is', async () => {
    const text = await bare(['id', 'other'], ...ODD.map((id) => ({ id, other: id })));
    expect(parse(text, { columns: true })).toEqual(ODD.map((id) => ({ id, other: id })));
  });

  it('has hostile ids as text, none of which a spreadsheet runs', async () => {
    const text = await bare(['id'], ...HOSTILE.map((id) => ({ id })));
    const ids = parse<{ id: string }>(text, { columns: true }).map(({ id }) => id);
    expect(ids).toEqual(HOSTILE.map((id) => (/^[=@]/.test(id) ? `'${id}` : id)));
  });
});

describe('JSON', () => {
  it('has amounts as text, counts as numbers, and what is not known as null', async () => {
    const rows = [{ asset: EXACT, orders: 2, status: null }];
    const text = await wholeText(jsonText(documentOf(texts('asset', 'orders', 'status'), rows, null)));
    expect(text).toContain(`"asset": "${EXACT}"`);
    expect(JSON.parse(text)).toEqual(rows);
    expect(text).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  it('keeps a text with line separators of Unicode as it is, indented or not', async () => {
    const rows = [{ id: 'a\u2028b\u2029c' }];
    const text = await wholeText(jsonText(documentOf(texts('id'), rows, 'x/1')));
    expect((JSON.parse(text) as { sections: { lines: unknown } }).sections.lines).toEqual(rows);
  });

  it('is an empty array if there are no rows and no schema', async () => {
    expect(await wholeText(jsonText(documentOf(texts('id'), [], null)))).toBe('[]\n');
  });

  it('is one object with the name of its shape, its facts and its sections', async () => {
    const rows = [{ id: 'a' }, { id: 'b' }];
    const text = await wholeText(jsonText(documentOf(texts('id', 'gone'), rows, 'x/1')));
    expect(text).toBe(
      `${JSON.stringify(
        {
          schema: 'x/1',
          title: 'A report',
          facts: { verdict: 'clean' },
          sections: { lines: rows.map(({ id }) => ({ id, gone: null })) },
        },
        null,
        2,
      )}\n`,
    );
  });

  it('has hostile and odd texts as they are', async () => {
    const odd = await wholeText(
      jsonText(
        documentOf(
          texts('id'),
          ODD.map((id) => ({ id })),
          null,
        ),
      ),
    );
    expect(JSON.parse(odd)).toEqual(ODD.map((id) => ({ id })));
    const read = JSON.parse(await wholeText(jsonText(hostileDocument()))) as {
      sections: { lines: { id: string }[] };
    };
    expect(read.sections.lines.map(({ id }) => id)).toEqual(HOSTILE);
  });
});
