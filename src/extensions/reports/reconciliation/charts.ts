import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { instantMs } from '../../../base/instant.ts';
import { WAITING_STATES } from '../../../orders/rules/states.ts';
import { durationText } from '../../documents/chart/svg.ts';
import { toneOf } from '../../documents/document.ts';
import type { Chart, ColumnChart, Look, SectionPart, Span, SpanChart } from '../../documents/document.ts';
import { sumOf } from '../../../base/words.ts';
import { DecimalSum } from '../../../base/decimal.ts';
import { OUTCOME_COLUMNS } from './money.ts';
import { timeSteps, type TimeSteps } from './steps.ts';
import type { JudgedOrder } from './judge.ts';
import { pairOf } from './rows.ts';
import type { GroupTotals } from './totals.ts';
import { counted, cut, compareTexts } from '../../documents/words.ts';

const MOST_ROWS = 8;
const LONGEST_NAME = 40;
/** The most names that are counted apart, because the exchange may send a new status with each order. */
const MOST_NAMES = 200;
const PLAIN: Look = { tone: 'info' };

export class ReconciliationCharts {
  readonly #waiting: Histograms = new Map();
  readonly #toFinal: Histograms = new Map();
  readonly #late: Histograms = new Map();

  addOrder({ row, judgement }: Pick<JudgedOrder, 'row' | 'judgement'>, asOf: Date): void {
    // The row has only its newest state, not its state at `asOf`.
    if (judgement === 'changedAfter') return;
    const { state, order_status, changed_at } = row;
    if ((WAITING_STATES as readonly string[]).includes(state)) {
      record(this.#waiting, state, instantMs(changed_at ?? row.created_at), asOf.getTime());
    }
    if (state === 'final') {
      record(this.#toFinal, pairOf(row), instantMs(row.creation_date), instantMs(row.completion_date));
    }
    if (state !== 'open' && state !== 'final') return;
    // The delay lasts from the exchange's `modification_date` to `changed_at`, when a look-up saw the last change.
    // `record` ignores a date after `changed_at`. A date from before the order was sent does not count.
    const dated = instantMs(row.modification_date);
    const sent = instantMs(row.sent_at);
    if (dated === undefined || sent === undefined || dated < sent) return;
    record(this.#late, order_status ?? 'no status', dated, instantMs(changed_at));
  }

  charts(groups: readonly GroupTotals[], period: readonly string[]): readonly Chart[] {
    const waiting = WAITING_STATES.flatMap((state) => {
      const histogram = this.#waiting.get(state);
      return histogram === undefined ? [] : [{ name: state, state, orders: histogram.count, span: spanOf(histogram) }];
    });
    const toFinal = 'from creation to completion, by the dates of the exchange';
    const late = 'from the date of the change at the exchange to the look-up that saw it';
    return [
      ...waitingChart(waiting, 'attention'),
      ...chartsByDay(groups, period),
      ...spanChart('How long orders take to be final', toFinal, 'order', this.#toFinal, 'other pairs'),
      ...spanChart('How late changes were seen', late, 'change', this.#late, 'other statuses'),
    ];
  }
}

type Waiting = Readonly<Record<'name' | 'state', string>> & { readonly orders: number; readonly span: Span };

export function waitingChart(waiting: readonly Waiting[], part: SectionPart): readonly SpanChart[] {
  const [longest] = waiting.toSorted((a, b) => b.span.p50 - a.span.p50);
  if (longest === undefined) return [];
  const count = sumOf(waiting, ({ orders }) => orders);
  const rows = waiting.map(({ name, state, orders, span }) => {
    return { name, note: noteOf('order', orders, span), look: { tone: toneOf('state', state) }, span };
  });
  const title = 'How long waiting orders have been in their state';
  const text = `${counted(count, 'order waits', 'orders wait')}. Half of those in the state ${cut(longest.name, LONGEST_NAME)} have waited for ${durationText(longest.span.p50)} or longer. ${READING}`;
  return [{ kind: 'spans', part, title, text, rows }];
}

const READING =
  'The box covers the middle half, and the mark is the median. The line leaves out the shortest and the longest 1\u00a0%.';

function spanChart(title: string, rule: string, noun: string, histograms: Histograms, others: string): SpanChart[] {
  const all = joined([...histograms.values()]);
  if (all.count === 0) return [];
  const { p50, p99 } = spanOf(all);
  const sorted = [...histograms].toSorted(([a, one], [b, other]) => {
    return Number(a === null) - Number(b === null) || other.count - one.count || compareTexts(a ?? '', b ?? '');
  });
  const drawn = sorted.filter(([name], place) => name !== null && place < MOST_ROWS);
  const rest = joined(sorted.slice(drawn.length).map(([, histogram]) => histogram));
  const rows = [...drawn, ...(rest.count > 0 ? [[others, rest] as const] : [])].map(([name, histogram]) => {
    const span = spanOf(histogram);
    return { name: name ?? others, note: noteOf(noun, histogram.count, span), look: PLAIN, span };
  });
  const text = `${counted(all.count, noun)}: half took at most ${durationText(p50)}, and 99\u00a0% at most ${durationText(p99)}, ${rule}. ${READING}`;
  return [{ kind: 'spans', part: 'money', title, text, rows }];
}

function noteOf(noun: string, count: number, { p50 }: Span): string {
  return `${counted(count, noun)}, median ${durationText(p50)}`;
}

/** Durations in ms by name, exact to 10 %, which is enough for a chart. Names beyond `MOST_NAMES` have the key null. */
type Histograms = Map<string | null, RecordableHistogram>;

/** Ignores a duration if one of its times cannot be read, or if it ends before it begins, because clocks may differ. */
function record(histograms: Histograms, name: string, begun: number | undefined, ended: number | undefined): void {
  if (begun === undefined || ended === undefined || ended < begun) return;
  const key = histograms.has(name) || histograms.size < MOST_NAMES ? name : null;
  const histogram = histograms.get(key) ?? joined([]);
  histograms.set(key, histogram);
  histogram.record(Math.max(1, ended - begun));
}

function joined(parts: readonly RecordableHistogram[]): RecordableHistogram {
  const histogram = createHistogram({ figures: 1 });
  for (const part of parts) histogram.add(part);
  return histogram;
}

/** Returns percentiles in ms: N % of the durations are not longer than `pN`. */
function spanOf(histogram: RecordableHistogram): Span {
  const at = (percent: number) => histogram.percentile(percent);
  return { p1: at(1), p25: at(25), p50: at(50), p75: at(75), p99: at(99) };
}

/** A reader can hardly compare more panels. The tables have all currencies. */
const MOST_CURRENCIES = 6;
/** Outcomes of the same tone have different patterns. */
const PATTERNS: Readonly<Record<string, Look['pattern']>> = {
  failed: 'stripes',
  outcome_unknown: 'dots',
  disputed: 'grid',
};

type Groups = readonly GroupTotals[];
type Currencies = readonly (readonly [currency: string, groups: Groups])[];
type ChartByDay = Omit<ColumnChart, 'kind' | 'part' | 'steps'>;

function chartsByDay(groups: Groups, period: readonly string[]): readonly ColumnChart[] {
  const days = groups.map(({ day }) => day);
  const steps = timeSteps(days, period);
  if (steps === undefined) return [];
  const dated = groups.filter(({ day }) => steps.placeOf(day) !== undefined);
  const known = dated.filter(({ currency }) => currency !== null && currency !== '?');
  const byCurrency = [...Map.groupBy(known, ({ currency }) => currency ?? '')];
  const currencies = byCurrency.toSorted(([a, one], [b, other]) => {
    return ordersOf(other) - ordersOf(one) || compareTexts(a, b);
  });
  const orders = ordersChart(dated, steps, ordersOf(groups) - ordersOf(dated));
  const charts = [orders, moneyChart(currencies, steps), differenceChart(currencies, steps)];
  const drawn = charts.filter((chart) => chart !== undefined);
  return drawn.map((chart) => ({ kind: 'columns', part: 'money', steps: steps.names, ...chart }));
}

function ordersOf(groups: Groups): number {
  return sumOf(groups, ({ orders }) => orders);
}

function ordersChart(groups: Groups, steps: TimeSteps, undated: number): ChartByDay {
  const outcomes = outcomesOf(groups);
  const totals = sums(groups, steps, ({ orders }) => orders);
  const most = Math.max(...totals);
  const orders = sumOf(totals, (count) => count);
  const peak = totals.length > 1 ? `, the most ${steps.when(totals.indexOf(most))}: ${most}` : '';
  const more = undated === 0 ? '' : ` The tables also have ${counted(undated, 'order')} without a known day.`;
  return {
    title: `What became of each ${steps.unit}'s orders`,
    text: `${counted(orders, 'order')} in ${counted(totals.length, steps.unit)}${peak}. Days are UTC.${more}`,
    series: outcomes.map(({ name, look, same }) => ({ name, look, note: String(ordersOf(same)) })),
    panels: [{ unit: 'orders', values: outcomes.map(({ same }) => sums(same, steps, (one) => one.orders)) }],
  };
}

function moneyChart(currencies: Currencies, steps: TimeSteps): ChartByDay | undefined {
  const shown = currencies.slice(0, MOST_CURRENCIES);
  if (shown.length === 0) return undefined;
  const outcomes = outcomesOf(currencies.flatMap(([, groups]) => groups));
  const more = currencies.length - shown.length;
  const others = more > 0 ? ` The tables also have ${counted(more, 'more currency', 'more currencies')}.` : '';
  const amountsOf = (groups: Groups) => sums(groups, steps, ({ asset }) => Math.max(0, Number(asset)));
  return {
    title: `What became of each ${steps.unit}'s money`,
    text: `The amounts of the orders in ${listOf(shown)}, each by itself.${others}`,
    series: outcomes.map(({ name, look }) => ({ name, look })),
    panels: shown.map(([unit]) => ({
      unit,
      values: outcomes.map(({ same }) => amountsOf(same.filter(({ currency }) => currency === unit))),
    })),
  };
}

function differenceChart(currencies: Currencies, steps: TimeSteps): ChartByDay | undefined {
  const panels = currencies
    .map(([unit, groups]) => [unit, differencesOf(groups, steps)] as const)
    .filter(([, differences]) => differences.some((difference) => difference !== 0));
  if (panels.length === 0) return undefined;
  const shown = panels.slice(0, MOST_CURRENCIES);
  const differing = steps.names.filter((_, place) => panels.some(([, differences]) => differences[place] !== 0));
  return {
    title: 'Where the two sides differ',
    text: `On ${differing.length} of ${counted(steps.names.length, steps.unit)}, in ${listOf(shown)}. Above the line, the exchange has more than we have. Below it, the exchange has less.`,
    series: [{ name: 'Difference', look: { tone: 'error' } }],
    panels: shown.map(([unit, differences]) => ({ unit, values: [differences] })),
  };
}

/** Adds up decimals before it converts the sums to numbers, so that equal sides show no difference. */
function differencesOf(groups: Groups, { names, placeOf }: TimeSteps): readonly number[] {
  const exact = names.map(() => new DecimalSum());
  for (const { day, ours, theirs } of groups) {
    const sum = exact[placeOf(day) ?? -1];
    sum?.add(theirs);
    sum?.subtract(ours);
  }
  return exact.map((sum) => Number(sum.toString()));
}

function outcomesOf(groups: Groups) {
  return OUTCOME_COLUMNS.map(({ key, label: name }) => {
    const same = groups.filter(({ outcome }) => (outcome ?? 'not_at_exchange') === key);
    return { name, look: { tone: toneOf('outcome', key), pattern: PATTERNS[key] ?? 'plain' }, same };
  }).filter(({ same }) => same.length > 0);
}

function sums(rows: Groups, { names, placeOf }: TimeSteps, numberOf: (group: GroupTotals) => number) {
  const values = names.map(() => 0);
  for (const row of rows) {
    const place = placeOf(row.day);
    if (place !== undefined) values[place] = (values[place] ?? 0) + numberOf(row);
  }
  return values;
}

function listOf(panels: readonly (readonly [unit: string, ...rest: unknown[]])[]): string {
  const names = panels.map(([unit]) => cut(unit, LONGEST_NAME));
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
