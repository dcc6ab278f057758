import Big from 'big.js';
import { quote } from './text.ts';

/** The most digits of a decimal that is written without an exponent. */
export const MAX_DIGITS = 64;

/** An exponent has at most four digits, because it is expanded in memory before the digits are counted. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;

export type DecimalReading = { ok: true; text: string; value: Big } | { ok: false; reason: string };

/** Reads a decimal in JSON's syntax and keeps every digit. Expands an exponent, which SQLite may write. */
export function readDecimal(input: unknown): DecimalReading {
  if (typeof input !== 'string') return { ok: false, reason: 'is not a decimal number' };
  if (input.length > MAX_DIGITS * 2 || !DECIMAL.test(input)) {
    return { ok: false, reason: `is not a decimal number: ${quote(input)}` };
  }
  const value = new Big(input);
  const text = /e/i.test(input) ? value.toFixed() : input;
  if (text.replace(/\D/g, '').length > MAX_DIGITS) {
    return { ok: false, reason: `has more than ${MAX_DIGITS} digits when it is written out: ${quote(input)}` };
  }
  return { ok: true, text, value };
}

export function isDecimal(input: unknown): input is string {
  return typeof input === 'string' && (PLAIN.test(input) || readDecimal(input).ok);
}

/** Returns true if `readDecimal` reads both as the same number, such as `1.50` and `1.5`. */
export function sameDecimal(left: unknown, right: unknown): boolean {
  if (left === right) return isDecimal(left);
  const a = readDecimal(left);
  const b = readDecimal(right);
  return a.ok && b.ok && a.value.eq(b.value);
}

/** Matches numbers without an exponent that are too short to exceed `MAX_DIGITS`. Most amounts match. */
const PLAIN = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?$/;

export class DecimalSum {
  /** Sums of plain numbers as integers, by their number of decimals, because `Big` takes ten times as long. */
  readonly #digits: bigint[] = [];
  #rest = new Big(0);

  add(decimal: string | Big): void {
    if (typeof decimal !== 'string' || !this.#addPlain(decimal)) this.#rest = this.#rest.plus(decimal);
  }

  addReadable(input: unknown): boolean {
    if (typeof input === 'string' && this.#addPlain(input)) return true;
    const decimal = readDecimal(input);
    if (decimal.ok) this.add(decimal.value);
    return decimal.ok;
  }

  subtract(text: string): void {
    this.#rest = this.#rest.minus(text);
  }

  toString(): string {
    const parts = this.#digits.map((digits, decimals) => new Big(`${digits}e-${decimals}`));
    return parts.reduce((sum, part) => sum.plus(part), this.#rest).toFixed();
  }

  #addPlain(text: string): boolean {
    if (!PLAIN.test(text)) return false;
    const point = text.indexOf('.');
    const decimals = point === -1 ? 0 : text.length - point - 1;
    this.#digits[decimals] = (this.#digits[decimals] ?? 0n) + BigInt(text.replace('.', ''));
    return true;
  }
}

/** The largest difference at which amounts count as equal, for all currencies or by currency code and `default`. */
export type Tolerance = string | Readonly<Record<string, string>>;

/** The two amounts of an order record (§2.7). */
export const AMOUNT_FIELDS = ['inputAsset', 'outputAsset'] as const;
export type AmountField = (typeof AMOUNT_FIELDS)[number];

export interface AmountSettings {
  readonly tolerance: Tolerance;
  /** The amount to which the position OUTPUT refers; undefined if unknown. */
  readonly outputPosition?: AmountField | undefined;
}

/** Returns the field of a record that the asset is compared with; undefined if unknown. INPUT means `inputAsset`. */
export function amountField(assetPosition: string | null, { outputPosition }: Pick<AmountSettings, 'outputPosition'>) {
  if (assetPosition === 'INPUT') return 'inputAsset';
  return assetPosition === 'OUTPUT' ? outputPosition : undefined;
}

export function currencyOf(
  field: AmountField,
  pair: { readonly fromCurrency: string | null; readonly toCurrency: string | null },
): string | null {
  return field === 'inputAsset' ? pair.fromCurrency : pair.toCurrency;
}

export function isSameCurrency(left: string, right: string | null): boolean {
  return left.toUpperCase() === right?.toUpperCase();
}

export function isWithin(left: Big, right: Big, tolerance: Tolerance, currency: string | null): boolean {
  return left.minus(right).abs().lte(toleranceFor(tolerance, currency));
}

function toleranceFor(tolerance: Tolerance, currency: string | null): string {
  if (typeof tolerance === 'string') return tolerance;
  const own = currency !== null && Object.hasOwn(tolerance, currency) ? tolerance[currency] : undefined;
  return own ?? tolerance['default'] ?? '0';
}
