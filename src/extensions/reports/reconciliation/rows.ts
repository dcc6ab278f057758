import { amountField, currencyOf, type AmountSettings } from '../../../base/decimal.ts';

export interface AmountRow {
  readonly asset_position: string | null;
  readonly from_currency: string | null;
  readonly to_currency: string | null;
}

/** An order and the newest record of it. Amounts are decimal text; `received_at` is null if there is no record. */
export interface ReconciledRow extends AmountRow {
  readonly account: string;
  readonly external_order_id: string;
  readonly asset: unknown;
  readonly state: string;
  readonly state_reason: string | null;
  readonly order_status: string | null;
  readonly outcome: string | null;
  readonly created_at: string;
  readonly sent_at: string | null;
  readonly changed_at: string | null;
  readonly last_lookup_at: string | null;
  /** The exchange's date of the newest record, as received. */
  readonly modification_date: string | null;
  readonly resends: number;
  readonly fail_over: number | null;
  /** The date of the older record that the newest look-up brought; null if it brought none. */
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
  /** The time that the period of the report is about. */
  readonly at: string;
}

export interface KnownFindingRow extends AmountRow {
  readonly id: number;
  readonly account: string;
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
  /** These are of the row; null if it was deleted. */
  readonly state: string | null;
  readonly outcome: string | null;
  readonly order_changed_at: string | null;
  /** The time that the period of the report is about. */
  readonly at: string | null;
}

/** Names the pair of a row as reports write it, `BTC/EUR`; `?` where a currency is missing. */
export function pairOf({ from_currency: from, to_currency: to }: Omit<AmountRow, 'asset_position'>): string {
  return `${from ?? '?'}/${to ?? '?'}`;
}

/** The currency of the amount of a row, `?` if the row has none; null if it is not known which of the pair it is. */
export function currencyOfRow(row: AmountRow, settings: Pick<AmountSettings, 'outputPosition'>): string | null {
  const field = amountField(row.asset_position, settings);
  const pair = { fromCurrency: row.from_currency, toCurrency: row.to_currency };
  return field === undefined ? null : (currencyOf(field, pair) ?? '?');
}

/** Gives the UTC day of an ISO time, or `?` where there is none. */
export function dayOf(at: string | null): string {
  return at === null ? '?' : at.slice(0, 10);
}

export const OUTCOMES = ['succeeded', 'failed', 'open', 'outcome_unknown'] as const;
/** What became of an order: `outcome_unknown` where it is final and nothing says whether it paid. */
export type Outcome = (typeof OUTCOMES)[number];

/** The outcome of an order, `disputed`, or null if the exchange shows no order for it. */
export function outcomeOf({ state, outcome }: { readonly state: string | null; readonly outcome: string | null }) {
  if (state === 'final') return outcome === 'succeeded' || outcome === 'failed' ? outcome : 'outcome_unknown';
  return state === 'open' || state === 'disputed' ? state : null;
}

/** The sum of amounts that all have one outcome, under its name, and zero under the others. */
export function sumsByOutcome(outcome: string | null, sum: string): Readonly<Record<Outcome, string>> {
  return Object.fromEntries(OUTCOMES.map((one) => [one, one === outcome ? sum : '0'])) as Record<Outcome, string>;
}
