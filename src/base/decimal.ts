import Big from 'big.js';
import { quote } from './text.ts';

/** The most digits that are read. No amount has more, and a hostile exponent cannot fill the memory. */
export const MAX_DIGITS = 64;

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;

export type DecimalReading = { ok: true; text: string; value: Big } | { ok: false; reason: string };

/** Reads a decimal as JSON writes it, and keeps every digit. An exponent, as SQLite writes it, is expanded. */
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

/** Tells whether two decimals, as `readDecimal` reads them, are the same number (`1.50` and `1.5`). */
export function sameDecimal(left: unknown, right: unknown): boolean {
  if (left === right) return isDecimal(left);
  const a = readDecimal(left);
  const b = readDecimal(right);
  return a.ok && b.ok && a.value.eq(b.value);
}

/** Matches most amounts: plain numbers that are too short to pass `MAX_DIGITS`. */
const PLAIN = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?$/;

export class DecimalSum {
  /** The sums of plain numbers without their points, by the number of decimals. `Big` takes ten times as long. */
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

/** The largest difference of amounts that counts as none: for all currencies, or by currency code with a `default`. */
export type Tolerance = string | Readonly<Record<string, string>>;

/** The two amounts of an order record (§2.7). */
export const AMOUNT_FIELDS = ['inputAsset', 'outputAsset'] as const;
export type AmountField = (typeof AMOUNT_FIELDS)[number];

export interface AmountSettings {
  readonly tolerance: Tolerance;
  /** The amount that the position OUTPUT refers to; undefined if that is not known. */
  readonly outputPosition?: AmountField | undefined;
}

/**
 * Returns the amount to compare the asset with; undefined if unknown. §2.6 does not name the amount of INPUT: the
 * program takes `inputAsset`.
 */
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

/** Tells whether two codes name one currency, in any letter case. */
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
