/** What a shop imports from `order-sync/schema`: the tables that it writes and reads, for Kysely. */
export type {
  FindingsTable,
  MerchantOrdersTable,
  OrderEventsView,
  OrderRecordsTable,
  ReceivedBodiesTable,
} from '../src/store/schema.ts';
