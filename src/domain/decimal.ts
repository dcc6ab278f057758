import Big from 'big.js';
import { quote } from './text.ts';

/** The most digits that are read: more than any amount has, few enough that a hostile exponent cannot fill memory. */
export const MAX_DIGITS = 64;

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;

/** A decimal number read exactly, or the reason why the text is not one. */
export type DecimalReading = { ok: true; text: string; value: Big } | { ok: false; reason: string };

/**
 * Reads a decimal that is written as a JSON number. A plain number keeps its digits (`1.50` stays `1.50`). A number with
 * an exponent, as SQLite writes small and large reals, is written out.
 */
export function readDecimal(input: unknown): DecimalReading {
  if (typeof input !== 'string') return { ok: false, reason: 'is not a decimal number' };
  if (input.length > MAX_DIGITS * 2 || !DECIMAL.test(input)) {
    return { ok: false, reason: `is not a decimal number: ${quote(input)}` };
  }
  const [, exponent] = /[eE](.+)$/.exec(input) ?? [];
  const isWritable = exponent === undefined || Math.abs(Number(exponent)) <= MAX_DIGITS;
  const value = new Big(isWritable ? input : 0);
  const text = exponent === undefined ? input : value.toFixed();
  if (!isWritable || text.replace(/\D/g, '').length > MAX_DIGITS) {
    return { ok: false, reason: `has more than ${MAX_DIGITS} digits: ${quote(input)}` };
  }
  return { ok: true, text, value };
}

/** Tells whether two decimal texts are the same number (`1.50` and `1.5`); false when either is not a decimal. */
export function sameDecimal(left: string, right: string): boolean {
  const a = readDecimal(left);
  const b = readDecimal(right);
  return a.ok && b.ok && a.value.eq(b.value);
}

/** An exact running sum of decimal texts. */
export class DecimalSum {
  #sum = new Big(0);

  add(decimal: string | Big): void {
    this.#sum = this.#sum.plus(decimal);
  }

  subtract(text: string): void {
    this.#sum = this.#sum.minus(text);
  }

  /** The sum in plain digits, never with an exponent. */
  toString(): string {
    return this.#sum.toFixed();
  }
}
