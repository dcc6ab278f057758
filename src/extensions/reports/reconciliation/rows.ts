import { amountField, currencyOf, type AmountSettings } from '../../../base/decimal.ts';

export type AmountRow = Readonly<Record<'asset_position' | 'from_currency' | 'to_currency', string | null>>;

export function pairOf({ from_currency: from, to_currency: to }: Omit<AmountRow, 'asset_position'>): string {
  return `${from ?? '?'}/${to ?? '?'}`;
}

/** Returns the currency of a row's amount: `?` if it is missing in the row, null if either currency may be meant. */
export function currencyOfRow(row: AmountRow, settings: Pick<AmountSettings, 'outputPosition'>): string | null {
  const field = amountField(row.asset_position, settings);
  const pair = { fromCurrency: row.from_currency, toCurrency: row.to_currency };
  return field === undefined ? null : (currencyOf(field, pair) ?? '?');
}

export function dayOf(at: string | null): string {
  return at === null ? '?' : at.slice(0, 10);
}

const MOST_AMOUNTS = 12;
/** In characters. Longer names are cut, because an application may write any text as a currency or an account. */
export const LONGEST_NAME = 64;

export function amountsText(amounts: readonly string[]): string {
  const more = amounts.length - MOST_AMOUNTS;
  return [...amounts.slice(0, MOST_AMOUNTS), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

export const OUTCOMES = ['succeeded', 'failed', 'open', 'outcome_unknown'] as const;
/** `outcome_unknown`: the order is final, and neither its success nor its failure is known. */
export type Outcome = (typeof OUTCOMES)[number];

export function outcomeOf({ state, outcome }: { readonly state: string | null; readonly outcome: string | null }) {
  if (state === 'final') return outcome === 'succeeded' || outcome === 'failed' ? outcome : 'outcome_unknown';
  return state === 'open' || state === 'disputed' ? state : null;
}

export function sumsByOutcome(outcome: string | null, sum: string): Readonly<Record<Outcome, string>> {
  return Object.fromEntries(OUTCOMES.map((one) => [one, one === outcome ? sum : '0'])) as Record<Outcome, string>;
}
