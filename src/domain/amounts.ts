import type Big from 'big.js';

/**
 * The largest difference of amounts that counts as none. Decimal text: for all currencies, or by the code of each, with
 * `default` for the others.
 */
export type Tolerance = string | Readonly<Record<string, string>>;

/** The two amounts of an order record (§2.7). */
export const AMOUNT_FIELDS = ['inputAsset', 'outputAsset'] as const;
/** An amount of an order record. */
export type AmountField = (typeof AMOUNT_FIELDS)[number];

/** Settings that decide which amounts are compared and when they count as equal. */
export interface AmountSettings {
  readonly tolerance: Tolerance;
  /** The amount that the position OUTPUT refers to; undefined where that is not known. */
  readonly outputPosition?: AmountField | undefined;
}

/**
 * Gives the amount of a record that the asset of an order of this position is compared with; undefined where nobody knows
 * it. That INPUT means the input amount is our reading of §2.6.
 */
export function amountField(
  assetPosition: string | null,
  { outputPosition }: Pick<AmountSettings, 'outputPosition'>,
): AmountField | undefined {
  if (assetPosition === 'INPUT') return 'inputAsset';
  return assetPosition === 'OUTPUT' ? outputPosition : undefined;
}

/** Gives the currency of an amount: the input is in the first of the pair, the output in the second. */
export function currencyOf(
  field: AmountField,
  pair: { readonly fromCurrency: string | null; readonly toCurrency: string | null },
): string | null {
  return field === 'inputAsset' ? pair.fromCurrency : pair.toCurrency;
}

/** Tells whether two codes name one currency, in any letter case. */
export function isSameCurrency(left: string, right: string | null): boolean {
  return left.toUpperCase() === right?.toUpperCase();
}

/** Tells whether two amounts of a currency differ by no more than the tolerance. */
export function isWithin(left: Big, right: Big, tolerance: Tolerance, currency: string | null): boolean {
  return left.minus(right).abs().lte(toleranceFor(tolerance, currency));
}

function toleranceFor(tolerance: Tolerance, currency: string | null): string {
  if (typeof tolerance === 'string') return tolerance;
  const own = currency !== null && Object.hasOwn(tolerance, currency) ? tolerance[currency] : undefined;
  return own ?? tolerance['default'] ?? '0';
}
