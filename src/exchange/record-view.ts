import { LosslessNumber, isLosslessNumber } from 'lossless-json';
import { z } from 'zod';
import type { PreOrderView, RecordView } from '../domain/reconcile.ts';
import { preOrderSchema, readBody } from './wire.ts';

const text = z.string().nullish();
/** Compared as decimal text, every digit kept; of another type it is compared as nothing. */
const number = z
  .union([
    z.custom<LosslessNumber>(isLosslessNumber).transform(({ value }) => value),
    z.unknown().transform(() => null),
  ])
  .optional();
const flag = z.boolean().nullish();

const viewSchema = z.looseObject({
  externalOrderId: z.string(),
  merchant: z.looseObject({ id: text }).nullish(),
  percent: number,
  percentEnabled: flag,
  reward: number,
  order: z.looseObject({
    id: z.string(),
    number,
    orderType: text,
    exchangeType: text,
    status: z.string(),
    creationDate: text,
    modificationDate: text,
    completionDate: text,
    serverDate: text,
    exchangeOperation: z
      .looseObject({
        currencyPair: z.looseObject({ fromCurrency: text, toCurrency: text }).nullish(),
        inputAsset: number,
        outputAsset: number,
        ratio: number,
      })
      .nullish(),
    cryptoTransaction: z
      .looseObject({
        currency: text,
        externalCryptoAddress: text,
        internalCryptoAddress: text,
        fee: number,
        status: text,
        transactionHash: text,
      })
      .nullish(),
    fiatTransaction: z.looseObject({ currency: text, paymentToken: text, providerType: text, status: text }).nullish(),
  }),
});

/** The compared fields of an order record (§2.7), or undefined where the body cannot be read as one. */
export function readRecordView(body: string): RecordView | undefined {
  const record = readBody(viewSchema, body);
  if (record === undefined) return undefined;
  const { order } = record;
  const operation = order.exchangeOperation;
  const crypto = order.cryptoTransaction;
  const fiat = order.fiatTransaction;
  return {
    externalOrderId: record.externalOrderId,
    merchantId: record.merchant?.id ?? null,
    orderId: order.id,
    orderNumber: order.number ?? null,
    orderType: order.orderType ?? null,
    exchangeType: order.exchangeType ?? null,
    orderStatus: order.status,
    cryptoStatus: crypto?.status ?? null,
    fiatStatus: fiat?.status ?? null,
    creationDate: order.creationDate ?? null,
    modificationDate: order.modificationDate ?? null,
    completionDate: order.completionDate ?? null,
    serverDate: order.serverDate ?? null,
    fromCurrency: operation?.currencyPair?.fromCurrency ?? null,
    toCurrency: operation?.currencyPair?.toCurrency ?? null,
    inputAsset: operation?.inputAsset ?? null,
    outputAsset: operation?.outputAsset ?? null,
    ratio: operation?.ratio ?? null,
    cryptoCurrency: crypto?.currency ?? null,
    fiatCurrency: fiat?.currency ?? null,
    externalCryptoAddress: crypto?.externalCryptoAddress ?? null,
    internalCryptoAddress: crypto?.internalCryptoAddress ?? null,
    transactionHash: crypto?.transactionHash ?? null,
    fee: crypto?.fee ?? null,
    paymentToken: fiat?.paymentToken ?? null,
    providerType: fiat?.providerType ?? null,
    percent: record.percent ?? null,
    percentEnabled:
      record.percentEnabled === undefined || record.percentEnabled === null ? null : String(record.percentEnabled),
    reward: record.reward ?? null,
  };
}

/** The compared fields of a pre-order (§2.6), or undefined where the body cannot be read as one. */
export function readPreOrderView(body: string): PreOrderView | undefined {
  const preOrder = readBody(preOrderSchema, body);
  if (preOrder === undefined) return undefined;
  return {
    externalOrderId: preOrder.externalOrderId,
    asset: preOrder.asset,
    assetPosition: preOrder.assetPosition ?? '',
    fromCurrency: preOrder.currencyPair?.fromCurrency ?? '',
    toCurrency: preOrder.currencyPair?.toCurrency ?? '',
    orderType: preOrder.orderType ?? '',
    limit: preOrder.limit ?? null,
    paymentToken: preOrder.paymentToken ?? null,
    providerType: preOrder.providerType ?? null,
    cryptoAddress: preOrder.cryptoAddress ?? null,
    bonus: preOrder.bonus ?? null,
    exchangeType: preOrder.exchangeType ?? null,
  };
}
