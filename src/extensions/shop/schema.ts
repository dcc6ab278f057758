const columns =
  <const Type extends string>(type: Type) =>
  <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, type])) as { readonly [One in Name]: Type };
const [texts, nullable, integers] = [columns('text'), columns('text?'), columns('integer')];

/** The columns of the tables that a shop reads or writes. `?` marks a column that may be null. */
export const TABLES = {
  merchant_orders: {
    ...texts('account', 'external_order_id'),
    ...nullable('asset', 'asset_position', 'from_currency', 'to_currency', 'order_type', 'order_limit'),
    ...nullable('payment_token', 'provider_type', 'crypto_address', 'bonus'),
    ...texts('state'),
    ...nullable('state_reason'),
    ...integers('revision'),
    ...nullable('pre_order_id', 'exchange_type', 'order_id', 'order_status', 'crypto_status', 'fiat_status'),
    ...integers('attempts'),
    ...nullable('next_action_at', 'outcome', 'last_lookup_at'),
    ...texts('created_at', 'updated_at'),
  },
  order_events: {
    ...integers('id'),
    ...texts('account', 'external_order_id', 'field'),
    ...nullable('old_value', 'new_value'),
    ...texts('observed_at'),
    ...nullable('exchange_time'),
    ...texts('source'),
    ...nullable('reason', 'actor'),
  },
  order_records: { account: 'text', external_order_id: 'text', body: 'text', received_at: 'text' },
  pre_orders: { account: 'text', external_order_id: 'text', body: 'text', received_at: 'text' },
  findings: {
    ...integers('id'),
    ...texts('account', 'class', 'severity'),
    ...nullable('external_order_id', 'expected', 'actual'),
    ...texts('first_seen_at', 'last_seen_at', 'status'),
    ...nullable('changed_by', 'reason', 'changed_at', 'resolved_at'),
  },
  account_holds: { account: 'text', kind: 'text', since: 'text', until: 'text?', reason: 'text', actor: 'text?' },
} as const;

/** The columns of `merchant_orders` that an insert needs. A shop may also write the columns of `OPTIONAL`. */
export const REQUIRED = ['external_order_id', 'asset', 'from_currency', 'to_currency'] as const;
export const OPTIONAL = [
  'account',
  'asset_position',
  'order_type',
  'order_limit',
  'payment_token',
  'provider_type',
  'crypto_address',
  'bonus',
] as const;

type TableName = keyof typeof TABLES;
type Columns<Table extends TableName> = (typeof TABLES)[Table];
type Required = (typeof REQUIRED)[number];
type Optional = (typeof OPTIONAL)[number];

export type OrderState =
  | 'pending'
  | 'sending'
  | 'unknown'
  | 'held'
  | 'accepted'
  | 'open'
  | 'disputed'
  | 'final'
  | 'rejected'
  | 'invalid'
  | 'cancelled'
  | 'abandoned';

interface Narrowed {
  state: OrderState;
  outcome: 'succeeded' | 'failed' | null;
  severity: 'error' | 'warning' | 'info';
  status: 'open' | 'acknowledged' | 'resolved';
}

type Read<Name, Type> = Name extends keyof Narrowed
  ? Narrowed[Name]
  : Type extends 'integer'
    ? number
    : Type extends 'text'
      ? string
      : string | null;

export type Row<Table extends TableName> = {
  -readonly [Name in keyof Columns<Table>]: Read<Name, Columns<Table>[Name]>;
};

export type NewOrder = { [Name in Required]: string } & { [Name in Optional]?: string | null };

/** Has the form of Kysely's `ColumnType`, so that this file need not import Kysely. */
type Column<Select, Insert, Update> = Readonly<{ __select__: Select; __insert__: Insert; __update__: Update }>;

export type MerchantOrdersTable = {
  [Name in keyof Row<'merchant_orders'>]: Name extends keyof NewOrder
    ? Column<Row<'merchant_orders'>[Name], NewOrder[Name], NewOrder[Name]>
    : Column<Row<'merchant_orders'>[Name], never, never>;
};

type ReadOnly<Table extends TableName> = {
  [Name in keyof Row<Table>]: Column<Row<Table>[Name], never, never>;
};

export type OrderEventsView = ReadOnly<'order_events'>;
export type OrderRecordsTable = ReadOnly<'order_records'>;
export type ReceivedBodiesTable = ReadOnly<'pre_orders'>;
export type FindingsTable = ReadOnly<'findings'>;
export type AccountHoldsTable = ReadOnly<'account_holds'>;

/** The tables of a shop, for `new Kysely<ShopTables>(…)`. */
export interface ShopTables {
  merchant_orders: MerchantOrdersTable;
  order_events: OrderEventsView;
  order_records: OrderRecordsTable;
  pre_orders: ReceivedBodiesTable;
  findings: FindingsTable;
  account_holds: AccountHoldsTable;
}

type Builder = { notNull(): unknown };
type GeneratedBuilder<As> = Builder & { generatedAlwaysAs(as: As): unknown };

/** The builders of columns of `drizzle-orm/sqlite-core` or `drizzle-orm/pg-core`. */
export interface Builders<Text, Integer, Nothing> {
  readonly text: () => Text;
  readonly integer: () => Integer;
  /** Pass sql`null`. It marks a column that only order-sync writes, so that inserts leave the column out. */
  readonly nothing: Nothing;
}

type NotNull<Of> = Of extends Builder ? ReturnType<Of['notNull']> : never;
type OfOrderSync<Of> = Of extends { generatedAlwaysAs(as: never): infer Generated } ? Generated : never;
type Typed<Type, Text, Integer> = Type extends 'integer'
  ? NotNull<OfOrderSync<Integer>>
  : Type extends 'text'
    ? NotNull<OfOrderSync<Text>>
    : OfOrderSync<Text>;

export type DrizzleColumns<Table extends TableName, Text, Integer> = {
  [Name in keyof Columns<Table>]: Table extends 'merchant_orders'
    ? Name extends Required
      ? NotNull<Text>
      : Name extends Optional
        ? Text
        : Typed<Columns<Table>[Name], Text, Integer>
    : Typed<Columns<Table>[Name], Text, Integer>;
};

/** Returns the columns of a table for Drizzle's `sqliteTable` or `pgTable`. */
export function drizzleColumns<
  Table extends TableName,
  Text extends GeneratedBuilder<Nothing>,
  Integer extends GeneratedBuilder<Nothing>,
  Nothing,
>(table: Table, { text, integer, nothing }: Builders<Text, Integer, Nothing>): DrizzleColumns<Table, Text, Integer> {
  const declared = Object.entries<string>(TABLES[table]).map(([name, type]) => {
    const column = type === 'integer' ? integer() : text();
    if (table === 'merchant_orders') {
      if ((REQUIRED as readonly string[]).includes(name)) return [name, column.notNull()];
      if ((OPTIONAL as readonly string[]).includes(name)) return [name, column];
    }
    const generated = column.generatedAlwaysAs(nothing) as Builder;
    return [name, type.endsWith('?') ? generated : generated.notNull()];
  });
  return Object.fromEntries(declared) as DrizzleColumns<Table, Text, Integer>;
}
