import Big from 'big.js';
import { quote } from './text.ts';

/** More digits than any amount has, few enough that a hostile exponent cannot fill memory. */
export const MAX_DIGITS = 64;

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;

/** A decimal number read exactly, or the reason why the text is not one. */
export type DecimalReading = { ok: true; text: string; value: Big } | { ok: false; reason: string };

/**
 * Reads a decimal as a JSON number is written. A plain number keeps its digits as they stand (`1.50` stays `1.50`); one
 * with an exponent, as SQLite writes small and large reals, is written out.
 */
export function readDecimal(input: unknown): DecimalReading {
  if (typeof input !== 'string') return { ok: false, reason: 'is not a decimal number' };
  if (input.length > MAX_DIGITS * 2 || !DECIMAL.test(input)) {
    return { ok: false, reason: `is not a decimal number: ${quote(input)}` };
  }
  const exponent = Number(/[eE](.+)$/.exec(input)?.[1] ?? '0');
  if (Math.abs(exponent) > MAX_DIGITS)
    return { ok: false, reason: `has more than ${MAX_DIGITS} digits: ${quote(input)}` };
  const value = new Big(input);
  const text = exponent === 0 && !/[eE]/.test(input) ? input : value.toFixed();
  if (text.replace(/\D/g, '').length > MAX_DIGITS) {
    return { ok: false, reason: `has more than ${MAX_DIGITS} digits: ${quote(input)}` };
  }
  return { ok: true, text, value };
}

/** Whether two decimal texts are the same number: `1.50` equals `1.5`. False when either is not a decimal. */
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
