import { z } from 'zod';

/** An order as the merchant wrote it, checked and ready to be sent (§2.6). Amounts are exact decimal text. */
export type MerchantOrder = Readonly<Record<RequiredField, string> & Record<OptionalField, string | null>>;
type RequiredField = 'externalOrderId' | 'asset' | 'assetPosition' | 'fromCurrency' | 'toCurrency' | 'orderType';
type OptionalField = 'limit' | 'paymentToken' | 'providerType' | 'cryptoAddress' | 'bonus';

export const COLUMN_OF = {
  externalOrderId: 'external_order_id',
  asset: 'asset',
  assetPosition: 'asset_position',
  fromCurrency: 'from_currency',
  toCurrency: 'to_currency',
  orderType: 'order_type',
  limit: 'order_limit',
  paymentToken: 'payment_token',
  providerType: 'provider_type',
  cryptoAddress: 'crypto_address',
  bonus: 'bonus',
} as const satisfies Record<keyof MerchantOrder, string>;

export type UncheckedOrder = { readonly [Field in keyof MerchantOrder]: unknown };

/** The fields of a pre-order (§2.6) that are compared. Amounts are decimal text. */
export type PreOrderView = { readonly [Field in keyof MerchantOrder]: string | null };

/** The fields of an order record (§2.7) that are compared. Amounts are decimal text; null if missing. */
export type RecordView = Readonly<
  Record<'externalOrderId' | 'orderId' | 'orderStatus', string> &
    Record<OrderField | DateField | OperationField | CryptoField | FiatField | TermField, string | null>
>;
type OrderField = 'merchantId' | 'orderNumber' | 'orderType' | 'exchangeType';
type DateField = 'creationDate' | 'modificationDate' | 'completionDate' | 'serverDate';
type OperationField = 'fromCurrency' | 'toCurrency' | 'inputAsset' | 'outputAsset' | 'ratio';
type AddressField = 'externalCryptoAddress' | 'internalCryptoAddress';
type CryptoField = AddressField | 'cryptoStatus' | 'cryptoCurrency' | 'transactionHash';
type FiatField = 'fiatStatus' | 'fiatCurrency' | 'paymentToken' | 'providerType';
type TermField = 'percent' | 'percentEnabled' | 'reward' | 'fee';

/** An answer of the exchange that was received whole. The body may quote secrets of the request. */
export interface Answer {
  readonly httpStatus: number;
  readonly body: string;
}

export function isSuccess({ httpStatus }: Answer): boolean {
  return httpStatus >= 200 && httpStatus <= 299;
}

/** An expected value and the value found instead, as text. Secrets are named, not shown. */
export interface Difference {
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface EchoDifference extends Difference {
  readonly class: 'PREORDER_ECHO_MISMATCH' | 'PREORDER_TOKEN_MISMATCH';
}

// An exchange may leave out fields, add fields and write null, so most fields are optional.
const text = z.string().nullish();
const number = z.number().nullish();
const flag = z.boolean().nullish();
const time = z.iso.datetime().nullish();
const part = <Shape extends z.core.$ZodShape>(shape: Shape) => z.looseObject(shape).nullish();
const currencyPair = part({ fromCurrency: z.string(), toCurrency: z.string() });

/** A pre-order (§2.6), with its fields in the interface's sequence. */
export const PRE_ORDER = z.looseObject({
  id: z.string(),
  asset: z.number(),
  assetPosition: text,
  currencyPair,
  externalOrderId: z.string(),
  orderType: text,
  exchangeType: text,
  limit: number,
  paymentToken: text,
  providerType: text,
  cryptoAddress: text,
  bonus: number,
});

/** An order record (§2.7), with its fields in the interface's sequence. */
export const ORDER_RECORD = z.looseObject({
  externalOrderId: z.string(),
  merchant: part({ id: z.string() }),
  order: z.looseObject({
    id: z.string(),
    number,
    orderType: text,
    exchangeType: text,
    status: z.string(),
    resultMessage: text,
    submitByResident: flag,
    creationDate: time,
    modificationDate: time,
    completionDate: time,
    serverDate: time,
    exchangeOperation: part({ currencyPair, inputAsset: number, outputAsset: number, ratio: number }),
    cryptoTransaction: part({
      currency: text,
      externalCryptoAddress: text,
      internalCryptoAddress: text,
      fee: number,
      feePaymentEnabledByClient: flag,
      status: text,
      transactionHash: text,
    }),
    fiatTransaction: part({
      currency: text,
      internalToken: text,
      link: text,
      orderIdentity: text,
      paymentToken: text,
      paymentType: text,
      processingBank: text,
      providerType: text,
      resultMessage: text,
      status: text,
    }),
  }),
  percent: number,
  percentEnabled: flag,
  reward: number,
});

type PathIn<Shape> = {
  [Name in keyof Shape & string]: Shape[Name] extends
    | z.ZodObject<infer Inner>
    | z.ZodOptional<z.ZodNullable<z.ZodObject<infer Inner>>>
    ? `${Name}.${PathIn<Inner>}`
    : Name;
}[keyof Shape & string];

export type RecordPath = PathIn<(typeof ORDER_RECORD)['shape']>;
type PreOrderPath = PathIn<(typeof PRE_ORDER)['shape']>;

const RECORD_LEAVES = leavesOf(ORDER_RECORD) as readonly Leaf<RecordPath>[];
const PRE_ORDER_LEAVES = leavesOf(PRE_ORDER) as readonly Leaf<PreOrderPath>[];

export const RECORD_PATHS = RECORD_LEAVES.map(({ path }) => path);
/** The paths of the numbers of a record, which are compared by value, not by text. */
export const RECORD_NUMBERS = RECORD_LEAVES.filter(({ isNumber }) => isNumber).map(({ path }) => path);
export const PRE_ORDER_PATHS = PRE_ORDER_LEAVES.map(({ path }) => path);
export const PRE_ORDER_NUMBERS = PRE_ORDER_LEAVES.filter(({ isNumber }) => isNumber).map(({ path }) => path);

interface Leaf<Path extends string = string> {
  readonly path: Path;
  readonly isNumber: boolean;
}

function leavesOf({ shape }: z.ZodObject, above = ''): readonly Leaf[] {
  return Object.entries(shape).flatMap(([name, described]) => {
    const field = bare(described);
    const path = `${above}${name}`;
    return field instanceof z.ZodObject
      ? leavesOf(field, `${path}.`)
      : [{ path, isNumber: field instanceof z.ZodNumber }];
  });
}

function bare(field: z.core.$ZodType): z.core.$ZodType {
  return field instanceof z.ZodOptional || field instanceof z.ZodNullable ? bare(field.unwrap()) : field;
}

/** The fields of a body as text, numbers digit by digit as received. Fields that are null or missing are left out. */
export interface BodyFields<Path extends string> {
  readonly documented: ReadonlyMap<Path, string>;
  /** By path, as JSON: all other values, such as an undocumented field, or an array in a documented field. */
  readonly other: ReadonlyMap<string, string>;
}

export type RecordFields = BodyFields<RecordPath>;
