import { instantMs } from '../../domain/instant.ts';
import { WAITING_STATES } from '../../domain/orders/states.ts';
import type { Chart, Row } from '../formats/document.ts';
import type { JudgedOrder } from './judge.ts';
import { pairOf, type ReconciledRow } from './rows.ts';

const HOUR_MS = 3_600_000;
const AGES = [
  [1, 'under 1 h'],
  [24, '1 h to 1 d'],
  [72, '1 d to 3 d'],
  [168, '3 d to 7 d'],
  [Infinity, 'over 7 d'],
] as const;
/** Steps of the histogram for each doubling of a duration: percentiles are right to a tenth, enough for a chart. */
const STEPS_A_DOUBLING = 8;
/** More bars than this cannot be distinguished: further pairs are drawn as one. */
const MOST_PAIRS = 8;
const MOST_LINKS = 60;

/** Counts for the charts while the orders are read. Memory does not grow with the orders. */
export class ReconciliationCharts {
  readonly #flow = new Map<string, number>();
  readonly #ages = new Map<string, number[]>();
  readonly #toFinal = new Map<string, Map<number, number>>();

  addOrder({ row, judgement }: Pick<JudgedOrder, 'row' | 'judgement'>, asOf: Date): void {
    // Nobody knows any more in what state the row was at the moment.
    if (judgement.kind === 'unchecked' && judgement.reason === 'changedAfter') return;
    // The first word makes names of different layers of the flow different.
    this.#countFlow(`pair ${pairOf(row)}`, `state ${row.state}`);
    this.#countFlow(`state ${row.state}`, row.order_status === null ? 'no order' : `order ${row.order_status}`);
    if ((WAITING_STATES as readonly string[]).includes(row.state)) this.#countAge(row, asOf);
    else if (row.state === 'final') this.#countFinal(row);
  }

  /** Gives the charts of the report; `days` are its totals by day and pair. */
  charts(days: readonly Row[]): readonly Chart[] {
    return [volume(days), this.#flowChart(), this.#ageChart(), this.#finalChart()].filter(
      ({ categories }) => categories.length > 0,
    );
  }

  #countFlow(from: string, to: string): void {
    const key = JSON.stringify([from, to]);
    this.#flow.set(key, (this.#flow.get(key) ?? 0) + 1);
  }

  #countAge(row: ReconciledRow, asOf: Date): void {
    const since = instantMs(row.changed_at ?? row.created_at);
    if (since === undefined) return;
    const hours = (asOf.getTime() - since) / HOUR_MS;
    const counts = this.#ages.get(row.state) ?? AGES.map(() => 0);
    this.#ages.set(row.state, counts);
    const index = AGES.findIndex(([end]) => hours < end);
    counts[index] = (counts[index] ?? 0) + 1;
  }

  #countFinal(row: ReconciledRow): void {
    const begun = instantMs(row.creation_date);
    const ended = instantMs(row.completion_date);
    if (begun === undefined || ended === undefined || ended < begun) return;
    const steps = Math.round(Math.log2((ended - begun) / 1_000 + 1) * STEPS_A_DOUBLING);
    const pair = pairOf(row);
    const histogram = this.#toFinal.get(pair) ?? new Map<number, number>();
    this.#toFinal.set(pair, histogram);
    histogram.set(steps, (histogram.get(steps) ?? 0) + 1);
  }

  #flowChart(): Chart {
    const links = [...this.#flow]
      .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .slice(0, MOST_LINKS)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => {
        const [from, to] = JSON.parse(key) as [string, string];
        return { from, to, value };
      });
    const categories = [...new Set(links.flatMap(({ from, to }) => [from, to]))];
    const title = 'Orders by pair, state and order status';
    return { title, part: 'details', kind: 'flow', categories, series: [], links, unit: 'orders' };
  }

  #ageChart(): Chart {
    const states = WAITING_STATES.filter((state) => this.#ages.has(state));
    const countsAt = (index: number) => states.map((state) => this.#ages.get(state)?.[index] ?? 0);
    const series = AGES.map(([, name], index) => ({ name, values: countsAt(index) }));
    const title = 'Ageing: how long orders have waited in their state';
    return { title, part: 'attention', kind: 'bar', categories: states, series, unit: 'orders' };
  }

  #finalChart(): Chart {
    const pairs = [...this.#toFinal.keys()].toSorted().slice(0, MOST_PAIRS * 2);
    const series = [50, 90, 99].map((percent) => ({
      name: `${percent} % within`,
      values: pairs.map((pair) => percentile(this.#toFinal.get(pair) ?? new Map<number, number>(), percent)),
    }));
    return {
      title: 'Time from creation to completion',
      part: 'details',
      kind: 'bar',
      categories: pairs,
      series,
      unit: 'hours',
    };
  }
}

/** Orders by day, one bar for each pair; the smallest of many pairs are drawn together. */
function volume(days: readonly Row[]): Chart {
  const categories = [...new Set(days.map(({ day }) => String(day)))];
  const sums = new Map<string, number>();
  for (const { pair, orders } of days) sums.set(String(pair), (sums.get(String(pair)) ?? 0) + Number(orders));
  const shown = [...sums]
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, MOST_PAIRS)
    .map(([pair]) => pair)
    .toSorted();
  const places = new Map(categories.map((day, index) => [day, index]));
  const names = sums.size > shown.length ? [...shown, 'other pairs'] : shown;
  const series = names.map((name) => ({ name, values: categories.map(() => 0) }));
  for (const { day, pair, orders } of days) {
    const values = (series[shown.indexOf(String(pair))] ?? series.at(-1))?.values;
    const place = places.get(String(day)) ?? 0;
    if (values !== undefined) values[place] = (values[place] ?? 0) + Number(orders);
  }
  return { title: 'Orders by day and pair', part: 'days', kind: 'bar', categories, series, unit: 'orders' };
}

function percentile(histogram: ReadonlyMap<number, number>, percent: number): number | null {
  const steps = [...histogram].toSorted(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [step, count] of steps) {
    below += count;
    if (below * 100 >= total * percent)
      return Math.round(((2 ** (step / STEPS_A_DOUBLING) - 1) / 3_600) * 1_000) / 1_000;
  }
  return null;
}
