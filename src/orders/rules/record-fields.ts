import { z } from 'zod';

// An exchange may leave a field out, add others, and write null: only ids and statuses are certain.
const text = z.string().nullish();
const number = z.number().nullish();
const flag = z.boolean().nullish();
const time = z.iso.datetime().nullish();
const part = <Shape extends z.core.$ZodShape>(shape: Shape) => z.looseObject(shape).nullish();
const currencyPair = part({ fromCurrency: z.string(), toCurrency: z.string() });

/** A pre-order (§2.6), in the order of the document. */
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

/** An order record (§2.7), in the order of the document. */
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

/** The paths in the fields of an object: the names that lead to each value, joined by points. */
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
/** The paths of its numbers: two texts of the same number are the same. */
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

/** The fields of a body as text, numbers digit by digit as received. What is null or not given is left out. */
export interface BodyFields<Path extends string> {
  readonly documented: ReadonlyMap<Path, string>;
  /** By path, as JSON: fields that the document does not show, and those of it that are an object or an array. */
  readonly other: ReadonlyMap<string, string>;
}

export type RecordFields = BodyFields<RecordPath>;
