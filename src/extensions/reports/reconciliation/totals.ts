import Big from 'big.js';
import { DecimalSum, readDecimal, type AmountSettings } from '../../../base/decimal.ts';
import { sumOf } from '../../../base/words.ts';
import type { Column, Row } from '../../documents/document.ts';
import type { ReportFinding } from './findings.ts';
import { isReason, type JudgedOrder } from './judge.ts';
import { amountsText, LONGEST_NAME, OUTCOMES, outcomeOf, sumsByOutcome, currencyOfRow, dayOf, pairOf } from './rows.ts';
import { cut, compareTexts } from '../../documents/words.ts';
import type { Outcome, AmountRow } from './rows.ts';
import type { KnownFindingRow, ReconciledRow } from '../tables/reconciliation.ts';

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
  { key: 'outcome_unknown', label: 'Asset, final, outcome not known', kind: 'decimal', rank: 2 },
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
export const DAY_COLUMNS: readonly Column[] = [{ key: 'day', label: 'Day (UTC)', kind: 'day' }, ...PAIR_COLUMNS];

type Key<Kind> = Extract<(typeof PAIR_COLUMNS)[number], { kind: Kind }>['key'];
type Count = Key<'count'>;
type Sum = Exclude<Key<'decimal'>, 'difference' | Outcome>;
const SUMS = ['asset', 'ours', 'theirs', 'output', 'fee', 'reward'] as const satisfies readonly Sum[];
const COUNTS = PAIR_COLUMNS.filter(({ kind }) => kind === 'count').map(({ key }) => key as Count);

/** `day` is empty in sums over all days. `currency` is as `currencyOfRow` returns it. */
type Group = Readonly<Record<'day' | 'pair', string> & Record<'outcome' | 'position' | 'currency', string | null>>;
type Line = Group & { readonly counts: Record<Count, number>; readonly sums: Record<Sum, DecimalSum> };
type Lines = Map<string, Line>;

function lineOf(lines: Lines, { day, pair, outcome, position, currency }: Group): Line {
  const key = JSON.stringify([day, pair, outcome, position, currency]);
  const known = lines.get(key);
  if (known !== undefined) return known;
  const counts = Object.fromEntries(COUNTS.map((count) => [count, 0])) as Line['counts'];
  const sums = Object.fromEntries(SUMS.map((sum) => [sum, new DecimalSum()])) as Line['sums'];
  const line = { day, pair, outcome, position, currency, counts, sums };
  lines.set(key, line);
  return line;
}

function addTo(line: Line, { counts, sums }: Line): void {
  for (const key of COUNTS) line.counts[key] += counts[key];
  for (const key of SUMS) line.sums[key].add(sums[key].toString());
}

function rowOf({ day, pair, outcome, position, counts, sums }: Line): Row {
  const texts = Object.fromEntries(SUMS.map((key) => [key, String(sums[key])])) as Record<Sum, string>;
  const difference = decimalDifference(texts.theirs, texts.ours);
  return { day, pair, outcome, position, ...counts, ...texts, ...sumsByOutcome(outcome, texts.asset), difference };
}

function addCount<Name>(counts: Map<Name, number>, key: Name, orders: number): void {
  counts.set(key, (counts.get(key) ?? 0) + orders);
}

const OUTCOME_PLACES: readonly (string | null)[] = [...OUTCOMES, 'disputed', null];

function sorted(lines: Lines): readonly Line[] {
  const place = ({ outcome }: Group) => OUTCOME_PLACES.indexOf(outcome);
  return [...lines]
    .toSorted(([a, one], [b, other]) => {
      const byPair = compareTexts(one.day, other.day) || compareTexts(one.pair, other.pair);
      return byPair || place(one) - place(other) || compareTexts(a, b);
    })
    .map(([, line]) => line);
}

type Listed = 'external_order_id' | 'asset' | 'state' | 'outcome' | 'changed_at' | keyof AmountRow;
export type ListedRow = Pick<KnownFindingRow | ReconciledRow, Listed>;

/** `asset` sums our readable amounts from zero up, but of no invalid row. `ours` and `theirs` sum compared amounts. */
export type GroupTotals = Group &
  Readonly<Record<'asset' | 'ours' | 'theirs', string> & Record<'orders' | 'unreadable' | 'compared', number>>;

/** Sums by UTC day, pair, outcome, position and currency. Memory grows with these groups, not with the orders. */
export class ReconciliationTotals {
  readonly #settings: Pick<AmountSettings, 'outputPosition'>;
  readonly #asOf: string;
  readonly #lines: Lines = new Map();
  readonly #inDoubt = new Map<string, DecimalSum>();
  /** The number of orders that have compared amounts and are not judged as checked. */
  comparedUnchecked = 0;
  readonly nothing = new Map<string, number>();
  readonly oldestLookup: { open: string | null; final: string | null } = { open: null, final: null };

  constructor(settings: Pick<AmountSettings, 'outputPosition'>, asOf: string) {
    this.#settings = settings;
    this.#asOf = asOf;
  }

  addOrder({ row, ours, amounts, isOfOtherPair, judgement }: JudgedOrder): void {
    const { counts, sums } = this.#lineOf(row, dayOf(row.at), pairOf(row));
    counts.orders += 1;
    const kind = isReason(judgement) ? 'unchecked' : judgement;
    counts[kind === 'nothing' ? 'nothing_to_compare' : kind] += 1;
    // A look-up after `asOf` counts as a look-up at `asOf`, because the report has no later times.
    const lookup = (row.last_lookup_at ?? '') > this.#asOf ? this.#asOf : row.last_lookup_at;
    if (kind !== 'nothing') this.#addLookup(row.state === 'final' ? 'final' : 'open', lookup);
    if (row.state === 'abandoned') counts.given_up += 1;
    if (kind === 'nothing') addCount(this.nothing, row.state, 1);
    // `resends` rises before the order is sent again. A fail-over may raise it without another request.
    if (row.resends > 0 && row.attempts > row.resends && row.state !== 'pending') counts.sent_again += 1;
    // As in the summary, invalid rows are in no sum. A row that is not checked yet may have an amount below zero.
    if (ours.ok && row.state !== 'invalid' && !ours.text.startsWith('-')) sums.asset.add(ours.text);
    else counts.unreadable += 1;
    // The record of a disputed order may belong to another order, even after the disputed order was abandoned.
    if (row.received_at === null || row.state === 'disputed' || row.state === 'abandoned') return;
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
    if (kind !== 'checked') this.comparedUnchecked += 1;
    sums.ours.add(amounts[0].text);
    // `theirs` leaves out an amount of another pair, so that the difference shows our amount.
    if (!isOfOtherPair) sums.theirs.add(amounts[1].text);
  }

  /** The caller must call this only once for an order, because each call adds the amount. */
  addInDoubt(row: ListedRow): void {
    const unit = currencyOfRow(row, this.#settings) ?? `${pairOf(row)} (currency not shown for ${row.asset_position})`;
    const asset = readDecimal(row.asset);
    this.#addToDoubt(asset.ok ? unit : 'not readable', asset.ok ? asset.text : '1');
  }

  addFinding({ day, pair, severity, status }: ReportFinding, row: ListedRow): void {
    const { counts } = this.#lineOf(row, day, pair);
    if (status === 'acknowledged') counts.acknowledged += 1;
    else counts[severity === 'info' ? 'infos' : severity === 'warning' ? 'warnings' : 'errors'] += 1;
  }

  addAll(other: ReconciliationTotals): void {
    for (const line of other.#lines.values()) addTo(lineOf(this.#lines, line), line);
    for (const side of ['open', 'final'] as const) this.#addLookup(side, other.oldestLookup[side]);
    for (const [unit, sum] of other.#inDoubt) this.#addToDoubt(unit, sum.toString());
    this.comparedUnchecked += other.comparedUnchecked;
    for (const [state, orders] of other.nothing) addCount(this.nothing, state, orders);
  }

  moneyInDoubt(): string | null {
    const sums = [...this.#inDoubt].toSorted(([a], [b]) => compareTexts(a, b));
    return amountsText(sums.map(([unit, sum]) => `${sum.toString()} ${cut(unit, LONGEST_NAME)}`)) || null;
  }

  byDay(): readonly Row[] {
    return sorted(this.#lines).map(rowOf);
  }

  byPair(): readonly Row[] {
    const lines: Lines = new Map();
    for (const line of this.#lines.values()) addTo(lineOf(lines, { ...line, day: '' }), line);
    return sorted(lines).map(rowOf);
  }

  groups(): readonly GroupTotals[] {
    return sorted(this.#lines)
      .filter(({ counts }) => counts.orders > 0)
      .map(({ counts: { orders, unreadable, compared }, sums, ...group }) => {
        const [asset, ours, theirs] = [String(sums.asset), String(sums.ours), String(sums.theirs)];
        return { ...group, orders, unreadable, compared, asset, ours, theirs };
      });
  }

  outcomes(): Readonly<Record<Outcome, number>> {
    const lines = [...this.#lines.values()];
    const ordersOf = (name: Outcome) => sumOf(lines, ({ outcome, counts }) => (outcome === name ? counts.orders : 0));
    return Object.fromEntries(OUTCOMES.map((name) => [name, ordersOf(name)])) as Record<Outcome, number>;
  }

  counts(): Readonly<Record<Count, number>> {
    const lines = [...this.#lines.values()];
    const counts = COUNTS.map((key) => [key, sumOf(lines, (line) => line.counts[key])]);
    return Object.fromEntries(counts) as Record<Count, number>;
  }

  #addLookup(side: 'open' | 'final', at: string | null): void {
    const oldest = this.oldestLookup[side];
    if (at !== null && (oldest === null || at < oldest)) this.oldestLookup[side] = at;
  }

  #addToDoubt(unit: string, amount: string): void {
    const sum = this.#inDoubt.get(unit) ?? new DecimalSum();
    sum.add(amount);
    this.#inDoubt.set(unit, sum);
  }

  /** An order that changed after `asOf` counts as `outcome_unknown`, because its earlier outcome is not stored. */
  #lineOf(row: ListedRow, day: string, pair: string): Line {
    const outcome = (row.changed_at ?? '') > this.#asOf ? 'outcome_unknown' : outcomeOf(row);
    const currency = currencyOfRow(row, this.#settings);
    return lineOf(this.#lines, { day, pair, outcome, position: row.asset_position, currency });
  }
}

export function decimalDifference(minuend: string, subtrahend: string): string {
  return new Big(minuend).minus(subtrahend).toFixed();
}

export function sumOfDecimals(decimals: readonly string[]): string {
  const sum = new DecimalSum();
  for (const decimal of decimals) sum.add(decimal);
  return sum.toString();
}
