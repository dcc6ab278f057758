/**
 * A row of `webhook_endpoints`: a receiver of events since it was first in the settings. `failing_since`, `next_try_at` and
 * `cause` are there while it takes none.
 */
export interface WebhookEndpointsTable {
  name: string;
  since: string;
  taken_at: string | null;
  failed_at: string | null;
  failing_since: string | null;
  next_try_at: string | null;
  cause: string | null;
}

/** A row of `webhook_cursors`: every event of an account up to this one is delivered, unwanted, or a row of `webhook_deliveries`. */
export interface WebhookCursorsTable {
  endpoint: string;
  account: string;
  event_id: number;
}
