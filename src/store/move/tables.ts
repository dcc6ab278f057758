import type { Tables } from '../schema.ts';

/** Tables that are of one database: who works on it, and where it came from. */
type OwnTables = 'database_moves' | 'order_events';

/** A table that is copied. */
export type CopiedTable = Exclude<keyof Tables, OwnTables>;

/** Every table that is copied, with the columns by which its rows are told from each other. */
export const COPIED: Readonly<Record<CopiedTable, readonly string[]>> = {
  account_facts: ['account', 'name'],
  account_holds: ['account', 'kind'],
  account_owners: ['account'],
  event_heads: ['account'],
  events: ['id'],
  findings: ['id'],
  kept_answers: ['id'],
  links: ['account', 'link_id'],
  merchant_orders: ['account', 'external_order_id'],
  order_records: ['account', 'external_order_id'],
  photo_tokens: ['account', 'token_hash'],
  photos: ['id'],
  pre_orders: ['account', 'external_order_id'],
  request_leases: ['account'],
  seen_statuses: ['account', 'field', 'value'],
  webhook_cursors: ['account', 'endpoint'],
  webhook_deliveries: ['account', 'endpoint', 'event_id'],
  webhook_endpoints: ['name'],
};

/** Names of all copied tables. */
export const COPIED_TABLES = Object.keys(COPIED) as CopiedTable[];

/** The tables whose ids the database gives. */
export const NUMBERED_TABLES = COPIED_TABLES.filter((table) => COPIED[table][0] === 'id');

/** The columns of a copied table: of these both sides hold the same. */
export interface TableColumns {
  readonly table: CopiedTable;
  readonly columns: readonly { readonly name: string; readonly isNumber: boolean }[];
}

/** A row as texts: numbers in decimal. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Names a row for people: its table and its key. */
export function rowName(table: CopiedTable, row: Readonly<Record<string, unknown>>): string {
  const key = COPIED[table].map((column) => `${column} ${JSON.stringify(row[column] ?? null)}`);
  return `${table} (${key.join(', ')})`;
}
