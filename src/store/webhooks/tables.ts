import type { SubjectKind } from '../../domain/events/delivery.ts';

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

/** A row of `webhook_cursors`: an endpoint has taken the events of an account up to this one, or has no need of them. */
export interface WebhookCursorsTable {
  endpoint: string;
  account: string;
  event_id: number;
}

/**
 * A row of `webhook_parked`: an endpoint has refused this event of an order, link or account, `tries` times; the later ones
 * of the same subject follow behind it.
 */
export interface WebhookParkedTable {
  endpoint: string;
  account: string;
  kind: SubjectKind;
  subject: string;
  from_event_id: number;
  tries: number;
  next_try_at: string;
  /** The HTTP status of the last refusal; 0 where it gave no answer, and answers others. */
  status: number;
  since: string;
}

/** A row of `webhook_dead_letters`: an event that an endpoint has refused to the end; `delivered_at` once it was resent. */
export interface WebhookDeadLettersTable {
  endpoint: string;
  account: string;
  event_id: number;
  status: number;
  at: string;
  delivered_at: string | null;
}
