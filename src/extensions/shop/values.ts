import type { OrderSyncEvent } from './event.ts';
import type { NewOrder, OrderState, Row } from './schema.ts';

/** Later versions of the exchange or of order-sync may have more fields. */
interface More {
  readonly [field: string]: unknown;
}

/** Fields that an answer may lack. Numbers of the exchange are text, which keeps every digit. */
type Texts<Name extends string> = More & { readonly [One in Name]?: string | null | undefined };

type CurrencyPair = Readonly<{ fromCurrency: string; toCurrency: string }>;

/** A pre-order, as the exchange answers. */
export interface PreOrder extends Texts<
  'assetPosition' | 'orderType' | 'exchangeType' | 'paymentToken' | 'providerType' | 'cryptoAddress' | 'limit' | 'bonus'
> {
  readonly id: string;
  readonly asset: string;
  readonly currencyPair?: CurrencyPair | null;
  readonly externalOrderId: string;
}

type CryptoTransaction = Texts<
  'currency' | 'externalCryptoAddress' | 'internalCryptoAddress' | 'fee' | 'status' | 'transactionHash'
>;

type FiatTransaction = Texts<
  'currency' | 'paymentType' | 'processingBank' | 'providerType' | 'resultMessage' | 'status'
>;

type ExchangeOperation = Texts<'inputAsset' | 'outputAsset' | 'ratio'> & {
  readonly currencyPair?: CurrencyPair | null;
};

type OrderTexts = Texts<
  | 'number'
  | 'orderType'
  | 'exchangeType'
  | 'resultMessage'
  | `${'creation' | 'modification' | 'completion' | 'server'}Date`
>;

/** An order record, as the exchange answers. */
export interface OrderRecord extends Texts<'percent' | 'reward'> {
  readonly externalOrderId: string;
  readonly merchant?: { readonly id: string } | null;
  readonly order: OrderTexts & {
    readonly id: string;
    readonly status: string;
    readonly exchangeOperation?: ExchangeOperation | null;
    readonly cryptoTransaction?: CryptoTransaction | null;
    readonly fiatTransaction?: FiatTransaction | null;
  };
  readonly percentEnabled?: boolean | null;
}

/** The columns of an order to add. Amounts are text. `OrderSync` adds the account. */
export type OrderToAdd = Readonly<Omit<NewOrder, 'account'>>;

export interface AddedOrder {
  readonly external_order_id: string;
  readonly state: OrderState;
}

export interface AdoptedOrder {
  readonly external_order_id: string;
  /** `present`: the table had the order; `absent`: the exchange lacks the order, so nothing was inserted. */
  readonly result: 'adopted' | 'present' | 'absent';
  readonly state: OrderState | null;
}

/** The columns of an order. A payment token is hidden. */
export type OrderRow = Readonly<Row<'merchant_orders'>>;

export type Finding = Readonly<Omit<Row<'findings'>, 'account' | 'changed_at'>>;
export type OrderFinding = Omit<Finding, 'id' | 'external_order_id'>;

export interface StoredOrder {
  readonly order: OrderRow;
  /** The newest events of the order, from old to new. */
  readonly events: readonly OrderSyncEvent[];
  readonly hasMoreEvents: boolean;
  readonly findings: readonly OrderFinding[];
  readonly hasMoreFindings: boolean;
}

export interface OrderList {
  readonly orders: readonly OrderRow[];
  /** Pass this as `after` to read the next page; null on the last page. */
  readonly next: string | null;
}

/** The history of an order and its next steps, in sentences for people. */
export interface Explanation extends More {
  readonly externalOrderId: string;
  readonly asOf: string;
  readonly state: OrderState | null;
  readonly outcome: string | null;
  readonly headline: string;
  readonly told: readonly { readonly at: string; readonly text: string }[];
  readonly next: readonly string[];
}

export interface FindingList {
  readonly findings: readonly Finding[];
  readonly next: string | null;
}

export interface Decided {
  readonly externalOrderId: string;
  readonly from: OrderState;
  readonly to: OrderState;
}

export interface Acknowledged {
  readonly id: number;
  readonly class: string;
  readonly externalOrderId: string | null;
}

export interface Holds {
  readonly holds: readonly More[];
}

export type Link = More & Readonly<{ linkId: string; status: string }>;
export type Validation = More & Readonly<{ status: string }>;

/** `token` is a secret. */
export type VerificationToken = More & Readonly<{ linkId: string; token: string; tokenValidTill: string }>;

/** `token` is a secret. */
export type SdkToken = More & Readonly<{ token: string; expiresAt: string }>;

export type PhotoRequest = More & Readonly<{ status: string; requestId: string }>;

/** Contains personal data. */
export type Customer = Texts<'customerNumber' | 'firstName' | 'lastName' | 'linkId'>;

/** Contains personal data. `token` is a secret. */
export type Card = Texts<'id' | 'bank' | 'country' | 'number' | 'token' | 'type'>;

export interface RememberedLink {
  readonly link_id: string;
  readonly reference: string | null;
  readonly source: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_checked_at: string;
  readonly missing_since: string | null;
}

/** `GET /status` in the OpenAPI document describes every field. */
export interface Status extends More {
  readonly asOf: string;
  readonly overview: More & {
    readonly orders: Readonly<Record<OrderState, number>>;
    readonly attention: readonly (More & { readonly externalOrderId: string; readonly state: OrderState })[];
    readonly lastEventAt: string | null;
  };
}

export interface SyncResult extends More {
  readonly end: 'done' | 'look' | 'out-of-reach' | 'out-of-time' | 'key-refused';
  readonly summary: Readonly<Record<string, number>>;
}
