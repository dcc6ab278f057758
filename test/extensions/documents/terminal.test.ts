import { describe, expect, it } from 'vitest';
import type { Column, Row } from '../../../src/extensions/documents/document.ts';
import { layOut, tableOf, textColumns, PLAIN } from '../../../src/extensions/documents/terminal.ts';
import { widthOf } from '../../../src/cli/shared/terminal.ts';

const EXACT = '12345678901234567.123456789012345678';
const keysOf = (columns: readonly Column[]) => columns.map(({ key }) => key);
const at = (width: number) => ({ width, hasColour: false, now: new Date('2026-03-07T12:00:00.000Z') });

function linesOf(columns: readonly Column[], rows: readonly Row[], width = Infinity): string[] {
  return layOut(columns, rows, at(width)).text.trimEnd().split('\n');
}

describe('a table for people', () => {
  it('has a head, one rule, and a line for each row', () => {
    expect(
      linesOf(textColumns('id', 'status'), [
        { id: 'shop-1', status: null },
        { id: 'a', status: 'NEW' },
      ]),
    ).toEqual(['id      status', '──────  ──────', 'shop-1', 'a       NEW']);
  });

  it('has numbers at the right, and decimals under each other by their points, with every digit', () => {
    const columns: readonly Column[] = [
      { key: 'asset', label: 'asset', kind: 'decimal' },
      { key: 'orders', label: 'orders', kind: 'count' },
    ];
    const rows = [
      { asset: EXACT, orders: 1 },
      { asset: '-1.5', orders: 200 },
      { asset: '20', orders: 3 },
      { asset: 'x', orders: null },
    ];
    expect(linesOf(columns, rows).slice(2)).toEqual([
      `${EXACT}       1`,
      `               -1.5                      200`,
      `               20                          3`,
      `                                   x`,
    ]);
  });

  it('is as wide as its screen at most: times are shortened, texts are cut, then columns are left out by rank and named', () => {
    const columns: readonly Column[] = [
      { key: 'id', label: 'id', kind: 'text', isId: true },
      { key: 'at', label: 'at', kind: 'time', rank: 2 },
      { key: 'reason', label: 'reason', kind: 'text', rank: 1 },
      { key: 'asset', label: 'asset', kind: 'decimal' },
    ];
    const rows = [
      {
        id: 'tenant-north-europe/shop-000705/9f1c2a7e',
        at: '2026-03-01T00:00:00.000Z',
        reason: 'the exchange says that it was given no address',
        asset: EXACT,
      },
    ];
    const widest = layOut(columns, rows, at(160));
    expect([widest.leftOut, widest.text.includes('2026-03-01T00:00:00.000Z')]).toEqual([[], true]);
    const wide = layOut(columns, rows, at(120));
    expect(wide.leftOut).toEqual([]);
    expect(wide.text).toContain('1 Mar 00:00  the exchange sa');
    const narrow = layOut(columns, rows, at(100));
    expect(keysOf(narrow.leftOut)).toEqual(['at']);
    const narrowest = layOut(columns, rows, at(60));
    expect(keysOf(narrowest.leftOut)).toEqual(['at', 'reason', 'asset']);
    for (const [width, { text }] of [
      [160, widest],
      [120, wide],
      [100, narrow],
      [60, narrowest],
    ] as const) {
      expect(Math.max(...text.split('\n').map(widthOf))).toBeLessThanOrEqual(width);
      expect(text).toMatch(/^tenant-north-europe\/shop-000705\/9f1c2a7e( |$)/m);
    }
    expect(tableOf(columns, rows, at(100))).toMatch(/\nnot shown here: at\. .*\n$/);
  });

  it('cuts and leaves out no id, even if no line has room for it, and leaves out amounts after all else', () => {
    const columns: readonly Column[] = [
      { key: 'finding', label: 'id', kind: 'count' },
      { key: 'order', label: 'order', kind: 'text', isId: true },
      { key: 'status', label: 'status', kind: 'text' },
      { key: 'asset', label: 'asset', kind: 'decimal' },
      { key: 'pre_order', label: 'pre-order', kind: 'text', isId: true, rank: 1 },
    ];
    const long = 'x'.repeat(75);
    const rows = [
      { finding: 1, order: 'an id', status: 'COMPLETED', asset: '0.1', pre_order: 'pre-1' },
      { finding: 2, order: long, status: 'COMPLETED', asset: EXACT, pre_order: long },
    ];
    for (const [width, leftOut] of [
      [240, []],
      [160, ['pre_order']],
      [120, ['status', 'pre_order']],
      [100, ['status', 'asset', 'pre_order']],
      [60, ['status', 'asset', 'pre_order']],
    ] as const) {
      const laid = layOut(columns, rows, at(width));
      expect([width, keysOf(laid.leftOut)]).toEqual([width, leftOut]);
      expect(laid.text).toContain(` 2  ${long}`);
    }
  });

  it('has short times of today, of this year and of other years if there is little room', () => {
    const columns: readonly Column[] = [{ key: 'at', label: 'at', kind: 'time' }];
    const times = ['2026-03-07T00:07:30.123Z', '2026-03-01T00:07:30.123Z', '2025-12-31T23:59:59.999Z', 'x'];
    const rows = times.map((time) => ({ at: time }));
    const short = ['00:07:30', '1 Mar 00:07', '31 Dec 2025', 'x'];
    expect(linesOf(columns, rows, 20)).toEqual(['at UTC', '───────────', ...short]);
    expect(linesOf(columns, rows, 24).slice(2)).toEqual(times);
    expect(linesOf(columns, rows).slice(2)).toEqual(times);
  });

  it('names columns that are left out so that a comma of a name ends none', () => {
    const [id, ...others] = textColumns('id', 'all, open', 'failed');
    const columns = [id!, ...others.map((column) => ({ ...column, rank: 1 }))];
    const text = tableOf(columns, [{ id: 'a', 'all, open': 'b'.repeat(16), failed: 'c'.repeat(16) }], at(16));
    expect(text.replaceAll('\n', ' ')).toContain('not shown here: all, open · failed. ');
  });

  it('has whole values in a file, and does not make every row as wide as one of 3,000 characters', () => {
    const long = 'x'.repeat(3_000);
    const lines = linesOf(textColumns('id', 'status'), [
      { id: long, status: 'NEW' },
      { id: 'a', status: 'NEW' },
    ]);
    expect(lines[2]).toBe(`${long}  NEW`);
    expect(lines[3]?.length).toBeLessThan(120);
  });

  it('leaves out a column without values first', () => {
    const columns = [...textColumns('id', 'nothing'), { key: 'more', label: 'more', kind: 'text' as const, rank: 9 }];
    const { leftOut } = layOut(columns, [{ id: 'shop-1', nothing: null, more: 'a text' }], at(16));
    expect(keysOf(leftOut)).toEqual(['nothing']);
  });

  it('has a head of several lines if the labels are wider than the values', () => {
    const columns: readonly Column[] = [
      { key: 'pair', label: 'pair', kind: 'text' },
      { key: 'nothing', label: 'nothing to compare', kind: 'count' },
    ];
    expect(linesOf(columns, [{ pair: 'BTC/EUR', nothing: 7 }], 18)).toEqual([
      '           nothing',
      '                to',
      'pair       compare',
      '───────  ─────────',
      'BTC/EUR          7',
    ]);
  });

  it('counts the cells of a terminal, whatever is written in the texts', () => {
    const ids = ['a', '漢字', '👨‍👩‍👧', 'e\u0301'.repeat(4), 'مرحبا', 'क्षि'];
    const rows = ids.map((id) => ({ id, state: 'x' }));
    const columnsOfState = linesOf(textColumns('id', 'state'), rows)
      .slice(2)
      .map((line) => widthOf(line));
    expect(new Set(columnsOfState).size).toBe(1);
    for (const id of ids) {
      const [line = ''] = linesOf(textColumns('id', 'state'), [{ id: id.repeat(30), state: 'x' }], 30).slice(2);
      expect(widthOf(line)).toBeLessThanOrEqual(30);
      expect(line).toMatch(/…/);
      expect(line).toMatch(/x$/);
    }
  });

  it('has each row on one line, cut in no half character, and nothing that steers a terminal', () => {
    const rows = [{ id: `a\nb\r\t\u001b[31mred\u001b[0m\u0000`, text: '😀'.repeat(1_500) }];
    const lines = linesOf(textColumns('id', 'text'), rows, 60);
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toMatch(/\p{Cc}/u);
    expect(lines.join('').isWellFormed()).toBe(true);
    expect(linesOf(textColumns('id', 'text'), rows).join('')).toContain(rows[0]?.text);
  });

  it('has the colours of states, severities and outcomes if the screen has colour, and no escape elsewhere', () => {
    const columns: readonly Column[] = [
      { key: 'state', label: 'state', kind: 'state' },
      { key: 'text', label: 'text', kind: 'text' },
    ];
    const rows = [{ state: 'held', text: 'held' }];
    const coloured = layOut(columns, rows, { width: 60, hasColour: true }).text;
    expect(coloured).toContain('\n\u001b[31m\u001b[1mheld');
    expect(coloured).toContain(' held\n');
    expect(layOut(columns, rows, PLAIN).text).not.toContain('\u001b');
  });

  it('leaves out columns that are for programs', () => {
    const columns: readonly Column[] = [{ key: 'seconds', label: 'seconds', kind: 'count', isForPrograms: true }];
    expect(layOut([...textColumns('id'), ...columns], [{ id: 'a', seconds: 5 }], PLAIN)).toEqual({
      text: 'id\n──\na\n',
      leftOut: [],
    });
  });
});
