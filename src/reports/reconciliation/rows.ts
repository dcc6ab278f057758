import { readDecimal, type DecimalReading } from '../../domain/decimal.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import { isUnchecked, type OrderAge } from '../../domain/findings/age.ts';
import { COMPARED_POSITION } from '../../domain/findings/finding.ts';

/** An order beside the newest record of it. Amounts are decimal text; `received_at` is null where there is no record. */
export interface ReconciledRow {
  readonly external_order_id: string;
  readonly asset: unknown;
  readonly asset_position: string | null;
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  readonly state: string;
  readonly order_status: string | null;
  readonly created_at: string;
  readonly sent_at: string | null;
  readonly changed_at: string | null;
  readonly last_lookup_at: string | null;
  readonly resends: number;
  /** The date of the older record that the newest look-up brought; null where it brought none. */
  readonly stale_date: string | null;
  readonly received_at: string | null;
  readonly compared_at: string | null;
  readonly input_asset: string | null;
  readonly output_asset: string | null;
  readonly record_from: string | null;
  readonly record_to: string | null;
  readonly fee: string | null;
  readonly reward: string | null;
  readonly creation_date: string | null;
  readonly completion_date: string | null;
}

/** A finding that is written down, with the order it is about. */
export interface KnownFindingRow {
  readonly id: number;
  readonly class: string;
  readonly severity: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly first_seen_at: string;
  readonly status: string;
  readonly changed_at: string | null;
  readonly resolved_at: string | null;
  readonly reason: string | null;
  readonly external_order_id: string | null;
  readonly from_currency: string | null;
  readonly to_currency: string | null;
  /** Null where there is no such row any more. */
  readonly created_at: string | null;
}

/** Why a report cannot say that an order agrees, in plain words. */
export const UNCHECKED_REASONS = {
  changedAfter: 'changed after the moment of the report',
  inFlight: 'its create is on its way',
  outcomeUnknown: 'nobody knows whether the exchange took it',
  givenUp: 'given up, and not looked up since',
  olderRecord: 'the exchange answers with an older record',
  neverLookedUp: 'never looked up with success',
  lookedUpLongAgo: 'looked up too long ago',
  otherPosition: 'the amount of this position cannot be compared',
  noAmount: 'the record has no amount that can be read',
  noPair: 'the record has no currency pair, or cannot be read',
  notCompared: 'the record was not compared yet',
} as const;
export type UncheckedReason = keyof typeof UNCHECKED_REASONS;

/** What a report can say of one order: `nothing` where the exchange has nothing to compare it with. */
export type Judgement =
  | { readonly kind: 'checked' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unchecked'; readonly reason: UncheckedReason };

const CHECKED: Judgement = { kind: 'checked' };
const NOTHING: Judgement = { kind: 'nothing' };
/** States whose orders the exchange has not taken, as far as anybody knows. */
const WITHOUT_OTHER_SIDE: readonly string[] = ['pending', 'invalid', 'rejected', 'cancelled', 'abandoned'];

/** The two amounts that are compared, read once. */
export interface RowAmounts {
  readonly ours: DecimalReading;
  readonly theirs: DecimalReading;
}

export function amountsOf(row: ReconciledRow): RowAmounts {
  return { ours: readDecimal(row.asset), theirs: readDecimal(row.input_asset) };
}

/** Whether the order was compared with the exchange as of a moment, and if not, why. */
export function judgeRow(row: ReconciledRow, { ours, theirs }: RowAmounts, asOf: Date, freshFor: number): Judgement {
  if (isChangedAfter(row, asOf)) return unchecked('changedAfter');
  if (isOutcomeUnknown(row)) return unchecked('outcomeUnknown');
  if (isGivenUpUnseen(row)) return unchecked('givenUp');
  if (WITHOUT_OTHER_SIDE.includes(row.state)) return NOTHING;
  if (row.state === 'sending') return unchecked('inFlight');
  if (row.last_lookup_at === null) return unchecked('neverLookedUp');
  if (row.stale_date !== null) return unchecked('olderRecord');
  if (row.received_at !== null) {
    if (row.asset_position !== COMPARED_POSITION) return unchecked('otherPosition');
    if (!ours.ok || !theirs.ok) return unchecked('noAmount');
    if (row.compared_at === null) return unchecked('notCompared');
  }
  if (!isUnchecked(ageOf(row), asOf, freshFor)) return CHECKED;
  const hasPair = row.received_at === null || (row.record_from !== null && row.record_to !== null);
  return unchecked(hasPair ? 'lookedUpLongAgo' : 'noPair');
}

/** The row as time alone judges it. */
export function ageOf(row: ReconciledRow): OrderAge {
  return {
    state: row.state as OrderState,
    assetPosition: row.asset_position,
    record:
      row.received_at === null
        ? null
        : { inputAsset: row.input_asset, fromCurrency: row.record_from, toCurrency: row.record_to },
    sentAt: time(row.sent_at),
    changedAt: null,
    lastLookupAt: time(row.last_lookup_at),
    resends: row.resends,
    staleDate: row.stale_date,
  };
}

/** The pair that the record gives; null where it gives none. */
export function pairOfRecord(row: ReconciledRow): string | null {
  if (row.record_from === null && row.record_to === null) return null;
  return pairOf({ from_currency: row.record_from, to_currency: row.record_to });
}

/** A row that is sent once more has left an unknown outcome behind. */
function isOutcomeUnknown({ state, resends }: ReconciledRow): boolean {
  if (state === 'unknown' || state === 'held') return true;
  return resends > 0 && (state === 'pending' || state === 'sending');
}

/** The exchange may have taken what a person gave up; only a look-up after that shows that there is no order. */
function isGivenUpUnseen({ state, last_lookup_at: seen, changed_at: decided }: ReconciledRow): boolean {
  return state === 'abandoned' && (seen === null || decided === null || seen <= decided);
}

/** Whether the row cannot speak for the moment any more. A record that came later and says the same still can. */
function isChangedAfter(row: ReconciledRow, asOf: Date): boolean {
  const moment = asOf.toISOString();
  if (row.changed_at !== null && row.changed_at > moment) return true;
  if (row.sent_at !== null && row.sent_at > moment) return true;
  return row.compared_at !== null && row.compared_at > moment;
}

/** The pair of a row as it is written in reports. */
export function pairOf(row: { readonly from_currency: string | null; readonly to_currency: string | null }): string {
  return `${row.from_currency ?? '?'}/${row.to_currency ?? '?'}`;
}

/** The UTC day of an ISO time. */
export function dayOf(at: string | null): string {
  return at === null ? '?' : at.slice(0, 10);
}

function unchecked(reason: UncheckedReason): Judgement {
  return { kind: 'unchecked', reason };
}

function time(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
