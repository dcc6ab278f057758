import { DecimalSum } from '../../../../base/decimal.ts';
import { toneOf, type Chart, type ColumnChart, type Look } from '../../../documents/document.ts';
import { sumOf } from '../../../../base/words.ts';
import { OUTCOME_COLUMNS } from '../money.ts';
import type { GroupTotals } from '../totals.ts';
import { timeSteps, type TimeSteps } from './steps.ts';
import { counted, cut, compareTexts } from '../../../documents/words.ts';

/** More panels cannot be compared; the tables have all currencies. */
const MOST_CURRENCIES = 6;
const LONGEST_NAME = 40;
/** Outcomes of one tone differ by their pattern, in all charts. */
const PATTERNS: Readonly<Record<string, Look['pattern']>> = {
  failed: 'stripes',
  outcome_unknown: 'dots',
  disputed: 'grid',
};

export function chartsByDay(groups: readonly GroupTotals[], period: readonly string[]): readonly Chart[] {
  const steps = timeSteps(
    groups.map(({ day }) => day),
    period,
  );
  if (steps === undefined) return [];
  const dated = groups.filter(({ day }) => steps.placeOf(day) !== undefined);
  const known = dated.filter(({ currency }) => currency !== null && currency !== '?');
  const orders = (same: readonly GroupTotals[]) => sumOf(same, (group) => group.orders);
  const byCurrency = [...Map.groupBy(known, ({ currency }) => currency ?? '')];
  const currencies = byCurrency.toSorted(([a, one], [b, other]) => orders(other) - orders(one) || compareTexts(a, b));
  const undated = orders(groups) - orders(dated);
  return [ordersChart(dated, steps, undated), ...moneyChart(currencies, steps), ...differenceChart(currencies, steps)];
}

function ordersChart(groups: readonly GroupTotals[], steps: TimeSteps, undated: number): ColumnChart {
  const outcomes = outcomesOf(groups);
  const totals = sums(groups, steps, ({ orders }) => orders);
  const most = Math.max(...totals);
  const orders = sumOf(totals, (count) => count);
  const peak = totals.length > 1 ? `, the most ${steps.when(totals.indexOf(most))}: ${most}` : '';
  return {
    kind: 'columns',
    part: 'money',
    title: `What became of each ${steps.unit}'s orders`,
    text: `${counted(orders, 'order')} in ${counted(totals.length, steps.unit)}${peak}. Days are UTC.${notDrawn(undated)}`,
    steps: steps.names,
    series: outcomes.map(({ name, look, same }) => ({ name, look, note: String(sumOf(same, (one) => one.orders)) })),
    panels: [{ unit: 'orders', values: outcomes.map(({ same }) => sums(same, steps, (one) => one.orders)) }],
  };
}

type Currencies = readonly (readonly [currency: string, groups: readonly GroupTotals[]])[];

/** Shows amounts of our orders, each in its own currency and never added over currencies. */
function moneyChart(currencies: Currencies, steps: TimeSteps): readonly ColumnChart[] {
  const shown = currencies.slice(0, MOST_CURRENCIES);
  if (shown.length === 0) return [];
  const outcomes = outcomesOf(currencies.flatMap(([, groups]) => groups));
  const more = currencies.length - shown.length;
  const others = more > 0 ? ` The tables also have ${counted(more, 'more currency', 'more currencies')}.` : '';
  return [
    {
      kind: 'columns',
      part: 'money',
      title: `What became of each ${steps.unit}'s money`,
      text: `The amounts of the orders in ${listOf(shown.map(([unit]) => unit))}, each by itself.${others}`,
      steps: steps.names,
      series: outcomes.map(({ name, look }) => ({ name, look })),
      panels: shown.map(([unit]) => ({
        unit,
        values: outcomes.map(({ same }) => {
          const ofUnit = same.filter(({ currency }) => currency === unit);
          return sums(ofUnit, steps, ({ asset }) => Math.max(0, Number(asset)));
        }),
      })),
    },
  ];
}

function differenceChart(currencies: Currencies, steps: TimeSteps): readonly ColumnChart[] {
  const panels = currencies
    .map(([unit, groups]) => ({ unit, differences: differencesOf(groups, steps) }))
    .filter(({ differences }) => differences.some((difference) => difference !== 0));
  if (panels.length === 0) return [];
  const shown = panels.slice(0, MOST_CURRENCIES);
  const differing = steps.names.filter((_, place) => panels.some(({ differences }) => differences[place] !== 0));
  return [
    {
      kind: 'columns',
      part: 'money',
      title: 'Where the two sides differ',
      text: `On ${differing.length} of ${counted(steps.names.length, steps.unit)}, in ${listOf(shown.map(({ unit }) => unit))}. Above the line, the exchange has more than we have. Below it, the exchange has less.`,
      steps: steps.names,
      series: [{ name: 'Difference', look: { tone: 'error' } }],
      panels: shown.map(({ unit, differences }) => ({ unit, values: [differences] })),
    },
  ];
}

/** Returns exact differences, so that equal sides show no difference. */
function differencesOf(groups: readonly GroupTotals[], { names, placeOf }: TimeSteps): readonly number[] {
  const exact = names.map(() => new DecimalSum());
  for (const { day, ours, theirs } of groups) {
    const sum = exact[placeOf(day) ?? -1];
    sum?.add(theirs);
    sum?.subtract(ours);
  }
  return exact.map((sum) => Number(sum.toString()));
}

function outcomesOf(groups: readonly GroupTotals[]) {
  return OUTCOME_COLUMNS.map(({ key, label: name }) => {
    const same = groups.filter(({ outcome }) => (outcome ?? 'not_at_exchange') === key);
    return { name, look: { tone: toneOf('outcome', key), pattern: PATTERNS[key] ?? 'plain' }, same };
  }).filter(({ same }) => same.length > 0);
}

type NumberOf = (group: GroupTotals) => number;

function sums(rows: readonly GroupTotals[], { names, placeOf }: TimeSteps, numberOf: NumberOf): readonly number[] {
  const values = names.map(() => 0);
  for (const row of rows) {
    const place = placeOf(row.day);
    if (place !== undefined) values[place] = (values[place] ?? 0) + numberOf(row);
  }
  return values;
}

function notDrawn(undated: number): string {
  return undated === 0 ? '' : ` The tables also have ${counted(undated, 'order')} without a known day.`;
}

function listOf(all: readonly string[]): string {
  const names = all.map((name) => cut(name, LONGEST_NAME));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
