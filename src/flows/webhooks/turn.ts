import {
  newDelivery,
  subjectKindOf,
  takesType,
  type Delivery,
  type EventFilter,
} from '../../domain/events/delivery.ts';
import { feedEventOf, type EventRow } from '../../domain/events/feed.ts';
import type { DeliveryChanges, DueDelivery, EventInTurn } from '../../store/webhooks/deliveries.ts';

/** Rows of an account that are due at an endpoint, and the next events after its cursor. */
export interface Turn {
  readonly endpoint: { readonly name: string; readonly events: EventFilter };
  readonly due: readonly DueDelivery[];
  readonly page: readonly EventInTurn[];
}

/** Events of one subject that are sent one after the other: those of a page, or the one of a row. */
export interface SubjectEvents {
  readonly delivery?: Delivery;
  readonly events: readonly EventRow[];
}

/** What became of each event that was sent, by its id: taken, or the row that it is now. An event that is not in it was not sent. */
export type Results = ReadonlyMap<number, 'taken' | Delivery>;

/**
 * The events of a turn by subject, in the order in which they are sent. Events that the endpoint has failed at come last, the one
 * that has waited longest before the others: an event that it can never take would otherwise stop all others.
 */
export function subjectsOf({ endpoint, due, page }: Turn): readonly SubjectEvents[] {
  const bySubject = new Map<string, EventRow[]>();
  for (const event of page) {
    if (event.isBehind || !isWanted(endpoint, event)) continue;
    const events = bySubject.get(subjectKey(event));
    if (events === undefined) bySubject.set(subjectKey(event), [event]);
    else events.push(event);
  }
  const rows = due
    .filter(({ event }) => isWanted(endpoint, event))
    .map(({ delivery, event }) => ({ delivery, events: [event] }));
  const ofPage = [...bySubject.values()].map((events) => ({ events }));
  const isNew = ({ delivery }: { delivery: Delivery }) => delivery.failed_at === null;
  return [...rows.filter(isNew), ...ofPage, ...rows.filter((row) => !isNew(row))];
}

/**
 * Decides what a turn changes: which rows there are then, and where the cursor is. The cursor moves to the end of the page, or to the
 * last event of it that was sent: what comes before and was not taken becomes a row.
 */
export function endOfTurn(
  turn: Turn,
  results: Results,
  cursor: number,
): { readonly cursor: number; readonly changes: DeliveryChanges } {
  const { endpoint, due, page } = turn;
  const kept: Delivery[] = [];
  const ended: Delivery[] = [];
  const followed: Delivery[] = [];
  for (const { delivery, event } of due) {
    const result = results.get(event.id);
    const isEnded = result === 'taken' || !isWanted(endpoint, event);
    if (isEnded) ended.push(delivery);
    else if (result !== undefined) kept.push(result);
    if (isEnded || (result !== undefined && result.status === 'dead')) followed.push(delivery);
  }
  const sent = page.filter(({ id }) => results.has(id));
  const rows = rowsOf(turn, results);
  const isSentToTheEnd = rows.every(({ event_id, status }) => status !== 'waiting' || results.has(event_id));
  const end = (isSentToTheEnd ? page : sent).at(-1)?.id ?? cursor;
  kept.push(...rows.filter(({ event_id }) => event_id <= end));
  return { cursor: end, changes: { kept, ended, followed } };
}

/** The events of a page that were not taken, as rows. */
function rowsOf({ endpoint, page }: Turn, results: Results): readonly Delivery[] {
  const open = new Set<string>();
  const rows: Delivery[] = [];
  for (const event of page) {
    const subject = subjectKey(event);
    const result = results.get(event.id);
    if (result === 'taken' || !isWanted(endpoint, event)) continue;
    const isBehind = event.isBehind || open.has(subject);
    const row = result ?? newDelivery(endpoint.name, event, isBehind ? 'behind' : 'waiting');
    rows.push(row);
    if (row.status !== 'dead') open.add(subject);
  }
  return rows;
}

function isWanted({ events }: Turn['endpoint'], event: EventRow): boolean {
  return takesType(events, feedEventOf(event).type);
}

/** A name for what an event is about, within its account. */
function subjectKey({ type, subject }: Pick<EventRow, 'type' | 'subject'>): string {
  return `${subjectKindOf(type)} ${subject}`;
}
