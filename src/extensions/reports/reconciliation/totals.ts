import { DecimalSum, type AmountSettings } from '../../../base/decimal.ts';
import { compareTexts, sumOf } from '../../../base/words.ts';
import {
  OUTCOMES,
  outcomeOf,
  sumsByOutcome,
  currencyOfRow,
  dayOf,
  pairOf,
  type Outcome,
  type AmountRow,
} from './rows.ts';
import type { Column, Row } from '../../documents/document.ts';
import type { ReportFinding } from './findings.ts';
import type { JudgedOrder, UncheckedReason } from './judge.ts';

export const PAIR_COLUMNS = [
  { key: 'pair', label: 'Pair', kind: 'text' },
  { key: 'outcome', label: 'Outcome', kind: 'outcome' },
  { key: 'position', label: 'Position', kind: 'text' },
  { key: 'orders', label: 'Orders', kind: 'count' },
  { key: 'at_exchange', label: 'At exchange', kind: 'count' },
  { key: 'compared', label: 'Amounts compared', kind: 'count', rank: 2 },
  { key: 'asset', label: 'Asset, all orders', kind: 'decimal', rank: 2 },
  { key: 'succeeded', label: 'Asset, succeeded', kind: 'decimal', rank: 2 },
  { key: 'failed', label: 'Asset, failed', kind: 'decimal', rank: 2 },
  { key: 'open', label: 'Asset, open', kind: 'decimal', rank: 2 },
  { key: 'outcome_unknown', label: 'Asset, final, unclassified', kind: 'decimal', rank: 2 },
  { key: 'ours', label: 'Ours', kind: 'decimal' },
  { key: 'theirs', label: 'Theirs', kind: 'decimal' },
  { key: 'difference', label: 'Difference', kind: 'decimal' },
  { key: 'output', label: 'Output asset', kind: 'decimal', rank: 2 },
  { key: 'fee', label: 'Fee (crypto currency)', kind: 'decimal', rank: 2 },
  { key: 'reward', label: 'Reward (unit not shown)', kind: 'decimal', rank: 2 },
  { key: 'checked', label: 'Checked', kind: 'count' },
  { key: 'unchecked', label: 'Unchecked', kind: 'count' },
  { key: 'disputed', label: 'Disputed', kind: 'count' },
  { key: 'nothing_to_compare', label: 'Nothing to compare', kind: 'count', rank: 2 },
  { key: 'given_up', label: 'Given up', kind: 'count', rank: 2 },
  { key: 'sent_again', label: 'Sent again', kind: 'count', rank: 2 },
  { key: 'unreadable', label: 'Amount unreadable', kind: 'count', rank: 2 },
  { key: 'other_pair', label: 'Of another pair', kind: 'count', rank: 2 },
  { key: 'no_output', label: 'Without output', kind: 'count', rank: 2 },
  { key: 'no_fee', label: 'Without fee', kind: 'count', rank: 2 },
  { key: 'no_reward', label: 'Without reward', kind: 'count', rank: 2 },
  { key: 'errors', label: 'Errors', kind: 'count' },
  { key: 'warnings', label: 'Warnings', kind: 'count' },
  { key: 'infos', label: 'Infos', kind: 'count', rank: 2 },
  { key: 'acknowledged', label: 'Acknowledged', kind: 'count', rank: 2 },
] as const satisfies readonly Column[];
export const DAY_COLUMNS: readonly Column[] = [{ key: 'day', label: 'Day (UTC)', kind: 'text' }, ...PAIR_COLUMNS];

type Key<Kind> = Extract<(typeof PAIR_COLUMNS)[number], { kind: Kind }>['key'];
type Count = Key<'count'>;
type Sum = Exclude<Key<'decimal'>, 'difference' | Outcome>;
const SUMS = ['asset', 'ours', 'theirs', 'output', 'fee', 'reward'] as const satisfies readonly Sum[];
const keysOf = (kind: Column['kind']) => PAIR_COLUMNS.filter((column) => column.kind === kind).map(({ key }) => key);
const COUNTS = keysOf('count') as Count[];

class Totals {
  readonly counts = Object.fromEntries(COUNTS.map((key) => [key, 0])) as Record<Count, number>;
  readonly sums = Object.fromEntries(SUMS.map((key) => [key, new DecimalSum()])) as Record<Sum, DecimalSum>;

  addAll(other: Totals): void {
    for (const key of COUNTS) this.counts[key] += other.counts[key];
    for (const key of SUMS) this.sums[key].add(other.sums[key].toString());
  }

  asRow({ pair, outcome, position }: Group): Row {
    const sums = Object.fromEntries(SUMS.map((key) => [key, this.sums[key].toString()]));
    const difference = new DecimalSum();
    difference.add(this.sums.theirs.toString());
    difference.subtract(this.sums.ours.toString());
    const byOutcome = sumsByOutcome(outcome, this.sums.asset.toString());
    return { pair, outcome, position, ...this.counts, ...sums, ...byOutcome, difference: difference.toString() };
  }
}

/** Orders whose amounts may be added: of one outcome, and of one asset position, as another may be in another currency. */
interface Group {
  readonly pair: string;
  readonly outcome: string | null;
  readonly position: string | null;
  /** The currency of the amounts, `?` if a row has none; null if it is not known which of the pair it is. */
  readonly currency: string | null;
}

interface GroupedRow extends AmountRow {
  readonly state: string | null;
  readonly outcome: string | null;
}

/** Orders whose amount is unreadable are in no sum; `ours` and `theirs` are of the orders that were compared. */
export type GroupTotals = Group &
  Readonly<Record<'day' | 'asset' | 'ours' | 'theirs', string> & Record<'orders' | 'unreadable' | 'compared', number>>;

export type ClassTotals = Record<'day' | 'pair' | 'class' | 'severity', string> &
  Record<'open' | 'acknowledged', number>;

/** Sums of orders and findings by UTC day, pair, outcome and position. Memory grows with these, not with the orders. */
export class ReconciliationTotals {
  readonly #settings: Pick<AmountSettings, 'outputPosition'>;
  readonly #groups = new Map<string, Group & { readonly day: string; readonly totals: Totals }>();
  readonly #classes = new Map<string, ClassTotals>();

  readonly unchecked = new Map<UncheckedReason, number>();
  /** The oldest look-up that the report relies on, of orders that are not final and of final ones. */
  readonly oldestLookup: { open: string | null; final: string | null } = { open: null, final: null };

  constructor(settings: Pick<AmountSettings, 'outputPosition'>) {
    this.#settings = settings;
  }

  addOrder(order: JudgedOrder, asOf: string): void {
    const { row, ours, amounts, isOfOtherPair, judgement } = order;
    this.#addLookup(order, asOf);
    const group = { pair: pairOf(row), ...this.#groupOf(row, row.changed_at, asOf) };
    const { counts, sums } = this.#totals(dayOf(row.at), group);
    counts.orders += 1;
    if (judgement.kind === 'nothing') counts.nothing_to_compare += 1;
    else counts[judgement.kind] += 1;
    if (judgement.kind === 'unchecked') this.#addUnchecked(judgement.reason, 1);
    if (row.state === 'abandoned') counts.given_up += 1;
    if (row.resends > 0) counts.sent_again += 1;
    if (ours.ok) sums.asset.add(ours.value);
    else counts.unreadable += 1;
    // What the record of a disputed order says may be of another order, also when a person has given it up.
    if (row.received_at === null || judgement.kind === 'disputed' || row.state === 'abandoned') return;
    counts.at_exchange += 1;
    if (isOfOtherPair) {
      counts.other_pair += 1;
    } else {
      if (!sums.output.addReadable(row.output_asset)) counts.no_output += 1;
      if (!sums.fee.addReadable(row.fee)) counts.no_fee += 1;
      if (!sums.reward.addReadable(row.reward)) counts.no_reward += 1;
    }
    if (amounts === undefined) return;
    counts.compared += 1;
    sums.ours.add(amounts[0].value);
    // An amount of another pair is none of this one: the difference shows it.
    if (!isOfOtherPair) sums.theirs.add(amounts[1].value);
  }

  /** Counts a look-up that found nothing new after the moment as one of the moment. */
  #addLookup({ row, judgement }: JudgedOrder, asOf: string): void {
    if (judgement.kind === 'nothing' || row.last_lookup_at === null) return;
    const at = row.last_lookup_at < asOf ? row.last_lookup_at : asOf;
    this.#addOldest(row.state === 'final' ? 'final' : 'open', at);
  }

  #addOldest(side: 'open' | 'final', at: string | null): void {
    const oldest = this.oldestLookup[side];
    if (at !== null && (oldest === null || at < oldest)) this.oldestLookup[side] = at;
  }

  #addUnchecked(reason: UncheckedReason, orders: number): void {
    this.unchecked.set(reason, (this.unchecked.get(reason) ?? 0) + orders);
  }

  #addToClass(totals: ClassTotals): void {
    const { day, pair, class: name, severity, open, acknowledged } = totals;
    const id = JSON.stringify([day, pair, name, severity]);
    const known = this.#classes.get(id);
    if (known === undefined) {
      this.#classes.set(id, { ...totals });
    } else {
      known.open += open;
      known.acknowledged += acknowledged;
    }
  }

  /** `row` is that of the finding, and `changedAt` the time of its last change. */
  addFinding(finding: ReportFinding, row: GroupedRow, changedAt: string | null, asOf: string): void {
    const { day, pair, severity, status } = finding;
    const { counts } = this.#totals(day, { pair, ...this.#groupOf(row, changedAt, asOf) });
    const isOpen = status !== 'acknowledged';
    this.#addToClass({
      day,
      pair,
      class: finding.class,
      severity,
      open: Number(isOpen),
      acknowledged: Number(!isOpen),
    });
    if (!isOpen) counts.acknowledged += 1;
    else if (severity === 'info') counts.infos += 1;
    else if (severity === 'warning') counts.warnings += 1;
    else counts.errors += 1;
  }

  addAll(other: ReconciliationTotals): void {
    for (const { day, totals, ...group } of other.#groups.values()) this.#totals(day, group).addAll(totals);
    for (const totals of other.#classes.values()) this.#addToClass(totals);
    for (const [reason, orders] of other.unchecked) this.#addUnchecked(reason, orders);
    this.#addOldest('open', other.oldestLookup.open);
    this.#addOldest('final', other.oldestLookup.final);
  }

  byDay(): readonly Row[] {
    return this.#sorted().map(({ day, totals, ...group }) => ({ day, ...totals.asRow(group) }));
  }

  byPair(): readonly Row[] {
    const groups = Map.groupBy(this.#groups.values(), keyOf);
    return [...groups.values()]
      .map((same) => {
        const totals = new Totals();
        for (const one of same) totals.addAll(one.totals);
        return { ...same[0]!, totals };
      })
      .toSorted(compareGroups)
      .map(({ totals, ...group }) => totals.asRow(group));
  }

  byClass(): readonly Readonly<ClassTotals>[] {
    return [...this.#classes].toSorted(([a], [b]) => compareTexts(a, b)).map(([, line]) => line);
  }

  /** The orders by day and group; groups that have findings alone are left out. */
  groups(): readonly GroupTotals[] {
    return this.#sorted()
      .filter(({ totals }) => totals.counts.orders > 0)
      .map(({ totals: { counts, sums }, ...group }) => {
        const { orders, unreadable, compared } = counts;
        const [asset, ours, theirs] = [sums.asset, sums.ours, sums.theirs].map(String) as [string, string, string];
        return { ...group, orders, unreadable, compared, asset, ours, theirs };
      });
  }

  outcomes(): Readonly<Record<Outcome, number>> {
    const groups = this.groups();
    const counts = OUTCOMES.map((outcome) => {
      const same = groups.filter((group) => group.outcome === outcome);
      return [outcome, sumOf(same, ({ orders }) => orders)] as const;
    });
    return Object.fromEntries(counts) as Record<Outcome, number>;
  }

  counts(): Readonly<Record<Count, number>> {
    const all = new Totals();
    for (const { totals } of this.#groups.values()) all.addAll(totals);
    return all.counts;
  }

  #sorted() {
    return [...this.#groups.values()].toSorted((a, b) => compareTexts(a.day, b.day) || compareGroups(a, b));
  }

  /** Nobody knows any more what the outcome of an order was that has changed since. */
  #groupOf(row: GroupedRow, changedAt: string | null, asOf: string): Omit<Group, 'pair'> {
    const isChangedAfter = changedAt !== null && changedAt > asOf;
    const outcome = isChangedAfter ? 'outcome_unknown' : outcomeOf(row);
    return { outcome, position: row.asset_position, currency: currencyOfRow(row, this.#settings) };
  }

  #totals(day: string, group: Group): Totals {
    const key = `${day} ${keyOf(group)}`;
    const known = this.#groups.get(key) ?? { day, ...group, totals: new Totals() };
    this.#groups.set(key, known);
    return known.totals;
  }
}

function keyOf({ pair, outcome, position, currency }: Group): string {
  return JSON.stringify([pair, outcome, position, currency]);
}

const OUTCOME_PLACES: readonly (string | null)[] = [...OUTCOMES, 'disputed', null];

function compareGroups(a: Group, b: Group): number {
  const place = ({ outcome }: Group) => OUTCOME_PLACES.indexOf(outcome);
  return compareTexts(a.pair, b.pair) || place(a) - place(b) || compareTexts(keyOf(a), keyOf(b));
}
