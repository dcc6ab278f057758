import { DecimalSum } from '../../../domain/decimal.ts';
import { toneOf, type Chart, type Look, type Row, type RowChart, type Series } from '../../formats/document.ts';
import { counted, cut } from '../../formats/words.ts';
import type { GroupTotals } from '../totals.ts';
import { timeSteps, type TimeSteps } from './steps.ts';

/** More panels than these nobody compares; the tables have all currencies. */
const MOST_CURRENCIES = 6;
const MOST_CLASSES = 8;
/** Of a name in a sentence. */
const LONGEST_NAME = 40;
/** What becomes of an order, as columns stand on each other: each has its colour and pattern in all charts. */
const OUTCOMES: readonly (readonly [outcome: string | null, name: string, pattern: Look['pattern']])[] = [
  ['succeeded', 'Succeeded', 'plain'],
  ['failed', 'Failed', 'stripes'],
  ['open', 'Open', 'plain'],
  ['outcome_unknown', 'Final, unclassified', 'dots'],
  ['disputed', 'Disputed', 'grid'],
  [null, 'Not at the exchange', 'plain'],
];
const SEVERITIES = ['error', 'warning', 'info'];

/** Makes the charts of the orders and of their amounts by day, each only where there is something to show. */
export function chartsByDay(groups: readonly GroupTotals[], period: readonly string[]): readonly Chart[] {
  const steps = timeSteps(
    groups.map(({ day }) => day),
    period,
  );
  if (steps === undefined) return [];
  const dated = groups.filter(({ day }) => steps.placeOf(day) !== undefined);
  const undated =
    groups.reduce((sum, { orders }) => sum + orders, 0) - dated.reduce((sum, { orders }) => sum + orders, 0);
  return [ordersChart(dated, steps, undated), ...moneyChart(dated, steps), ...differenceChart(dated, steps)];
}

function ordersChart(groups: readonly GroupTotals[], steps: TimeSteps, undated: number): Chart {
  const { series, rows } = outcomesOf(groups);
  const values = rows.map((same) => sums(same, steps, ({ orders }) => orders));
  const totals = steps.names.map((_, place) => values.reduce((sum, row) => sum + (row[place] ?? 0), 0));
  const most = Math.max(...totals);
  const orders = totals.reduce((sum, count) => sum + count, 0);
  const peak = `most ${steps.when(totals.indexOf(most))}`;
  return {
    kind: 'columns',
    part: 'days',
    title: `What became of each ${steps.unit}'s orders`,
    text: `${counted(orders, 'order')} in ${counted(totals.length, steps.unit)}${totals.length > 1 ? `, ${peak}: ${most}` : ''}. Days are UTC.${notDrawn(undated)}`,
    steps: steps.names,
    series,
    panels: [{ unit: 'orders', values }],
  };
}

/** Amounts are of the orders, in the currency that they were given in, and never added over currencies. */
function moneyChart(groups: readonly GroupTotals[], steps: TimeSteps): readonly Chart[] {
  const known = groups.filter(isCurrencyKnown);
  const { series, rows } = outcomesOf(known);
  const currencies = currenciesOf(known);
  const shown = currencies.slice(0, MOST_CURRENCIES);
  const panels = shown.map((unit) => ({
    unit,
    values: rows.map((same) => {
      const ofUnit = same.filter(({ currency }) => currency === unit);
      return sums(ofUnit, steps, ({ asset }) => Math.max(0, Number(asset)));
    }),
  }));
  if (panels.length === 0) return [];
  const more = currencies.length - shown.length;
  return [
    {
      kind: 'columns',
      part: 'money',
      title: `What became of each ${steps.unit}'s money`,
      text: `The amounts of the orders in ${listOf(shown)}; two currencies are never added.${more > 0 ? ` ${counted(more, 'more currency', 'more currencies')} only the tables have.` : ''}`,
      steps: steps.names,
      series: series.map(({ name, look }) => ({ name, look })),
      panels,
    },
  ];
}

function differenceChart(groups: readonly GroupTotals[], steps: TimeSteps): readonly Chart[] {
  const known = groups.filter(isCurrencyKnown);
  const panels = currenciesOf(known)
    .map((unit) => ({
      unit,
      values: [
        differences(
          known.filter(({ currency }) => currency === unit),
          steps,
        ),
      ],
    }))
    .filter(({ values: [values = []] }) => values.some((value) => value !== 0));
  if (panels.length === 0) return [];
  const differing = steps.names.filter((_, place) => panels.some(({ values }) => values[0]?.[place] !== 0)).length;
  const look: Look = { tone: toneOf('severity', 'error') };
  return [
    {
      kind: 'columns',
      part: 'money',
      title: 'Where the two sides differ',
      text: `On ${differing} of ${counted(steps.names.length, steps.unit)}, in ${listOf(panels.slice(0, MOST_CURRENCIES).map(({ unit }) => unit))}. Above the line the exchange has more than we have, below it less.`,
      steps: steps.names,
      series: [{ name: 'Difference', look }],
      panels: panels.slice(0, MOST_CURRENCIES),
    },
  ];
}

/** Open findings by the day of their order, the worst classes first; `rows` are those of the report by day and class. */
export function findingsChart(rows: readonly Row[], period: readonly string[]): readonly RowChart[] {
  const open = rows.filter((row) => Number(row['open']) > 0);
  const steps = timeSteps(
    open.map(({ day }) => String(day)),
    period,
  );
  if (steps === undefined) return [];
  const dated = open.filter(({ day }) => steps.placeOf(String(day)) !== undefined);
  const classes = [...Map.groupBy(dated, (row) => JSON.stringify([row['severity'], row['class']])).values()]
    .map((same) => classRow(same, steps))
    .toSorted((a, b) => a.rank - b.rank || b.count - a.count || (a.name < b.name ? -1 : 1));
  const undated = open.reduce((sum, row) => sum + (dated.includes(row) ? 0 : Number(row['open'])), 0);
  const shown = classes.slice(0, MOST_CLASSES);
  const others = classes.slice(MOST_CLASSES);
  const count = classes.reduce((sum, one) => sum + one.count, 0);
  const first = shown[0];
  if (first === undefined) return [];
  const drawn = others.length === 0 ? shown : [...shown, othersRow(others)];
  return [
    {
      kind: 'rows',
      part: 'attention',
      title: `Findings by ${steps.unit} of the order`,
      text: `${counted(count, 'open finding')} of ${counted(classes.length, 'class', 'classes')}; the worst: ${cut(first.name, LONGEST_NAME)}, ${first.count}.${notDrawn(undated)}`,
      steps: steps.names,
      rows: drawn.map(({ name, note, look, values }) => ({ name, note, look, values })),
    },
  ];
}

interface FindingRow extends Series {
  readonly note: string;
  readonly values: readonly number[];
  readonly rank: number;
  readonly count: number;
}

function classRow(same: readonly Row[], steps: TimeSteps): FindingRow {
  const { class: name = null, severity = null } = same[0] ?? {};
  const values = sums(
    same.map((row) => ({ day: String(row['day']), open: Number(row['open']) })),
    steps,
    ({ open }) => open,
  );
  const count = values.reduce((sum, value) => sum + value, 0);
  const place = SEVERITIES.indexOf(String(severity));
  // A severity that is none of ours may be of an error.
  const rank = place < 0 ? 0 : place;
  return {
    name: String(name),
    note: `${severity}, ${count}`,
    look: { tone: toneOf('severity', severity) },
    values,
    rank,
    count,
  };
}

function othersRow(others: readonly FindingRow[]): FindingRow {
  const values = others[0]!.values.map((_, place) => others.reduce((sum, one) => sum + (one.values[place] ?? 0), 0));
  const count = others.reduce((sum, one) => sum + one.count, 0);
  return {
    name: counted(others.length, 'other class', 'other classes'),
    note: String(count),
    look: { tone: 'neutral' },
    values,
    rank: 9,
    count,
  };
}

/** The outcomes that there are, with their number of orders, and the groups of each. */
function outcomesOf(groups: readonly GroupTotals[]) {
  const there = OUTCOMES.map(([outcome, name, pattern = 'plain']) => {
    const same = groups.filter((group) => group.outcome === outcome);
    const note = String(same.reduce((sum, { orders }) => sum + orders, 0));
    return { same, series: { name, note, look: { tone: toneOf('outcome', outcome), pattern } } };
  }).filter(({ same }) => same.length > 0);
  return { series: there.map(({ series }) => series), rows: there.map(({ same }) => same) };
}

/** A number a step. */
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

/** Those of the most orders first. */
function currenciesOf(groups: readonly OfCurrency[]): readonly string[] {
  const orders = (same: readonly OfCurrency[]) => same.reduce((sum, group) => sum + group.orders, 0);
  return [...Map.groupBy(groups, ({ currency }) => currency)]
    .toSorted(([a, one], [b, other]) => orders(other) - orders(one) || (a < b ? -1 : 1))
    .map(([currency]) => currency);
}

function listOf(all: readonly string[]): string {
  const names = all.map((name) => cut(name, LONGEST_NAME));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
