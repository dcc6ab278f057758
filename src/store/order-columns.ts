import type { Selectable, Updateable } from 'kysely';
import { readTime } from '../domain/instant.ts';
import type { OrderState } from '../domain/orders/states.ts';
import type { Tracking } from '../domain/orders/tracking.ts';
import type { MerchantOrder, UncheckedOrder } from '../domain/record.ts';
import type { MerchantOrdersTable } from './schema.ts';

export type OrderRow = Selectable<MerchantOrdersTable>;

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
} as const satisfies Record<keyof MerchantOrder, keyof OrderRow>;

export type OrderColumn = (typeof COLUMN_OF)[keyof MerchantOrder];

export const ORDER_COLUMNS: readonly OrderColumn[] = Object.values(COLUMN_OF);

export type OrderColumns = Readonly<Record<OrderColumn, string | null>>;

const FIELDS = Object.entries(COLUMN_OF) as readonly (readonly [keyof MerchantOrder, OrderColumn])[];

export function columnsOf(order: MerchantOrder): OrderColumns {
  return Object.fromEntries(FIELDS.map(([field, column]) => [column, order[field]])) as OrderColumns;
}

/** Reads the merchant's columns of a row or of a file; they are not checked yet. */
export function uncheckedOrderOf(columns: Readonly<Partial<Record<OrderColumn, unknown>>>): UncheckedOrder {
  return Object.fromEntries(FIELDS.map(([field, column]) => [field, columns[column] ?? null])) as UncheckedOrder;
}

/** Reads a row as it was sent; one that never was may lack anything, and has empty text there. */
export function sentOrderOf(row: OrderColumns): MerchantOrder {
  const { asset, asset_position, from_currency, to_currency, order_type } = row;
  const required = { asset, asset_position, from_currency, to_currency, order_type };
  const filled = Object.entries(required).map(([column, value]) => [column, value ?? '']);
  return uncheckedOrderOf({ ...row, ...Object.fromEntries(filled) }) as MerchantOrder;
}

/** The column of each field that order-sync tracks, beside the key. */
const TRACKED_COLUMN_OF = {
  state: 'state',
  stateReason: 'state_reason',
  revision: 'revision',
  preOrderId: 'pre_order_id',
  exchangeType: 'exchange_type',
  orderId: 'order_id',
  orderStatus: 'order_status',
  cryptoStatus: 'crypto_status',
  fiatStatus: 'fiat_status',
  attempts: 'attempts',
  nextActionAt: 'next_action_at',
  lastLookupAt: 'last_lookup_at',
  sentAt: 'sent_at',
  changedAt: 'changed_at',
  modificationDate: 'modification_date',
  staleDate: 'stale_date',
  verifications: 'verifications',
  resends: 'resends',
  rechecks: 'rechecks',
  documentedAbsences: 'documented_absences',
  absentAt: 'absent_at',
  adoptedAt: 'adopted_at',
  forbiddenIn: 'forbidden_in',
  outcome: 'outcome',
  oursDespite: 'ours_despite',
  failOver: 'fail_over',
} as const satisfies Record<keyof Omit<Tracking, 'account' | 'externalOrderId'>, keyof OrderRow>;

export const ROW_COLUMNS: readonly (keyof OrderRow)[] = [
  'account',
  ...ORDER_COLUMNS,
  ...Object.values(TRACKED_COLUMN_OF),
  'created_at',
  'updated_at',
];

/** Gives the columns of what order-sync tracks, as `statement` stores them; it builds with placeholders, so by name. */
export function trackedColumnsOf(tracking: Tracking): Updateable<MerchantOrdersTable> {
  const columns = Object.entries(TRACKED_COLUMN_OF) as readonly [keyof typeof TRACKED_COLUMN_OF, keyof OrderRow][];
  return Object.fromEntries(columns.map(([field, column]) => [column, tracking[field]]));
}

/** Reads the columns of a row that order-sync writes; a time or a number that cannot be read must not stop other rows. */
export function trackingOf(row: OrderRow): Tracking {
  return {
    account: row.account,
    externalOrderId: row.external_order_id,
    state: row.state as OrderState,
    stateReason: row.state_reason,
    revision: row.revision,
    preOrderId: row.pre_order_id,
    exchangeType: row.exchange_type,
    orderId: row.order_id,
    orderStatus: row.order_status,
    cryptoStatus: row.crypto_status,
    fiatStatus: row.fiat_status,
    attempts: count(row.attempts),
    nextActionAt: readTime(row.next_action_at),
    lastLookupAt: readTime(row.last_lookup_at),
    sentAt: readTime(row.sent_at),
    changedAt: readTime(row.changed_at),
    modificationDate: row.modification_date,
    staleDate: row.stale_date,
    verifications: count(row.verifications),
    resends: count(row.resends),
    rechecks: count(row.rechecks),
    documentedAbsences: count(row.documented_absences),
    absentAt: readTime(row.absent_at),
    adoptedAt: readTime(row.adopted_at),
    forbiddenIn: count(row.forbidden_in),
    outcome: row.outcome === 'succeeded' || row.outcome === 'failed' ? row.outcome : null,
    oursDespite: row.ours_despite,
    failOver: row.fail_over,
  };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) ? Number(value) : 0;
}
