import { DecimalSum } from '../../../../base/decimal.ts';
import { SEVERITIES, type Severity } from '../../../../findings/rules/classes.ts';
import { toneOf, type Chart, type ColumnChart, type Look, type RowChart } from '../../../documents/document.ts';
import { type Tone } from '../../../../cli/shared/terminal.ts';
import { compareTexts, counted, cut, sumOf } from '../../../../base/words.ts';
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
  const steps = timeSteps(
    groups.map(({ day }) => day),
    period,
  );
  if (steps === undefined) return [];
  const dated = groups.filter(({ day }) => steps.placeOf(day) !== undefined);
  const known = dated.filter(({ currency }) => currency !== null && currency !== '?');
  const orders = (same: readonly GroupTotals[]) => sumOf(same, (group) => group.orders);
  const currencies = [...Map.groupBy(known, ({ currency }) => currency ?? '')].toSorted(
    ([a, one], [b, other]) => orders(other) - orders(one) || compareTexts(a, b),
  );
  const undated = orders(groups) - orders(dated);
  return [ordersChart(dated, steps, undated), ...moneyChart(currencies, steps), ...differenceChart(currencies, steps)];
}

function ordersChart(groups: readonly GroupTotals[], steps: TimeSteps, undated: number): ColumnChart {
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

type Currencies = readonly (readonly [currency: string, groups: readonly GroupTotals[]])[];

/** Amounts are of the orders, in the currency that they were given in, and never added over currencies. */
function moneyChart(currencies: Currencies, steps: TimeSteps): readonly ColumnChart[] {
  const shown = currencies.slice(0, MOST_CURRENCIES);
  if (shown.length === 0) return [];
  const outcomes = outcomesOf(currencies.flatMap(([, groups]) => groups));
  const more = currencies.length - shown.length;
  const others = more > 0 ? ` ${counted(more, 'more currency', 'more currencies')} only the tables have.` : '';
  return [
    {
      kind: 'columns',
      part: 'money',
      title: `What became of each ${steps.unit}'s money`,
      text: `The amounts of the orders in ${listOf(shown.map(([unit]) => unit))}; two currencies are never added.${others}`,
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
      text: `On ${differing.length} of ${counted(steps.names.length, steps.unit)}, in ${listOf(shown.map(({ unit }) => unit))}. Above the line the exchange has more than we have, below it less.`,
      steps: steps.names,
      series: [{ name: 'Difference', look: { tone: 'error' } }],
      panels: shown.map(({ unit, differences }) => ({ unit, values: [differences] })),
    },
  ];
}

/** Exact, so that sides that agree show no difference. */
function differencesOf(groups: readonly GroupTotals[], { names, placeOf }: TimeSteps): readonly number[] {
  const exact = names.map(() => new DecimalSum());
  for (const { day, ours, theirs } of groups) {
    const sum = exact[placeOf(day) ?? -1];
    sum?.add(theirs);
    sum?.subtract(ours);
  }
  return exact.map((sum) => Number(sum.toString()));
}

export function findingsChart(rows: readonly ClassTotals[], period: readonly string[]): readonly RowChart[] {
  const open = rows.filter((row) => row.open > 0);
  const steps = timeSteps(
    open.map(({ day }) => day),
    period,
  );
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
    .toSorted((a, b) => a.rank - b.rank || b.count - a.count || compareTexts(a.name, b.name));
  const [first] = classes;
  if (first === undefined) return [];
  const rowOf = (name: string, note: string, tone: Tone, same: readonly ClassTotals[]) => {
    return { name, note, look: { tone }, values: sums(same, steps, (row) => row.open) };
  };
  const drawn = classes.slice(0, MOST_CLASSES);
  const others = classes.slice(MOST_CLASSES);
  const rest = others.flatMap(({ same }) => same);
  const undrawn = countOf(open) - countOf(dated);
  return [
    {
      kind: 'rows',
      part: 'attention',
      title: `Findings by ${steps.unit} of the order`,
      text: `${counted(countOf(dated), 'open finding')} of ${counted(classes.length, 'class', 'classes')}; the worst: ${cut(first.name, LONGEST_NAME)}, ${first.count}.${notDrawn(undrawn)}`,
      steps: steps.names,
      rows: [
        ...drawn.map(({ name, severity, same, count }) =>
          rowOf(name, `${severity}, ${count}`, toneOf('severity', severity), same),
        ),
        ...(rest.length === 0
          ? []
          : [rowOf(counted(others.length, 'other class', 'other classes'), String(countOf(rest)), 'neutral', rest)]),
      ],
    },
  ];
}

function outcomesOf(groups: readonly GroupTotals[]) {
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

/** What has no day stands in the tables alone. */
function notDrawn(undated: number): string {
  return undated === 0 ? '' : ` ${undated} of no known day ${undated === 1 ? 'is' : 'are'} not drawn.`;
}

function listOf(all: readonly string[]): string {
  const names = all.map((name) => cut(name, LONGEST_NAME));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
