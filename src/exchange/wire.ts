import { LosslessNumber, parse, stringify } from 'lossless-json';
import { z } from 'zod';
import type { MerchantOrder } from '../domain/orders/states.ts';

/** Deeper than any answer of the interface; lossless-json reads by recursion. */
const MAX_DEPTH = 50;

const text = z.string().nullish();
/** Every status is recorded; one that is longer than this is none. */
const statusText = z.string().max(1_000);

/**
 * A pre-order (§2.6). Only the two ids must be as the document says: whatever else differs, the exchange has made it,
 * and its id must not be lost. Enumerations are open, unknown fields are kept.
 */
export const preOrderSchema = z.looseObject({
  id: z.string().min(1),
  externalOrderId: z.string(),
  currencyPair: z.looseObject({}).nullish().catch(null),
});

/** A pre-order as received. */
export type PreOrder = z.output<typeof preOrderSchema>;

/** The fields of an order record (§2.7) that decide something, and must be as the document says. */
export const orderRecordSchema = z.object({
  externalOrderId: z.string(),
  order: z.object({
    id: z.string(),
    exchangeType: text,
    status: statusText,
    modificationDate: text,
    completionDate: text,
    serverDate: text,
    cryptoTransaction: z.object({ status: statusText.nullish() }).nullish(),
    fiatTransaction: z.object({ status: statusText.nullish() }).nullish(),
  }),
});

/** The error body (§7). §4.5 shows one without `status`. */
export const errorSchema = z.looseObject({ message: z.string(), code: z.string(), status: z.string().optional() });

/** An error body as received. */
export type ErrorBody = z.output<typeof errorSchema>;

/** A body read against its schema, or undefined where it cannot be. Numbers keep their digits unless `read` says otherwise. */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  body: string,
  read: (body: string) => unknown = parse,
): z.output<Schema> | undefined {
  try {
    if (isTooDeep(body)) return undefined;
    const result = schema.safeParse(read(body));
    return result.success ? result.data : undefined;
  } catch {
    // Not JSON. The error's text quotes the body, so it is not passed on.
    return undefined;
  }
}

/** The body of §4.9: amounts with every digit, fields that are not given left out. */
export function preOrderBody(order: MerchantOrder): string {
  const number = (decimal: string | null) => (decimal === null ? undefined : new LosslessNumber(decimal));
  const body = stringify({
    externalOrderId: order.externalOrderId,
    asset: number(order.asset),
    assetPosition: order.assetPosition,
    currencyPair: { fromCurrency: order.fromCurrency, toCurrency: order.toCurrency },
    orderType: order.orderType,
    limit: number(order.limit),
    paymentToken: order.paymentToken ?? undefined,
    providerType: order.providerType ?? undefined,
    cryptoAddress: order.cryptoAddress ?? undefined,
    bonus: number(order.bonus),
  });
  if (body === undefined) throw new Error('an order gave no JSON');
  return body;
}

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [34, 92, 91, 93, 123, 125] as const;

/** Counts brackets outside strings, so that a hostile answer cannot overflow the stack of the parser. */
export function isTooDeep(body: string): boolean {
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    const character = body.charCodeAt(index);
    if (character === QUOTE) index = endOfString(body, index);
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) depth += 1;
    else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Where the string that begins at `start` ends: at the next quote that is not escaped. */
function endOfString(body: string, start: number): number {
  for (let index = start + 1; index < body.length; index += 1) {
    const character = body.charCodeAt(index);
    if (character === BACKSLASH) index += 1;
    else if (character === QUOTE) return index;
  }
  return body.length;
}
