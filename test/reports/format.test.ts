import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { asCsv, asJson, asTable, printable } from '../../src/reports/format.ts';

const EXACT = '12345678901234567.123456789012345678';
const ESCAPE = '\u001b[31mred\u001b[0m';

describe('a table', () => {
  it('has a header, the rows in their order, and every digit', () => {
    const lines = asTable([
      { pair: 'BTC/EUR', asset: EXACT, status: null },
      { pair: 'ETH/EUR', asset: 1, status: 'NEW' },
    ]).split('\n');
    expect(lines[1]).toMatch(/^│ pair +│ asset +│ status │$/);
    expect(lines[3]).toContain(`│ BTC/EUR │ ${EXACT} │        │`);
    expect(lines[5]).toMatch(/^│ ETH\/EUR │ 1 +│ NEW +│$/);
  });

  it('has no colour and ends its last line', () => {
    const table = asTable([{ pair: 'BTC/EUR' }]);
    expect(table).not.toContain('\u001b');
    expect(table).toMatch(/[^\n]\n$/);
  });

  it('is a header where there are no rows', () => {
    expect(asTable([], ['pair', 'asset']).split('\n')[1]).toBe('│ pair │ asset │');
  });

  it('has each row on one line and nothing that steers a terminal', () => {
    const table = asTable([{ id: `a\nb\r\t${ESCAPE}\u0000\u007f\u009b` }]);
    expect(table).toContain(String.raw`a\nb\r\t\u001b[31mred\u001b[0m\u0000\u007f\u009b`);
    expect(table.split('\n')).toHaveLength(6);
  });
});

describe('text for a terminal', () => {
  it.each([
    ['\u202Eabc', String.raw`\u202eabc`],
    ['a\u2028b\u2029', String.raw`a\u2028b\u2029`],
    ['\u2066x\u2069', String.raw`\u2066x\u2069`],
    ['\b\f', String.raw`\b\f`],
    ['ü€😀 "quoted" \\', 'ü€😀 "quoted" \\'],
  ])('of %j is %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});

describe('CSV', () => {
  it('has a header, also where there are no rows', () => {
    expect(asCsv([], ['pair', 'asset'])).toBe('pair,asset\n');
    expect(asCsv([{ pair: 'BTC/EUR', orders: 2, status: null }])).toBe('pair,orders,status\nBTC/EUR,2,\n');
  });

  it('comes back as it was, every digit of it, with quotes, commas and line ends', () => {
    const row = { id: 'a "b", c\nd', asset: EXACT, empty: '' };
    expect(parse(asCsv([row]), { columns: true })).toEqual([row]);
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
  ])('is no formula in a spreadsheet: %j', (text) => {
    expect(parse(asCsv([{ text }]), { columns: true })).toEqual([{ text: `'${text}` }]);
  });

  it.each(['-5', '-0.50', `-${EXACT}`, '5', 'a=1', "'x", ''])('is left as it stands where it is none: %j', (text) => {
    expect(parse(asCsv([{ text }]), { columns: true })).toEqual([{ text }]);
  });
});

describe('JSON', () => {
  it('has amounts as text, counts as numbers, and what is not known as null', () => {
    const text = asJson([{ asset: EXACT, orders: 2, status: null }]);
    expect(text).toContain(`"asset": "${EXACT}"`);
    expect(JSON.parse(text)).toEqual([{ asset: EXACT, orders: 2, status: null }]);
    expect(text).toMatch(/\]\n$/);
  });

  it('is an empty array where there are no rows', () => {
    expect(asJson([])).toBe('[]\n');
  });
});
