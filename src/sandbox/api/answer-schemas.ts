import { z } from 'zod';

const text = z.string();
const noText = z.string().nullable();
const time = z.iso.datetime();
const wholeSecond = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const currencyPair = z.strictObject({ fromCurrency: text, toCurrency: text });

const order = z.strictObject({
  id: text,
  number: z.number(),
  orderType: text,
  exchangeType: text,
  status: text,
  resultMessage: text,
  submitByResident: z.boolean(),
  creationDate: time,
  modificationDate: time,
  completionDate: time.optional(),
  serverDate: time,
  exchangeOperation: z.strictObject({
    currencyPair,
    inputAsset: z.number(),
    outputAsset: z.number(),
    ratio: z.number(),
  }),
  cryptoTransaction: z.strictObject({
    currency: text,
    externalCryptoAddress: text,
    internalCryptoAddress: text,
    fee: z.number(),
    feePaymentEnabledByClient: z.boolean(),
    status: text,
    transactionHash: text.optional(),
  }),
  fiatTransaction: z.strictObject({
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
});

/** The schemas of all answers (§2), for the OpenAPI description; a test compares them with real answers. */
export const ANSWERS = {
  Link: z.strictObject({ linkId: text, status: text }),
  Validation: z.strictObject({ status: z.literal('OK') }),
  VerificationToken: z.strictObject({ linkId: text, token: text, tokenValidTill: wholeSecond }),
  PhotosRequested: z.strictObject({ status: z.literal('ok') }),
  Customer: z.strictObject({ customerNumber: text, firstName: text, lastName: text, linkId: text }),
  Cards: z.array(
    z.strictObject({ id: text, bank: text, country: text, number: z.string().regex(/^\d+$/), token: text, type: text }),
  ),
  SdkToken: z.strictObject({ token: text, expiresAt: time }),
  PreOrder: z.strictObject({
    id: text,
    asset: z.number(),
    assetPosition: text,
    currencyPair,
    externalOrderId: text,
    orderType: text,
    exchangeType: text,
    limit: z.number().nullable(),
    paymentToken: noText,
    providerType: noText,
    cryptoAddress: noText,
    bonus: z.number().nullable(),
  }),
  Order: z.strictObject({
    externalOrderId: text,
    merchant: z.strictObject({ id: text }),
    order,
    percent: z.number(),
    percentEnabled: z.boolean(),
    reward: z.number(),
  }),
  Error: z.strictObject({ message: text, code: text, status: text.optional() }),
} as const;

/** The name of an answer. */
export type AnswerName = keyof typeof ANSWERS;
