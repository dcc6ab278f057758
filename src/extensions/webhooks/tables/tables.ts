import type { Kysely } from 'kysely';
import type { Tables } from '../../../store/schema.ts';
import type { Delivery } from '../delivery.ts';

/** A receiver of events. `failing_since`, `next_try_at` and `cause` are set while the receiver takes no events. */
export interface WebhookEndpointsTable {
  name: string;
  since: string;
  taken_at: string | null;
  failed_at: string | null;
  failing_since: string | null;
  next_try_at: string | null;
  cause: string | null;
}

/** Every event of an account up to this one is delivered, unwanted, or a row of `webhook_deliveries`. */
type WebhookCursorsTable = Readonly<{ endpoint: string; account: string; event_id: number }>;

/** Accounts, in the order of their names from one to another. */
export type AccountRange = Readonly<{ endpoint: string; from: string; to: string }>;

export function withWebhooks(db: Kysely<Tables>) {
  return db.withTables<{
    webhook_endpoints: WebhookEndpointsTable;
    webhook_cursors: WebhookCursorsTable;
    webhook_deliveries: Delivery;
  }>();
}
