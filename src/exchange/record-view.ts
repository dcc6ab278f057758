import { isLosslessNumber, stringify } from 'lossless-json';
import { isDecimal } from '../base/decimal.ts';
import { type RecordView, RECORD_PATHS, type BodyFields, type RecordFields } from '../orders/rules/record.ts';
import { readJson, readUnambiguous, withDigits } from './json.ts';
import { storable } from '../base/text.ts';

/** In characters. A longer status makes the record unreadable, because the database stores each status. */
const LONGEST_STATUS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads an order record (§2.7). A field of a wrong type counts as missing.
 * Returns undefined if `externalOrderId`, `order.id`, the status or another deciding field cannot be read.
 */
export function readRecordView(body: string): RecordView | undefined {
  const record = fields(readJson(body));
  const order = fields(record['order']);
  const crypto = fields(order['cryptoTransaction']);
  const fiat = fields(order['fiatTransaction']);
  const [externalOrderId, id, status] = [record['externalOrderId'], order['id'], order['status']].map(withDigits);
  if (!isText(externalOrderId) || !isText(id) || !isStatus(status) || !isDecisive(order)) return undefined;
  const operation = fields(order['exchangeOperation']);
  const pair = fields(operation['currencyPair']);
  const { percentEnabled } = record;
  return {
    externalOrderId,
    merchantId: filled(withDigits(fields(record['merchant'])['id'])),
    orderId: storable(id),
    orderNumber: number(order['number']),
    orderType: filled(order['orderType']),
    exchangeType: filled(order['exchangeType']),
    orderStatus: storable(status),
    cryptoStatus: text(withDigits(crypto['status'])),
    fiatStatus: text(withDigits(fiat['status'])),
    creationDate: text(order['creationDate']),
    modificationDate: text(order['modificationDate']),
    completionDate: text(order['completionDate']),
    serverDate: text(order['serverDate']),
    fromCurrency: filled(pair['fromCurrency']),
    toCurrency: filled(pair['toCurrency']),
    inputAsset: number(operation['inputAsset']),
    outputAsset: number(operation['outputAsset']),
    ratio: number(operation['ratio']),
    cryptoCurrency: filled(crypto['currency']),
    fiatCurrency: filled(fiat['currency']),
    externalCryptoAddress: filled(crypto['externalCryptoAddress']),
    internalCryptoAddress: filled(crypto['internalCryptoAddress']),
    transactionHash: filled(crypto['transactionHash']),
    fee: number(crypto['fee']),
    paymentToken: filled(fiat['paymentToken']),
    providerType: filled(fiat['providerType']),
    percent: number(record['percent']),
    percentEnabled: typeof percentEnabled === 'boolean' ? String(percentEnabled) : null,
    reward: number(record['reward']),
  };
}

/** True if each field on which a decision about the order depends is missing or can be read. */
function isDecisive(order: Fields): boolean {
  const texts = ['exchangeType', 'modificationDate', 'completionDate', 'serverDate'];
  const transactions = [order['cryptoTransaction'], order['fiatTransaction']];
  return (
    texts.every((name) => isNone(order[name]) || isText(withDigits(order[name]))) &&
    transactions.every((transaction) => isNone(transaction) || hasReadableStatus(transaction))
  );
}

function hasReadableStatus(transaction: unknown): boolean {
  return isObject(transaction) && (isNone(transaction['status']) || isStatus(withDigits(transaction['status'])));
}

function isNone(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isStatus(value: unknown): value is string {
  return isText(value) && value.length <= LONGEST_STATUS;
}

/** Reads a pre-order (§2.6); undefined if an id is missing. An echoed field of a wrong type becomes the type's name. */
export function readPreOrderBody(body: string) {
  const preOrder = fields(readUnambiguous(body));
  const [id, externalOrderId] = [preOrder['id'], preOrder['externalOrderId']].map(withDigits);
  if (!isText(id) || id === '' || !isText(externalOrderId)) return undefined;
  const pair = fields(preOrder['currencyPair']);
  return {
    id,
    externalOrderId,
    exchangeType: preOrder['exchangeType'],
    asset: echoedNumber(preOrder['asset']),
    assetPosition: echoedText(preOrder['assetPosition']),
    fromCurrency: echoedText(pair['fromCurrency']),
    toCurrency: echoedText(pair['toCurrency']),
    orderType: echoedText(preOrder['orderType']),
    limit: echoedNumber(preOrder['limit']),
    paymentToken: echoedText(preOrder['paymentToken']),
    providerType: echoedText(preOrder['providerType']),
    cryptoAddress: echoedText(preOrder['cryptoAddress']),
    bonus: echoedNumber(preOrder['bonus']),
  };
}

function echoedText(value: unknown): string | null {
  return typeof value === 'string' || value === undefined || value === null ? (value ?? null) : nameOfType(value);
}

function echoedNumber(value: unknown): string | null {
  if (isNone(value)) return null;
  return isLosslessNumber(value) ? value.value : nameOfType(value);
}

function nameOfType(value: unknown): string {
  if (isLosslessNumber(value)) return '(a number)';
  if (Array.isArray(value)) return '(an array)';
  return typeof value === 'object' ? '(an object)' : `(a ${typeof value})`;
}

export function readExchangeType(preOrderBody: string): string | null {
  return filled(fields(readJson(preOrderBody))['exchangeType']);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? storable(value) : null;
}

/** Returns a text; null if it is empty, because an exchange may send empty text for a field without a value. */
function filled(value: unknown): string | null {
  return value === '' ? null : text(value);
}

function number(value: unknown): string | null {
  return isLosslessNumber(value) && isDecimal(value.value) ? value.value : null;
}

const RECORD: ReadonlySet<string> = new Set(RECORD_PATHS);

export function readRecordFields(body: string): RecordFields {
  return readFields(body, RECORD);
}

/** Sorts the fields of a body into documented and other ones, without nulls. A body that is no JSON has no fields. */
export function readFields<Path extends string>(body: string, paths: ReadonlySet<string>): BodyFields<Path> {
  const documented = new Map<Path, string>();
  const other = new Map<string, string>();
  const readEach = (parts: Fields, above: string) => {
    for (const [name, value] of Object.entries(parts)) {
      if (isNone(value)) continue;
      // A name that contains a point is quoted, because a point separates the names of a path.
      const path = above + (name.includes('.') ? JSON.stringify(name) : name);
      const scalar = paths.has(path) ? scalarText(value) : undefined;
      if (scalar !== undefined) documented.set(path as Path, scalar);
      else if (isObject(value)) readEach(value, `${path}.`);
      else other.set(path, stringify(value) ?? '');
    }
  };
  const value = readJson(body);
  if (isObject(value)) readEach(value, '');
  else if (!isNone(value)) other.set('', stringify(value) ?? '');
  return { documented, other };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'boolean' ? String(value) : undefined;
}
