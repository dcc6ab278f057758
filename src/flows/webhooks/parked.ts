import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { WebhookEndpoint } from '../../config/webhooks.ts';
import {
  LAST_PARKED_WAIT_MS,
  parkedWaitMs,
  subjectKindOf,
  takesType,
  type DeliveryOutcome,
} from '../../domain/events/delivery.ts';
import { feedEventOf, type EventRow } from '../../domain/events/feed.ts';
import { after } from '../../domain/instant.ts';
import { addDeadLetter, eventsOfSubject, park, unpark, type ParkedRow } from '../../store/webhooks/parked.ts';
import type { AccountDelivery, Parked } from './account.ts';

/** What the events of a parked order are sent with. */
interface ParkedDeps {
  readonly endpoint: WebhookEndpoint;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Sends an event; undefined where nothing is to be sent now. */
  readonly send: (row: EventRow) => Promise<DeliveryOutcome | undefined>;
  /** The endpoint has taken others since: an event that it refuses to the end may become a dead letter. */
  readonly mayEnd: () => boolean;
}

/** What is parked when an endpoint refuses an event for the first time. */
export function newlyParked(
  endpoint: string,
  { account, type, subject, id }: EventRow,
  status: number,
  now: Date,
): ParkedRow {
  return {
    endpoint,
    account,
    kind: subjectKindOf(type),
    subject,
    from_event_id: id,
    tries: 1,
    next_try_at: after(now, parkedWaitMs(1) ?? 0).toISOString(),
    status,
    since: now.toISOString(),
  };
}

/**
 * Sends the event of an order that was refused, and then those that came behind it, up to the cursor of the account. Gives true
 * where the order has caught up, and is not parked any more.
 */
export async function sendParked(
  deps: ParkedDeps,
  its: Pick<AccountDelivery, 'store' | 'cursor' | 'taken'>,
  parked: Parked,
): Promise<boolean> {
  const { db, writer } = its.store;
  let { row } = parked;
  const firstId = row.from_event_id;
  const next = async (afterId: number): Promise<EventRow | undefined> =>
    (await eventsOfSubject(db, { ...row, afterId, toId: Math.max(its.cursor ?? 0, firstId), limit: 1 }))[0];
  // The last process may have parked what its cursor, as it is written, had not reached: whatever comes before was taken.
  let event = await next(Math.min(its.cursor ?? 0, firstId - 1));
  while (event !== undefined) {
    const isOpen = event.id >= firstId && event.id > parked.takenTo;
    const isWanted = isOpen && takesType(deps.endpoint.events, feedEventOf(event).type);
    const outcome = isWanted ? await deps.send(event) : undefined;
    if (outcome?.kind === 'taken') parked.takenTo = event.id;
    else if (isWanted) {
      const kept = keptAfter(deps, row, event.id, outcome);
      if (kept !== undefined) {
        if (kept !== row) await writer.write(async (tx) => await park(tx, kept));
        parked.row = kept;
        return false;
      }
      await giveUp(its, row, deps.clock.now());
      const { endpoint, account, kind, subject, from_event_id: eventId, status } = row;
      const facts = { endpoint, account, kind, subject, eventId, status };
      deps.log.warn(
        facts,
        'a webhook endpoint has refused an event to the end; order-sync webhooks resend sends it again',
      );
    }
    if (event.id > (its.cursor ?? 0)) its.taken.add(event.id);
    event = await next(event.id);
    if (event !== undefined && isWanted && outcome?.kind === 'refused') row = from(row, event.id);
  }
  await writer.write(async (tx) => await unpark(tx, row));
  return true;
}

/** What stays parked after an event was not taken; undefined where it becomes a dead letter. */
function keptAfter(
  { clock, mayEnd }: ParkedDeps,
  row: ParkedRow,
  eventId: number,
  outcome: DeliveryOutcome | undefined,
): ParkedRow | undefined {
  const isSame = eventId === row.from_event_id;
  // It is sent again when the endpoint is back; those before it were taken.
  if (outcome?.kind !== 'refused') return isSame ? row : from(row, eventId);
  const now = clock.now();
  const tries = (isSame ? row.tries : 0) + 1;
  const waitMs = parkedWaitMs(tries) ?? (mayEnd() ? undefined : LAST_PARKED_WAIT_MS);
  if (waitMs === undefined) return undefined;
  const since = isSame ? row.since : now.toISOString();
  const next_try_at = after(now, waitMs).toISOString();
  return { ...row, from_event_id: eventId, tries, since, next_try_at, status: outcome.status };
}

function from(row: ParkedRow, eventId: number): ParkedRow {
  return { ...row, from_event_id: eventId, tries: 0 };
}

/** The event stays as a dead letter, and the order goes on with the next one. */
export async function giveUp(
  { store }: Pick<AccountDelivery, 'store'>,
  { endpoint, account, from_event_id: event_id, status }: ParkedRow,
  now: Date,
): Promise<void> {
  const letter = { endpoint, account, event_id, status, at: now.toISOString() };
  await store.writer.write(async (tx) => await addDeadLetter(tx, letter));
}
