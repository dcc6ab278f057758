/** An order as the merchant wrote it, checked and ready to be sent (§2.6). Amounts are exact decimal text. */
export interface MerchantOrder {
  readonly externalOrderId: string;
  readonly asset: string;
  readonly assetPosition: string;
  readonly fromCurrency: string;
  readonly toCurrency: string;
  readonly orderType: string;
  readonly limit: string | null;
  readonly paymentToken: string | null;
  readonly providerType: string | null;
  readonly cryptoAddress: string | null;
  readonly bonus: string | null;
}

/** An order before it is checked: the values of the columns of a row, or of the fields of an import file. */
export type UncheckedOrder = { readonly [Field in keyof MerchantOrder]: unknown };

/** The fields of a pre-order (§2.6) that are compared. Amounts are decimal text. */
export type PreOrderView = { readonly [Field in keyof MerchantOrder]: string | null };

/** The fields of an order record (§2.7) that are compared. Amounts are decimal text; null if the exchange gave none. */
export interface RecordView {
  readonly externalOrderId: string;
  readonly merchantId: string | null;
  readonly orderId: string;
  readonly orderNumber: string | null;
  readonly orderType: string | null;
  readonly exchangeType: string | null;
  readonly orderStatus: string;
  readonly cryptoStatus: string | null;
  readonly fiatStatus: string | null;
  readonly creationDate: string | null;
  readonly modificationDate: string | null;
  readonly completionDate: string | null;
  readonly serverDate: string | null;
  readonly fromCurrency: string | null;
  readonly toCurrency: string | null;
  readonly inputAsset: string | null;
  readonly outputAsset: string | null;
  readonly ratio: string | null;
  readonly cryptoCurrency: string | null;
  readonly fiatCurrency: string | null;
  readonly externalCryptoAddress: string | null;
  readonly internalCryptoAddress: string | null;
  readonly transactionHash: string | null;
  readonly fee: string | null;
  readonly paymentToken: string | null;
  readonly providerType: string | null;
  readonly percent: string | null;
  readonly percentEnabled: string | null;
  readonly reward: string | null;
}

/** An answer of the exchange that was received whole. Its body may quote the request. */
export interface Answer {
  readonly httpStatus: number;
  readonly body: string;
}

export function isSuccess({ httpStatus }: Answer): boolean {
  return httpStatus >= 200 && httpStatus <= 299;
}

/** One value that differs between the two sides, as text. Secrets are named, not shown. */
export interface Difference {
  readonly expected: string | null;
  readonly actual: string | null;
}

/** A difference between a pre-order and its order, with its class of findings. */
export interface EchoDifference extends Difference {
  readonly class: 'PREORDER_ECHO_MISMATCH' | 'PREORDER_TOKEN_MISMATCH';
}
