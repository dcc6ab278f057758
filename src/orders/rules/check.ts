import { hasControlCharacter, isUnicode, quote } from '../../base/text.ts';
import { isSameCurrency, readDecimal } from '../../base/decimal.ts';
import { COLUMN_OF, type MerchantOrder, type UncheckedOrder } from './record.ts';

/** The most bytes of a URL-encoded id. Look-ups have it in the URL (§4.11), and many servers refuse URLs of 8 kB. */
export const MAX_ID_BYTES_ENCODED = 4_000;

const MAX_TEXT_LENGTH = 1_000;

/** The reason that a trigger of the database writes if a row is inserted with null for its account. */
export const NULL_ACCOUNT = 'account is null';
export const NULL_STANDS_FOR = 'default';

/** Why a row with a null account is invalid among several accounts: the wrong account's key might send the row. */
export const ACCOUNT_UNCLEAR = `${NULL_ACCOUNT}, and several accounts are configured: set it, or run orders retry if it is default`;

interface OrderProblem {
  readonly field: keyof MerchantOrder;
  readonly reason: string;
}

export type CheckedOrder = { ok: true; order: MerchantOrder } | { ok: false; problems: readonly OrderProblem[] };

type Reading = { readonly ok: true; readonly text: string | null } | { readonly ok: false; readonly reason: string };

const READERS: Readonly<Record<keyof MerchantOrder, (value: unknown) => Reading>> = {
  externalOrderId: readId,
  asset: readAsset,
  assetPosition: readText,
  fromCurrency: readCurrency,
  toCurrency: readCurrency,
  orderType: readText,
  limit: optional(readDecimal),
  paymentToken: optional(readText),
  providerType: optional(readText),
  cryptoAddress: optional(readText),
  bonus: optional(readBonus),
};
const FIELDS = Object.keys(READERS) as (keyof MerchantOrder)[];

/** Checks an order by the rules of the interface (§2.6, §8). Values that the interface leaves open pass unchanged. */
export function checkOrder(row: UncheckedOrder): CheckedOrder {
  const problems: OrderProblem[] = [];
  const read = FIELDS.map((field) => {
    const reading = READERS[field](row[field]);
    if (!reading.ok) problems.push({ field, reason: reading.reason });
    return [field, reading.ok ? reading.text : null];
  });
  const order = Object.fromEntries(read) as MerchantOrder;
  const hasPair = !problems.some(({ field }) => field === 'fromCurrency' || field === 'toCurrency');
  if (hasPair && isSameCurrency(order.fromCurrency, order.toCurrency)) {
    const reason = `must differ from ${COLUMN_OF.fromCurrency}, is ${quote(order.toCurrency)}`;
    problems.push({ field: 'toCurrency', reason });
  }
  return problems.length === 0 ? { ok: true, order } : { ok: false, problems };
}

export function describeProblems(problems: readonly OrderProblem[]): string {
  return problems.map(({ field, reason }) => `${COLUMN_OF[field]} ${reason}`).join('; ');
}

function refused(reason: string): Reading {
  return { ok: false, reason };
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function optional(read: (value: unknown) => Reading): (value: unknown) => Reading {
  return (value) => (isMissing(value) ? { ok: true, text: null } : read(value));
}

function readText(value: unknown): Reading {
  if (typeof value !== 'string') return refused(isMissing(value) ? 'is missing' : 'is not text');
  if (value.trim() === '') return refused('is empty');
  if (!isUnicode(value)) return refused('is not valid Unicode text');
  if (value.length > MAX_TEXT_LENGTH) return refused(`is longer than ${MAX_TEXT_LENGTH} characters`);
  return { ok: true, text: value };
}

function readCurrency(value: unknown): Reading {
  const reading = readText(value);
  return reading.ok && reading.text !== reading.text?.trim() ? refused('begins or ends with a blank') : reading;
}

/** An exchange may trim ids or drop control characters. The changed id could be the id of another order. */
function readId(value: unknown): Reading {
  if (typeof value !== 'string') return refused('is missing or not text');
  if (value === '') return refused('is empty');
  if (!isUnicode(value)) return refused('is not valid Unicode text');
  if (value.trim() !== value) return refused('begins or ends with a blank');
  if (hasControlCharacter(value)) return refused('contains a control character');
  if (value.length > MAX_ID_BYTES_ENCODED || encodeURIComponent(value).length > MAX_ID_BYTES_ENCODED) {
    return refused(`is too long to be looked up: more than ${MAX_ID_BYTES_ENCODED} bytes in a URL`);
  }
  return { ok: true, text: value };
}

function readAsset(value: unknown): Reading {
  const reading = readDecimal(value);
  if (!reading.ok) return isMissing(value) ? refused('is missing') : reading;
  return reading.value.gt(0) ? reading : refused(`must be positive, is ${quote(reading.text)}`);
}

function readBonus(value: unknown): Reading {
  const reading = readDecimal(value);
  return reading.ok && reading.value.lt(0) ? refused(`must not be negative, is ${quote(reading.text)}`) : reading;
}
