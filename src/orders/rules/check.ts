import { hasControlCharacter, isUnicode, quote } from '../../base/text.ts';
import { isSameCurrency, readDecimal } from '../../base/decimal.ts';
import { COLUMN_OF, type MerchantOrder, type UncheckedOrder } from './record.ts';

/** The longest id in bytes of a URL: it is looked up in a query (§4.11), and servers refuse request lines of 8 kB. */
export const MAX_ID_BYTES_ENCODED = 4_000;

const MAX_TEXT_LENGTH = 1_000;

/** The reason that a guard of the database writes if a row is inserted with null for its account. */
export const NULL_ACCOUNT = 'account is null';
export const NULL_STANDS_FOR = 'default';

/** The reason if several accounts are configured: such a row is invalid, because another merchant's key may send it. */
export const WHOSE = `${NULL_ACCOUNT}, and several accounts are configured: set it, or run orders retry if it is default`;

interface OrderProblem {
  readonly field: keyof MerchantOrder;
  readonly reason: string;
}

export type CheckedOrder = { ok: true; order: MerchantOrder } | { ok: false; problems: readonly OrderProblem[] };

/** Checks an order by the rules of the interface (§2.6, §8). Values that the interface leaves open pass unchanged. */
export function checkOrder(row: UncheckedOrder): CheckedOrder {
  const problems: OrderProblem[] = [];
  const problem = (field: keyof MerchantOrder, reason: string) => problems.push({ field, reason });

  const text = (field: keyof MerchantOrder): string => {
    const value = row[field];
    const reason = textProblem(value);
    if (reason !== undefined) problem(field, reason);
    return value as string;
  };
  const currency = (field: 'fromCurrency' | 'toCurrency'): string => {
    const value = text(field);
    if (textProblem(value) === undefined && value.trim() !== value) problem(field, 'begins or ends with a blank');
    return value;
  };
  const optionalText = (field: keyof MerchantOrder) =>
    row[field] === null || row[field] === undefined ? null : text(field);
  const optionalDecimal = (field: keyof MerchantOrder): string | null => {
    if (row[field] === null || row[field] === undefined) return null;
    const reading = readDecimal(row[field]);
    if (reading.ok) return reading.text;
    problem(field, reading.reason);
    return null;
  };

  const order: MerchantOrder = {
    externalOrderId: checkedId(row.externalOrderId, problem),
    asset: checkedAsset(row.asset, problem),
    assetPosition: text('assetPosition'),
    fromCurrency: currency('fromCurrency'),
    toCurrency: currency('toCurrency'),
    orderType: text('orderType'),
    limit: optionalDecimal('limit'),
    paymentToken: optionalText('paymentToken'),
    providerType: optionalText('providerType'),
    cryptoAddress: optionalText('cryptoAddress'),
    bonus: optionalDecimal('bonus'),
  };
  const bonus = readDecimal(order.bonus);
  if (bonus.ok && bonus.value.lt(0)) problem('bonus', `must not be negative, is ${quote(bonus.text)}`);
  const hasPair = !problems.some(({ field }) => field === 'fromCurrency' || field === 'toCurrency');
  if (hasPair && isSameCurrency(order.fromCurrency, order.toCurrency)) {
    problem('toCurrency', `must differ from ${COLUMN_OF.fromCurrency}, is ${quote(order.toCurrency)}`);
  }
  return problems.length === 0 ? { ok: true, order } : { ok: false, problems };
}

export function describeProblems(problems: readonly OrderProblem[]): string {
  return problems.map(({ field, reason }) => `${COLUMN_OF[field]} ${reason}`).join('; ');
}

type Report = (field: keyof MerchantOrder, reason: string) => void;

function textProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return value === null || value === undefined ? 'is missing' : 'is not text';
  if (value.trim() === '') return 'is empty';
  if (!isUnicode(value)) return 'is not valid Unicode text';
  if (value.length > MAX_TEXT_LENGTH) return `is longer than ${MAX_TEXT_LENGTH} characters`;
  return undefined;
}

/** Exchanges trim ids and leave out control characters: the order would answer under another id, or for another's. */
function checkedId(value: unknown, problem: Report): string {
  if (typeof value !== 'string' || value === '') {
    problem('externalOrderId', typeof value === 'string' ? 'is empty' : 'is missing or not text');
    return '';
  }
  if (!isUnicode(value)) {
    problem('externalOrderId', 'is not valid Unicode text');
  } else if (value.trim() !== value) {
    problem('externalOrderId', 'begins or ends with a blank');
  } else if (hasControlCharacter(value)) {
    problem('externalOrderId', 'holds a control character');
  } else if (value.length > MAX_ID_BYTES_ENCODED || encodeURIComponent(value).length > MAX_ID_BYTES_ENCODED) {
    problem('externalOrderId', `is too long to be looked up: more than ${MAX_ID_BYTES_ENCODED} bytes in a URL`);
  }
  return value;
}

function checkedAsset(value: unknown, problem: Report): string {
  const reading = readDecimal(value);
  if (!reading.ok) {
    problem('asset', value === null || value === undefined ? 'is missing' : reading.reason);
    return '';
  }
  if (!reading.value.gt(0)) problem('asset', `must be positive, is ${quote(reading.text)}`);
  return reading.text;
}
