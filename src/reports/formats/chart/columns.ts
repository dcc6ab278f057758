import type { ColumnChart } from '../document.ts';
import { colorOf, INK, LINE, MUTED } from './paint.ts';
import type { Drawing, Size } from './size.ts';
import { labelText, numberText, stepAxis } from './words.ts';

/** Draws a panel for each unit. */
export function columnDrawings(chart: ColumnChart, size: Size): readonly Drawing[] {
  const isAlone = chart.panels.length === 1;
  const width = isAlone ? size.width : size.panelWidth;
  const height = isAlone && size.name === 'wide' ? 240 : 180;
  return chart.panels.map(({ unit, values }) => ({
    width,
    height,
    option: {
      graphic: [
        {
          type: 'text',
          left: 0,
          top: 2,
          style: { text: labelText(unit, 36), fill: INK, fontSize: size.fontSize, fontWeight: 'bold' },
        },
      ],
      grid: { left: 44, right: 6, top: 28, bottom: 24 },
      xAxis: stepAxis(chart.steps, size),
      yAxis: {
        type: 'value',
        splitNumber: isAlone ? 4 : 3,
        axisLabel: { color: MUTED, fontSize: size.fontSize, formatter: numberText },
        splitLine: { lineStyle: { color: LINE } },
      },
      series: values.map((data, index) => ({
        type: 'bar' as const,
        stack: 'all',
        silent: true,
        clip: false,
        barCategoryGap: '22%',
        barMaxWidth: 40,
        itemStyle: { color: colorOf(index) },
        // Nothing is drawn of a zero.
        data: data.map((value) => (value === 0 ? null : value)),
      })),
    },
  }));
}
