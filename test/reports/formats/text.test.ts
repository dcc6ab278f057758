import { describe, expect, it } from 'vitest';
import { asTable, printable } from '../../../src/reports/formats/text.ts';

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
