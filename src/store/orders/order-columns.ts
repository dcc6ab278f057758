import type { Selectable, Updateable } from 'kysely';
import { readTime } from '../../base/instant.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import type { Tracking } from '../../orders/rules/tracking.ts';
import { COLUMN_OF, type MerchantOrder, type UncheckedOrder } from '../../orders/rules/record.ts';
import type { MerchantOrdersTable } from '../schema.ts';

export type OrderRow = Selectable<MerchantOrdersTable>;
export type OrderKey = Pick<Tracking, 'account' | 'externalOrderId'>;

export type OrderColumn = (typeof COLUMN_OF)[keyof MerchantOrder];

export const ORDER_COLUMNS: readonly OrderColumn[] = Object.values(COLUMN_OF);

export type OrderColumns = Readonly<Record<OrderColumn, string | null>>;

const FIELDS = Object.entries(COLUMN_OF) as readonly (readonly [keyof MerchantOrder, OrderColumn])[];

export function columnsOf(order: MerchantOrder): OrderColumns {
  return Object.fromEntries(FIELDS.map(([field, column]) => [column, order[field]])) as OrderColumns;
}

const OPTIONAL: readonly string[] = ['limit', 'paymentToken', 'providerType', 'cryptoAddress', 'bonus'];

/** Reads the order that was sent. If the row was never sent, required fields that it lacks are empty text. */
export function sentOrderOf(row: OrderColumns): MerchantOrder {
  return uncheckedOrderOf(row, '') as MerchantOrder;
}

type Columns = Readonly<Partial<Record<OrderColumn, unknown>>>;

/** `missing` stands for each required field that the columns lack. */
export function uncheckedOrderOf(columns: Columns, missing: '' | null = null): UncheckedOrder {
  const order: Partial<Record<keyof MerchantOrder, unknown>> = {};
  for (const [field, column] of FIELDS) order[field] = columns[column] ?? (OPTIONAL.includes(field) ? null : missing);
  return order as UncheckedOrder;
}

/** Reads the columns that order-sync writes. An unreadable time is null, an unreadable count is 0. */
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

export type TrackedField = keyof Omit<Tracking, 'account' | 'externalOrderId'>;

const TRACKED_COLUMNS = Object.keys(trackingOf({} as OrderRow))
  .filter((field): field is TrackedField => field !== 'account' && field !== 'externalOrderId')
  .map(
    (field) => [field, field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as keyof OrderRow] as const,
  );

export const TRACKED_FIELDS = TRACKED_COLUMNS.map(([field]) => field);

export const ROW_COLUMNS: readonly (keyof OrderRow)[] = [
  'account',
  ...ORDER_COLUMNS,
  ...TRACKED_COLUMNS.map(([, column]) => column),
  'created_at',
  'updated_at',
];

/** Returns the columns of these fields. The values may be placeholders of a prepared statement. */
export function trackedColumnsOf(tracking: Tracking, fields: readonly TrackedField[]): Updateable<MerchantOrdersTable> {
  const tracked = TRACKED_COLUMNS.filter(([field]) => fields.includes(field));
  return Object.fromEntries(tracked.map(([field, column]) => [column, tracking[field]]));
}

/** Returns the fields that differ, and always the due time, because an unreadable due time reads as null. */
export function changedFields(before: Tracking, after: Tracking): readonly TrackedField[] {
  return TRACKED_FIELDS.filter((field) => field === 'nextActionAt' || textOf(before[field]) !== textOf(after[field]));
}

function textOf(value: Tracking[TrackedField]): string | number | null {
  return value instanceof Date ? value.getTime() : value;
}
