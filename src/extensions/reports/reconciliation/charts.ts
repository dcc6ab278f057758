import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { instantMs } from '../../../base/instant.ts';
import { WAITING_STATES } from '../../../orders/rules/states.ts';
import { durationText } from '../../documents/chart/svg.ts';
import { toneOf } from '../../documents/document.ts';
import type { Chart, Look, SectionPart, Span, SpanChart } from '../../documents/document.ts';
import { sumOf } from '../../../base/words.ts';
import { chartsByDay } from './charts/by-day.ts';
import type { JudgedOrder } from './judge.ts';
import { pairOf } from './rows.ts';
import type { GroupTotals } from './totals.ts';
import { counted, cut, compareTexts } from '../../documents/words.ts';

const MOST_ROWS = 8;
const LONGEST_NAME = 40;
/** An exchange may send a new status with each order: further names are counted together. */
const MOST_NAMES = 200;
const PLAIN: Look = { tone: 'info' };

export class ReconciliationCharts {
  readonly #waiting: Histograms = new Map();
  readonly #toFinal: Histograms = new Map();
  readonly #late: Histograms = new Map();

  addOrder({ row, judgement }: Pick<JudgedOrder, 'row' | 'judgement'>, asOf: Date): void {
    // The state of the row at the moment of the report is no longer known.
    if (judgement.kind === 'unchecked' && judgement.reason === 'changedAfter') return;
    const { state, order_status, changed_at } = row;
    if ((WAITING_STATES as readonly string[]).includes(state)) {
      record(this.#waiting, state, instantMs(changed_at ?? row.created_at), asOf.getTime());
    }
    if (state === 'final') {
      record(this.#toFinal, pairOf(row), instantMs(row.creation_date), instantMs(row.completion_date));
    }
    if (state !== 'open' && state !== 'final') return;
    // The row has the exchange's date of the newest record, and when the last change was seen. The difference is the
    // delay, unless the record was dated anew since. Changes before the order was sent do not count.
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

interface Waiting {
  readonly name: string;
  readonly state: string;
  readonly orders: number;
  readonly span: Span;
}

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
  'The box shows the middle half, the mark the median, and the line the range from 1\u00a0% to 99\u00a0%.';

function spanChart(
  title: string,
  rule: string,
  noun: string,
  histograms: Histograms,
  others: string,
): readonly SpanChart[] {
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

/** Durations in ms by name, exact to a tenth, which is enough for a chart. `null`: all names above `MOST_NAMES`. */
type Histograms = Map<string | null, RecordableHistogram>;

/** Ignores times that cannot be read, and an end before its beginning, because clocks may disagree. */
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

/** The nth percentile is the smallest duration that n in a hundred do not exceed. */
function spanOf(histogram: RecordableHistogram): Span {
  const at = (percent: number) => histogram.percentile(percent);
  return { p1: at(1), p25: at(25), p50: at(50), p75: at(75), p99: at(99) };
}
