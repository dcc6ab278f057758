import { amountField, isSameCurrency, isWithin, readDecimal } from '../../../base/decimal.ts';
import type { AmountSettings, DecimalReading, Tolerance } from '../../../base/decimal.ts';
import { findOverdue, findUnknownOutcome, isUnchecked, type OrderAge } from '../../../findings/rules/age.ts';
import { classTexts } from '../../operate/finding-classes.ts';
import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { Finding } from '../../../findings/rules/finding.ts';
import { readTime } from '../../../base/instant.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import type { ReconciledRow } from '../tables/reconciliation.ts';
import { currencyOfRow, pairOf } from './rows.ts';

export interface ReconciliationSettings extends AmountSettings {
  readonly freshFor: number;
  readonly orderMissingAfter: number;
  readonly ignore: readonly FindingClassName[];
}

const SYNC = 'Run order-sync sync, then make the report again.';
/** Reasons why an order is not checked, with advice. Reports list them in this sequence: possible errors first. */
export const UNCHECKED = {
  outcomeUnknown: ['it is not known whether the exchange took the order', classTexts('CREATE_UNKNOWN').advice],
  sentAgain: ['waits to be sent again', 'order-sync sends the order by itself. Make the report again when it is sent.'],
  olderRecord: ['the exchange answers with a record that contradicts ours', 'Ask the exchange which record is right.'],
  noAmount: ['the record has no readable amount', 'Ask the exchange for the amount of the order.'],
  noPair: [
    'the record has no currency pair, or cannot be read',
    'Ask the exchange for the currency pair of the order.',
  ],
  otherPosition: [
    'amounts of this asset position cannot be compared',
    'Set exchange.outputPosition when you know which amount the position OUTPUT means. Other positions cannot be compared.',
  ],
  neverLookedUp: ['never looked up successfully', SYNC],
  lookedUpLongAgo: ['looked up too long ago', SYNC],
  givenUp: ['abandoned, and not looked up since', SYNC],
  notCompared: ['the record has not been compared yet', SYNC],
  inFlight: ['the order is being sent', 'Make the report again in a minute. The outcome is known then.'],
  changedAfter: [
    'changed after the moment of the report',
    'Make a report of a later moment. The state of the order at the moment of this report is no longer known.',
  ],
} as const satisfies Record<string, readonly [text: string, advice: string]>;
export type UncheckedReason = keyof typeof UNCHECKED;
export const UNCHECKED_REASONS = Object.keys(UNCHECKED) as readonly UncheckedReason[];

/** `nothing`: the exchange has nothing to compare the order with. `UncheckedReason`: the order is not checked. */
export type Judgement = 'checked' | 'nothing' | 'disputed' | UncheckedReason;

export type JudgedOrder = Readonly<ReturnType<typeof judgeOrder>>;
type Amounts = readonly [ours: Decimal, theirs: Decimal] | undefined;
type Decimal = Extract<DecimalReading, { ok: true }>;

/** States whose orders the exchange has not taken, as far as the database shows. */
const NOT_AT_EXCHANGE: readonly string[] = ['pending', 'invalid', 'rejected', 'cancelled', 'abandoned'];
const CLASS_OF_REASON: Partial<Record<UncheckedReason, FindingClassName>> = {
  outcomeUnknown: 'CREATE_UNKNOWN',
  sentAgain: 'CREATE_UNKNOWN',
  olderRecord: 'REPLICAS_DISAGREE',
};

export function judgeOrder(row: ReconciledRow, asOf: Date, settings: ReconciliationSettings) {
  const ours = readDecimal(row.asset);
  const field = amountField(row.asset_position, settings);
  const currency = currencyOfRow(row, settings);
  const theirs = readDecimal(field === 'outputAsset' ? row.output_asset : row.input_asset);
  const isCompared = row.received_at !== null && field !== undefined;
  const amounts: Amounts = isCompared && ours.ok && theirs.ok ? [ours, theirs] : undefined;
  const age = ageOf(row);
  const judgement = judge(row, amounts, age, asOf, settings);
  let findings: readonly Finding[];
  if (isReason(judgement)) {
    const last = row.last_lookup_at === null ? '' : `; last looked up ${row.last_lookup_at}`;
    const name = CLASS_OF_REASON[judgement] ?? 'UNCHECKED';
    const actual = UNCHECKED[judgement][0] + last;
    // One finding of the class `FAIL_OVER` covers all orders that a fail-over left in doubt.
    const isCovered = name === 'CREATE_UNKNOWN' && row.fail_over !== null;
    findings = isCovered ? [] : [{ class: name, expected: 'compared with the exchange', actual }];
  } else if (row.state === 'accepted') {
    // ORDER_MISSING may be true and not recorded yet. `stuckAfter` concerns only open orders.
    const overdue = findOverdue(age, asOf, { ...settings, stuckAfter: Number.POSITIVE_INFINITY });
    findings = overdue.filter((finding) => finding.class !== 'UNCHECKED');
  } else findings = differences(row, amounts, settings.tolerance, currency);
  return { row, ours, currency, amounts, isOfOtherPair: isOfOtherPair(row), judgement, findings };
}

export function isReason(judgement: Judgement): judgement is UncheckedReason {
  return Object.hasOwn(UNCHECKED, judgement);
}

type Settings = ReconciliationSettings;

function judge(row: ReconciledRow, amounts: Amounts, age: OrderAge, asOf: Date, settings: Settings): Judgement {
  const moment = asOf.toISOString();
  // A look-up that finds an unchanged record changes none of these times.
  const changes = [row.changed_at, row.sent_at, row.compared_at];
  if (changes.some((at) => at !== null && at > moment)) return 'changedAfter';
  if (findUnknownOutcome(age).length > 0) return row.state === 'pending' ? 'sentAgain' : 'outcomeUnknown';
  // Only a look-up after the order was abandoned shows that the exchange has not taken the order.
  const { last_lookup_at: seen, changed_at: decided } = row;
  if (row.state === 'abandoned' && (seen === null || decided === null || seen <= decided)) return 'givenUp';
  if (NOT_AT_EXCHANGE.includes(row.state)) return 'nothing';
  if (row.state === 'disputed') return 'disputed';
  if (row.state === 'sending') return 'inFlight';
  if (row.last_lookup_at === null) return 'neverLookedUp';
  if (row.stale_date !== null) return 'olderRecord';
  if (row.received_at !== null) {
    if (amountField(row.asset_position, settings) === undefined) return 'otherPosition';
    if (amounts === undefined) return 'noAmount';
    if (row.compared_at === null) return 'notCompared';
  }
  if (!isUnchecked(age, asOf, settings)) return 'checked';
  const hasPair = row.received_at === null || (row.record_from !== null && row.record_to !== null);
  return hasPair ? 'lookedUpLongAgo' : 'noPair';
}

/** Compares pair and amount again, because a difference may not be recorded as a finding yet. */
function differences(row: ReconciledRow, amounts: Amounts, tolerance: Tolerance, currency: string | null): Finding[] {
  if (row.received_at === null) return [];
  if (isOfOtherPair(row)) return [{ class: 'PAIR_MISMATCH', expected: pairOf(row), actual: pairOfRecord(row) }];
  if (amounts === undefined) return [];
  const [ours, theirs] = amounts;
  const isEqual = ours.text === theirs.text || isWithin(ours.value, theirs.value, tolerance, currency);
  return isEqual ? [] : [{ class: 'AMOUNT_MISMATCH', expected: ours.text, actual: theirs.text }];
}

function isOfOtherPair({ from_currency, to_currency, record_from, record_to }: ReconciledRow): boolean {
  const differs = (theirs: string | null, ours: string | null) => theirs !== null && !isSameCurrency(theirs, ours);
  return differs(record_from, from_currency) || differs(record_to, to_currency);
}

function pairOfRecord(row: ReconciledRow): string {
  return pairOf({ from_currency: row.record_from, to_currency: row.record_to });
}

function ageOf(row: ReconciledRow): OrderAge {
  const { input_asset: inputAsset, output_asset: outputAsset, record_from: fromCurrency, record_to: toCurrency } = row;
  const record = { inputAsset, outputAsset, fromCurrency, toCurrency };
  return {
    state: row.state as OrderState,
    assetPosition: row.asset_position,
    record: row.received_at === null ? null : record,
    sentAt: readTime(row.sent_at),
    changedAt: null,
    lastLookupAt: readTime(row.last_lookup_at),
    resends: row.resends,
    // The outcome of an order that a fail-over left in doubt is unknown too.
    failOver: null,
    staleDate: row.stale_date,
  };
}
