import { describe, expect, it } from 'vitest';
import { drawFigures } from '../../../src/reports/formats/chart.ts';
import { ticksOf } from '../../../src/reports/formats/chart/times.ts';
import type { Chart, ColumnChart, SpanChart } from '../../../src/reports/formats/document.ts';
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

async function drawn(...charts: readonly Chart[]): Promise<readonly string[]> {
  return (await drawFigures(charts)).map(({ text }) => text);
}

const svgsOf = (text: string) => text.match(/<svg class="(?:wide|narrow)".*?<\/svg>/gs) ?? [];
/** What fills each shape: its tone, or the end of the name of its pattern. */
const fillsOf = (svg: string) =>
  [...svg.matchAll(/<path d="[^"]+"(?: class="(\w+)" fill="#\w+"| fill="url\(#chart\d+-([\w-]+)\)")\/>/g)].map(
    ([, tone, pattern]) => tone ?? pattern,
  );

describe('a chart', () => {
  it('is drawn for wide and for narrow pages, at about the size at which it is read', async () => {
    const [text = ''] = await drawn(COLUMNS);
    const [wide, narrow, ...others] = svgsOf(text).map((svg) => Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]));
    expect(others).toEqual([]);
    expect(wide).toBeGreaterThan(700);
    // A phone of 360 pixels shows it at nine tenths of its size: letters of 12 pixels stay readable.
    expect(narrow).toBeLessThanOrEqual(330);
    for (const svg of svgsOf(text)) expect(Number(/font-size="([\d.]+)"/.exec(svg)?.[1])).toBeGreaterThanOrEqual(12);
  });

  it('says what it shows to those who do not see it, and names each colour', async () => {
    const [text = ''] = await drawn(COLUMNS);
    expect(text).toContain('role="img" aria-label="Orders. 3 orders in 2 days"');
    expect(text.match(/<li>.*?<\/li>/gs)?.map((item) => item.replace(/<[^>]*>/g, ''))).toEqual([
      'Succeeded 2',
      'Failed 1',
    ]);
    for (const svg of svgsOf(text))
      for (const word of ['orders', '1 Mar', '2']) expect(svg).toContain(`>${word}</text>`);
  });

  it('has colours of the page, for which it names others where there is no style', async () => {
    const [text = ''] = await drawn(COLUMNS);
    for (const svg of svgsOf(text)) {
      expect(fillsOf(svg)).toEqual(['good', 'warning-stripes']);
      expect(svg).not.toMatch(/#0000|style=|ecmeta|zr\d/);
    }
  });

  it('draws nothing of a zero, and the shapes of one look as one', async () => {
    const [text = ''] = await drawn({
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

  it('has a panel for each unit', async () => {
    const [{ values } = { values: [] }] = COLUMNS.panels;
    const [text = ''] = await drawn({ ...COLUMNS, panels: ['BTC', 'EUR', 'USDT'].map((unit) => ({ unit, values })) });
    expect(svgsOf(text).map((svg) => /<text[^>]*>([A-Z]+)</.exec(svg)?.[1])).toEqual([
      'BTC',
      'EUR',
      'USDT',
      'BTC',
      'EUR',
      'USDT',
    ]);
  });

  it('shows one look in the same way in every chart', async () => {
    const rows: Chart = {
      kind: 'rows',
      part: 'days',
      title: 'Rows',
      text: '',
      steps: COLUMNS.steps,
      rows: COLUMNS.series.map((one) => ({ ...one, values: [1, 2] })),
    };
    const texts = await drawn(COLUMNS, rows);
    expect(new Set(texts.flatMap(svgsOf).map((svg) => fillsOf(svg).join(' ')))).toEqual(
      new Set(['good warning-stripes']),
    );
    const patterns = texts.map((text) => /<pattern id="chart\d+(.*?)<\/pattern>/.exec(text)?.[1]);
    expect(patterns[0]).toBe(patterns[1]);
  });

  it('has a step at the same place in all rows, however long its name is', async () => {
    const steps = Array.from({ length: 31 }, (_, index) => (index % 30 === 0 ? 'September' : null));
    const values = steps.map((name) => (name === null ? 0 : 1));
    const rows = ['a', 'b', 'c'].map((name) => ({ name, look: { tone: 'info' as const }, values }));
    const chart: Chart = { kind: 'rows', part: 'days', title: '', text: '', steps, rows };
    for (const svg of (await drawn(chart)).flatMap(svgsOf)) {
      const [d = ''] = /(?<=d=")[^"]+(?="[^>]*class="info")/.exec(svg) ?? [];
      const places = [...d.matchAll(/M(\S+) /g)].map(([, x]) => x);
      expect(places).toHaveLength(6);
      expect(new Set(places).size).toBe(2);
    }
  });

  it('refers to patterns of its own, each of which is there', async () => {
    const texts = await drawn(...hostileDocument().charts);
    texts.forEach((text, index) => {
      const ids = [...text.matchAll(/<pattern id="([^"]+)"/g)].map(([, id]) => id);
      const used = [...text.matchAll(/url\(#([^)]+)\)/g)].map(([, id]) => id);
      expect(new Set(used)).toEqual(new Set(ids));
      expect(ids.every((id) => id?.startsWith(`chart${index}-`))).toBe(true);
    });
  });

  it('has only shapes and texts, whatever the texts are', async () => {
    const known = /^<\/?(?:figure|figcaption|strong|p|ul|li|b|div|svg|pattern|g|path|circle|text|span)[ >]$/;
    for (const text of await drawn(...hostileDocument().charts)) {
      expect((text.match(/<\/?\w+[ >]/g) ?? []).filter((tag) => !known.test(tag))).toEqual([]);
      expect(text.match(/ on\w+=/g)?.filter((name) => !text.includes(`&#34;${name}`)) ?? []).toEqual([]);
    }
  });

  it('has the same text each time', async () => {
    const { charts } = hostileDocument();
    expect(await drawn(...charts)).toEqual(await drawn(...charts));
  });
});

describe('a strip of durations', () => {
  const strip = async (marks?: readonly number[]) => {
    const span = { p1: 1_000, p25: 10_000, p50: 60_000, p75: 600_000, p99: 3_600_000 };
    const rows = [{ name: 'REQUEST', look: { tone: 'info' as const }, span, ...(marks && { marks }) }];
    const [text = ''] = await drawn({ kind: 'spans', part: 'details', title: 'Stays', text: '', rows });
    return svgsOf(text).map((svg) => svg.match(/[Mm][\d.-]/g)?.length ?? 0);
  };

  it('has a stroke for each mark on its axis, but for those that run together', async () => {
    const none = await strip();
    const more = async (...marks: number[]) => (await strip(marks)).map((count, index) => count - (none[index] ?? 0));
    expect(await more(5_000, 60_000, 3_600_000)).toEqual([3, 3]);
    expect(await more(60_000, 60_001, 60_002)).toEqual([1, 1]);
    expect(await more(100 * 86_400_000)).toEqual([0, 0]);
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
