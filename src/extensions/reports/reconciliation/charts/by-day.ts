import { DecimalSum } from '../../../../base/decimal.ts';
import { SEVERITIES, type Severity } from '../../../../findings/rules/classes.ts';
import { toneOf, type Chart, type ColumnChart, type Look, type RowChart } from '../../../documents/document.ts';
import { counted, cut, sumOf } from '../../../../base/words.ts';
import { OUTCOME_COLUMNS } from '../money.ts';
import type { ClassTotals, GroupTotals } from '../totals.ts';
import { timeSteps, type TimeSteps } from './steps.ts';

/** More panels than these nobody compares; the tables have all currencies. */
const MOST_CURRENCIES = 6;
const MOST_CLASSES = 8;
const LONGEST_NAME = 40;
/** Outcomes of one tone differ by their pattern, in all charts. */
const PATTERNS: Readonly<Record<string, Look['pattern']>> = {
  failed: 'stripes',
  outcome_unknown: 'dots',
  disputed: 'grid',
};

export function chartsByDay(groups: readonly GroupTotals[], period: readonly string[]): readonly Chart[] {
  const days = groups.map(({ day }) => day);
  const steps = timeSteps(days, period);
  if (steps === undefined) return [];
  const dated = groups.filter(({ day }) => steps.placeOf(day) !== undefined);
  const undated = sumOf(groups, ({ orders }) => orders) - sumOf(dated, ({ orders }) => orders);
  const known = dated.filter(isCurrencyKnown);
  return [ordersChart(dated, steps, undated), ...moneyChart(known, steps), ...differenceChart(known, steps)];
}

function ordersChart(groups: readonly GroupTotals[], steps: TimeSteps, undated: number): Chart {
  const outcomes = outcomesOf(groups);
  const totals = sums(groups, steps, ({ orders }) => orders);
  const most = Math.max(...totals);
  const orders = sumOf(totals, (count) => count);
  const peak = totals.length > 1 ? `, most ${steps.when(totals.indexOf(most))}: ${most}` : '';
  return {
    kind: 'columns',
    part: 'days',
    title: `What became of each ${steps.unit}'s orders`,
    text: `${counted(orders, 'order')} in ${counted(totals.length, steps.unit)}${peak}. Days are UTC.${notDrawn(undated)}`,
    steps: steps.names,
    series: outcomes.map(({ name, look, same }) => ({ name, look, note: String(sumOf(same, (one) => one.orders)) })),
    panels: [{ unit: 'orders', values: outcomes.map(({ same }) => sums(same, steps, (one) => one.orders)) }],
  };
}

/** Amounts are of the orders, in the currency that they were given in, and never added over currencies. */
function moneyChart(groups: readonly OfCurrency[], steps: TimeSteps): readonly ColumnChart[] {
  const outcomes = outcomesOf(groups);
  const currencies = byCurrency(groups).map(([currency]) => currency);
  const shown = currencies.slice(0, MOST_CURRENCIES);
  if (shown.length === 0) return [];
  const panels = shown.map((unit) => ({
    unit,
    values: outcomes.map(({ same }) => {
      const ofUnit = same.filter(({ currency }) => currency === unit);
      return sums(ofUnit, steps, ({ asset }) => Math.max(0, Number(asset)));
    }),
  }));
  const more = currencies.length - shown.length;
  return [
    {
      kind: 'columns',
      part: 'money',
      title: `What became of each ${steps.unit}'s money`,
      text: `The amounts of the orders in ${listOf(shown)}; two currencies are never added.${more > 0 ? ` ${counted(more, 'more currency', 'more currencies')} only the tables have.` : ''}`,
      steps: steps.names,
      series: outcomes.map(({ name, look }) => ({ name, look })),
      panels,
    },
  ];
}

function differenceChart(groups: readonly OfCurrency[], steps: TimeSteps): readonly ColumnChart[] {
  const panels = byCurrency(groups)
    .map(([unit, same]) => ({ unit, values: [differences(same, steps)] }))
    .filter(({ values: [values = []] }) => values.some((value) => value !== 0));
  if (panels.length === 0) return [];
  const shown = panels.slice(0, MOST_CURRENCIES);
  const differing = steps.names.filter((_, place) => panels.some(({ values }) => values[0]?.[place] !== 0)).length;
  return [
    {
      kind: 'columns',
      part: 'money',
      title: 'Where the two sides differ',
      text: `On ${differing} of ${counted(steps.names.length, steps.unit)}, in ${listOf(shown.map(({ unit }) => unit))}. Above the line the exchange has more than we have, below it less.`,
      steps: steps.names,
      series: [{ name: 'Difference', look: { tone: 'error' } }],
      panels: shown,
    },
  ];
}

export function findingsChart(rows: readonly ClassTotals[], period: readonly string[]): readonly RowChart[] {
  const open = rows.filter((row) => row.open > 0);
  const days = open.map(({ day }) => day);
  const steps = timeSteps(days, period);
  if (steps === undefined) return [];
  const dated = open.filter(({ day }) => steps.placeOf(day) !== undefined);
  const countOf = (same: readonly ClassTotals[]) => sumOf(same, (row) => row.open);
  const classes = [...Map.groupBy(dated, (row) => JSON.stringify([row.severity, row.class])).values()]
    .map((same) => {
      const { class: name, severity } = same[0]!;
      // A severity that is none of ours may be of an error.
      const rank = Math.max(0, SEVERITIES.indexOf(severity as Severity));
      return { name, severity, same, count: countOf(same), rank };
    })
    .toSorted((a, b) => a.rank - b.rank || b.count - a.count || (a.name < b.name ? -1 : 1));
  const [first] = classes;
  if (first === undefined) return [];
  const drawn = classes.slice(0, MOST_CLASSES).map(({ name, severity, same, count }) => ({
    name,
    note: `${severity}, ${count}`,
    look: { tone: toneOf('severity', severity) },
    values: sums(same, steps, (row) => row.open),
  }));
  const others = classes.slice(MOST_CLASSES);
  const rest = others.flatMap(({ same }) => same);
  const undrawn = countOf(open) - countOf(dated);
  const last = {
    name: counted(others.length, 'other class', 'other classes'),
    note: String(countOf(rest)),
    look: { tone: 'neutral' as const },
    values: sums(rest, steps, (row) => row.open),
  };
  return [
    {
      kind: 'rows',
      part: 'attention',
      title: `Findings by ${steps.unit} of the order`,
      text: `${counted(countOf(dated), 'open finding')} of ${counted(classes.length, 'class', 'classes')}; the worst: ${cut(first.name, LONGEST_NAME)}, ${first.count}.${notDrawn(undrawn)}`,
      steps: steps.names,
      rows: others.length === 0 ? drawn : [...drawn, last],
    },
  ];
}

function outcomesOf<Group extends GroupTotals>(groups: readonly Group[]) {
  return OUTCOME_COLUMNS.map(({ key, label: name }) => {
    const same = groups.filter(({ outcome }) => (outcome ?? 'not_at_exchange') === key);
    return { name, look: { tone: toneOf('outcome', key), pattern: PATTERNS[key] ?? 'plain' }, same };
  }).filter(({ same }) => same.length > 0);
}

function sums<T extends { readonly day: string }>(
  rows: readonly T[],
  { names, placeOf }: TimeSteps,
  numberOf: (row: T) => number,
): readonly number[] {
  const values = names.map(() => 0);
  for (const row of rows) {
    const place = placeOf(row.day);
    if (place !== undefined) values[place] = (values[place] ?? 0) + numberOf(row);
  }
  return values;
}

/** Exact, so that sides that agree show no difference. */
function differences(groups: readonly GroupTotals[], { names, placeOf }: TimeSteps): readonly number[] {
  const exact = names.map(() => new DecimalSum());
  for (const { day, ours, theirs } of groups) {
    const sum = exact[placeOf(day) ?? -1];
    sum?.add(theirs);
    sum?.subtract(ours);
  }
  return exact.map((sum) => Number(sum.toString()));
}

/** What has no day stands in the tables alone. */
function notDrawn(undated: number): string {
  return undated === 0 ? '' : ` ${undated} of no known day ${undated === 1 ? 'is' : 'are'} not drawn.`;
}

type OfCurrency = GroupTotals & { readonly currency: string };

function isCurrencyKnown(group: GroupTotals): group is OfCurrency {
  return group.currency !== null && group.currency !== '?';
}

function byCurrency(groups: readonly OfCurrency[]): readonly (readonly [string, readonly OfCurrency[]])[] {
  const orders = (same: readonly OfCurrency[]) => sumOf(same, (group) => group.orders);
  return [...Map.groupBy(groups, ({ currency }) => currency)].toSorted(
    ([a, one], [b, other]) => orders(other) - orders(one) || (a < b ? -1 : 1),
  );
}

function listOf(all: readonly string[]): string {
  const names = all.map((name) => cut(name, LONGEST_NAME));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
