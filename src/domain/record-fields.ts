/** The paths of all fields of an order record (§2.7), in the order of the document. */
export const RECORD_PATHS = [
  'externalOrderId',
  'merchant.id',
  'order.id',
  'order.number',
  'order.orderType',
  'order.exchangeType',
  'order.status',
  'order.resultMessage',
  'order.submitByResident',
  'order.creationDate',
  'order.modificationDate',
  'order.completionDate',
  'order.serverDate',
  'order.exchangeOperation.currencyPair.fromCurrency',
  'order.exchangeOperation.currencyPair.toCurrency',
  'order.exchangeOperation.inputAsset',
  'order.exchangeOperation.outputAsset',
  'order.exchangeOperation.ratio',
  'order.cryptoTransaction.currency',
  'order.cryptoTransaction.externalCryptoAddress',
  'order.cryptoTransaction.internalCryptoAddress',
  'order.cryptoTransaction.fee',
  'order.cryptoTransaction.feePaymentEnabledByClient',
  'order.cryptoTransaction.status',
  'order.cryptoTransaction.transactionHash',
  'order.fiatTransaction.currency',
  'order.fiatTransaction.internalToken',
  'order.fiatTransaction.link',
  'order.fiatTransaction.orderIdentity',
  'order.fiatTransaction.paymentToken',
  'order.fiatTransaction.paymentType',
  'order.fiatTransaction.processingBank',
  'order.fiatTransaction.providerType',
  'order.fiatTransaction.resultMessage',
  'order.fiatTransaction.status',
  'percent',
  'percentEnabled',
  'reward',
] as const;

/** The path of a field of an order record: the names that lead to it, joined by points. */
export type RecordPath = (typeof RECORD_PATHS)[number];

/** The paths of all fields of a pre-order (§2.6), in the order of the document. */
export const PRE_ORDER_PATHS = [
  'id',
  'asset',
  'assetPosition',
  'currencyPair.fromCurrency',
  'currencyPair.toCurrency',
  'externalOrderId',
  'orderType',
  'exchangeType',
  'limit',
  'paymentToken',
  'providerType',
  'cryptoAddress',
  'bonus',
] as const;

/** The fields of a body as text, numbers digit by digit as received. What is null or not given is left out. */
export interface BodyFields<Path extends string> {
  readonly documented: ReadonlyMap<Path, string>;
  /** By path, as JSON: fields that the document does not show, and those of it that are an object or an array. */
  readonly other: ReadonlyMap<string, string>;
}

/** The fields of an order record. */
export type RecordFields = BodyFields<RecordPath>;
