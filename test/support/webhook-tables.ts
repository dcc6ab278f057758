import type { Kysely } from 'kysely';
import type { Tables } from '../../src/store/schema.ts';
import type { Delivery } from '../../src/extensions/webhooks/delivery.ts';

/** A receiver of events. `failing_since`, `next_try_at` and `cause` are set while the receiver takes no events. */
interface WebhookEndpointsTable {
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

/** Types the tables of webhooks, so that a test can read and write them. */
export function withWebhooks(db: Kysely<Tables>) {
  return db.withTables<{
    webhook_endpoints: WebhookEndpointsTable;
    webhook_cursors: WebhookCursorsTable;
    webhook_deliveries: Delivery;
  }>();
}
