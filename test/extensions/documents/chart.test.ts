import { describe, expect, it } from 'vitest';
import { figureText } from '../../../src/extensions/documents/chart.ts';
import { ticksOf, valueTicks } from '../../../src/extensions/documents/chart/svg.ts';
import type { Chart, ColumnChart, SpanChart } from '../../../src/extensions/documents/document.ts';
import { hostileDocument } from '../../support/report-document.ts';

const COLUMNS: ColumnChart = {
  kind: 'columns',
  part: 'days',
  title: 'Orders',
  text: '3 orders in 2 days',
  steps: ['1 Mar', '2'],
  series: [
    { name: 'Succeeded', note: '2', look: { tone: 'good' } },
    { name: 'Failed', note: '1', look: { tone: 'warning', pattern: 'stripes' } },
  ],
  panels: [
    {
      unit: 'orders',
      values: [
        [2, 0],
        [0, 1],
      ],
    },
  ],
};

function drawn(...charts: readonly Chart[]): readonly string[] {
  return charts.map((chart, id) => figureText(chart, id));
}

const svgsOf = (text: string) => text.match(/<svg class="(?:wide|narrow)".*?<\/svg>/gs) ?? [];
/** The fill of each shape: its tone, or the end of the name of its pattern. */
const fillsOf = (svg: string) =>
  [...svg.matchAll(/<path d="[^"]+"(?: class="(\w+)" fill="#\w+"| fill="url\(#chart\d+-([\w-]+)\)")\/>/g)].map(
    ([, tone, pattern]) => tone ?? pattern,
  );

describe('a chart', () => {
  it('is drawn for wide and for narrow pages, at about the size at which it is read', () => {
    const [text = ''] = drawn(COLUMNS);
    const [wide, narrow, ...others] = svgsOf(text).map((svg) => Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]));
    expect(others).toEqual([]);
    expect(wide).toBeGreaterThan(700);
    // A phone of 360 pixels shows it at nine tenths of its size: letters of 12 pixels stay readable.
    expect(narrow).toBeLessThanOrEqual(330);
    for (const svg of svgsOf(text)) expect(Number(/font-size="([\d.]+)"/.exec(svg)?.[1])).toBeGreaterThanOrEqual(12);
  });

  it('says what it shows to people who do not see it, and names each colour', () => {
    const [text = ''] = drawn(COLUMNS);
    expect(text).toContain('role="img" aria-label="Orders. 3 orders in 2 days"');
    expect(text.match(/<li>.*?<\/li>/gs)?.map((item) => item.replace(/<[^>]*>/g, ''))).toEqual([
      'Succeeded 2',
      'Failed 1',
    ]);
    for (const svg of svgsOf(text))
      for (const word of ['orders', '1 Mar', '2']) expect(svg).toContain(`>${word}</text>`);
  });

  it('has colours of the page, for which it names others if there is no style', () => {
    const [text = ''] = drawn(COLUMNS);
    for (const svg of svgsOf(text)) {
      expect(fillsOf(svg)).toEqual(['good', 'warning-stripes']);
      expect(svg).not.toMatch(/#0000|style=|ecmeta|zr\d/);
    }
  });

  it('draws nothing of a zero, and the shapes of one look as one', () => {
    const [text = ''] = drawn({
      ...COLUMNS,
      panels: [
        {
          unit: 'orders',
          values: [
            [2, 1],
            [0, 0],
          ],
        },
      ],
    });
    expect(svgsOf(text).map(fillsOf)).toEqual([['good'], ['good']]);
    expect(svgsOf(text)[0]?.match(/class="good"/g)).toHaveLength(1);
  });

  it('stacks negative numbers below the line, and series that stand beside each other from it', () => {
    const barsOf = (chart: ColumnChart) =>
      [...(svgsOf(figureText(chart, 0))[0] ?? '').matchAll(/M(\S+) (\S+)h(\S+)v(\S+)h-/g)].map(([, ...numbers]) =>
        numbers.map(Number),
      );
    const { series, steps } = COLUMNS;
    const both = (values: ColumnChart['panels'][number]['values']) => ({
      ...COLUMNS,
      panels: [{ unit: 'EUR', values }],
    });
    const [first, below, second, further] = barsOf(
      both([
        [10, -10],
        [20, -20],
      ]),
    );
    expect(second?.[1]).toBeLessThan(first?.[1] ?? 0);
    // Each begins at the end of the other.
    expect((second?.[1] ?? 0) + (second?.[3] ?? 0)).toBeCloseTo(first?.[1] ?? 0, 0);
    expect((below?.[1] ?? 0) + (below?.[3] ?? 0)).toBeCloseTo(further?.[1] ?? 0, 0);
    const beside = barsOf({
      ...both([
        [10, 0],
        [20, 0],
      ]),
      series,
      steps,
      isBeside: true,
    });
    const ends = beside.map(([, y = 0, , height = 0]) => y + height);
    expect(ends[0]).toBeCloseTo(ends[1] ?? 0, 0);
    expect((beside[0]?.[0] ?? 0) + (beside[0]?.[2] ?? 0)).toBeCloseTo(beside[1]?.[0] ?? 0, 0);
  });

  it('writes no name into another one below its axis, and none beside the drawing', () => {
    const steps = Array.from({ length: 40 }, (_, index) => `step ${index}`);
    const chart = { ...COLUMNS, steps, panels: [{ unit: 'orders', values: [steps.map((_, index) => index)] }] };
    const wide = svgsOf(figureText(chart, 0))[0] ?? '';
    const names = [...wide.matchAll(/<text x="([\d.]+)"[^>]*>step (\d+)</g)].map(([, x, name]) => [
      Number(x),
      Number(name),
    ]);
    expect(names.length).toBeGreaterThan(5);
    names.slice(1).forEach(([x = 0], index) => expect(x - (names[index]?.[0] ?? 0)).toBeGreaterThan(45));
    expect(names.at(-1)?.[0]).toBeLessThan(740);
  });

  it('has finite places whatever the numbers are', () => {
    const values = [[Number.POSITIVE_INFINITY, 1e308, -1e308, 1e-300]];
    const steps = ['a', 'b', 'c', 'd'];
    for (const chart of [
      { ...COLUMNS, steps, panels: [{ unit: 'EUR', values }] },
      { ...COLUMNS, steps, panels: [{ unit: 'EUR', values: [[0, 0, 0, 0]] }] },
      { ...COLUMNS, steps, panels: [{ unit: 'EUR', values: [[1e-300, 0, 0, 0]] }] },
    ])
      expect(figureText(chart, 0)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('has a panel for each unit', () => {
    const [{ values } = { values: [] }] = COLUMNS.panels;
    const [text = ''] = drawn({ ...COLUMNS, panels: ['BTC', 'EUR', 'USDT'].map((unit) => ({ unit, values })) });
    expect(svgsOf(text).map((svg) => /<text[^>]*>([A-Z]+)</.exec(svg)?.[1])).toEqual([
      'BTC',
      'EUR',
      'USDT',
      'BTC',
      'EUR',
      'USDT',
    ]);
  });

  it('shows one look in the same way in every chart', () => {
    const texts = drawn(COLUMNS, { ...COLUMNS, title: 'Another' });
    expect(new Set(texts.flatMap(svgsOf).map((svg) => fillsOf(svg).join(' ')))).toEqual(
      new Set(['good warning-stripes']),
    );
    const patterns = texts.map((text) => /<pattern id="chart\d+(.*?)<\/pattern>/.exec(text)?.[1]);
    expect(patterns[0]).toBe(patterns[1]);
  });

  it('refers to patterns of its own, each of which is there', () => {
    const texts = drawn(...hostileDocument().charts);
    texts.forEach((text, index) => {
      const ids = [...text.matchAll(/<pattern id="([^"]+)"/g)].map(([, id]) => id);
      const used = [...text.matchAll(/url\(#([^)]+)\)/g)].map(([, id]) => id);
      expect(new Set(used)).toEqual(new Set(ids));
      expect(ids.every((id) => id?.startsWith(`chart${index}-`))).toBe(true);
    });
  });

  it('has only shapes and texts, whatever the texts are', () => {
    const known = /^<\/?(?:figure|figcaption|strong|p|ul|li|b|div|svg|pattern|g|path|circle|text|span)[ >]$/;
    for (const text of drawn(...hostileDocument().charts)) {
      expect((text.match(/<\/?\w+[ >]/g) ?? []).filter((tag) => !known.test(tag))).toEqual([]);
      expect(text.match(/ on\w+=/g)?.filter((name) => !text.includes(`&#34;${name}`)) ?? []).toEqual([]);
    }
  });

  it('has the same text each time', () => {
    const { charts } = hostileDocument();
    expect(drawn(...charts)).toEqual(drawn(...charts));
  });
});

describe('a strip of durations', () => {
  it('has the mark of its median above its box', () => {
    const span = { p1: 1_000, p25: 10_000, p50: 60_000, p75: 600_000, p99: 3_600_000 };
    const rows = (['info', 'warning'] as const).map((tone) => ({ name: tone, look: { tone }, span }));
    const [text = ''] = drawn({ kind: 'spans', part: 'details', title: 'Stays', text: '', rows });
    for (const svg of svgsOf(text)) expect(svg.indexOf('class="mark"')).toBeGreaterThan(svg.indexOf('class="warning"'));
  });
});

describe('a legend', () => {
  it('names every series, also a single one', () => {
    const [first] = COLUMNS.series;
    const chart = { ...COLUMNS, series: COLUMNS.series.slice(0, 1), panels: [{ unit: 'orders', values: [[1, 2]] }] };
    const [text = ''] = drawn(chart);
    expect([...text.matchAll(/<li>/g)]).toHaveLength(1);
    expect(text).toContain(`</svg>${first?.name} <b>`);
  });
});

describe('an axis of numbers', () => {
  it.each([
    ['counts', 0, 2, true, [0, 1, 2]],
    ['a count of one, without halves', 0, 1, true, [0, 1]],
    ['a count of nothing', 0, 0, true, [0, 1]],
    ['parts', 0, 0.23, false, [0, 0.1, 0.2, 0.3]],
    ['thousands', 0, 11_900, true, [0, 5_000, 10_000, 15_000]],
    ['numbers on both sides of zero', -3, 8, false, [-5, 0, 5, 10]],
  ])('has round numbers that hold %s', (_, low, high, isWhole, expected) => {
    expect(valueTicks(low, high, 3, isWhole).map((tick) => Number(tick.toPrecision(12)))).toEqual(expected);
  });
});

describe('an axis of durations', () => {
  const span = (p1: number, p99: number): SpanChart['rows'][number]['span'] => ({
    p1,
    p25: p1,
    p50: p1,
    p75: p99,
    p99,
  });
  const named = (p1: number, p99: number) => ticksOf([span(p1, p99)], 6).map(({ name }) => name.replace('\u00a0', ' '));

  it.each([
    ['seconds', 1_000, 20_000, ['1 s', '2 s', '5 s', '10 s', '20 s']],
    ['minutes to hours', 600_000, 18_000_000, ['10 min', '30 min', '1 h', '3 h', '6 h']],
    ['seconds to weeks', 0, 1_000_000_000, ['1 s', '1 min', '1 h', '1 d', '20 d']],
    ['one moment', 60_000, 60_000, ['1 min', '2 min']],
  ])('has units that suit %s, and holds all of them', (_, p1, p99, expected) => {
    expect(named(p1, p99)).toEqual(expected);
  });
});
