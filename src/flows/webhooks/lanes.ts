import { takesType, type EventFilter } from '../../domain/events/delivery.ts';
import { feedEventOf, type EventRow } from '../../domain/events/feed.ts';
import { eventKey, subjectKey, type AccountDelivery } from './account.ts';

/** Events of one order, link or account, the next one first. */
interface Lane {
  /** Names the first of them. */
  readonly name: string;
  readonly rows: EventRow[];
}

/** What is parked and to be sent again. */
export interface DueParked {
  /** Names the event that is sent first. */
  readonly name: string;
  /** Its name in the account. */
  readonly key: string;
}

/** Gives the events of a page that are to be sent, by what they are about, and the ids of the others. */
export function lanesOf(
  { taken, parked }: Pick<AccountDelivery, 'taken' | 'parked'>,
  rows: readonly EventRow[],
  filter: EventFilter,
): { readonly lanes: readonly Lane[]; readonly passed: Set<number> } {
  const passed = new Set<number>();
  const lanes = new Map<string, Lane>();
  for (const row of rows) {
    const subject = subjectKey(row);
    const isWanted = takesType(filter, feedEventOf(row).type);
    const lane = lanes.get(subject);
    if (!isWanted || taken.has(row.id) || parked.has(subject)) passed.add(row.id);
    else if (lane === undefined) lanes.set(subject, { name: eventKey(row), rows: [row] });
    else lane.rows.push(row);
  }
  return { lanes: [...lanes.values()], passed };
}

/** Gives what is to be sent again by now. */
export function dueParked({ account, parked }: AccountDelivery, now: string): readonly DueParked[] {
  const due = [...parked].filter(([, { row }]) => row.next_try_at <= now);
  return due.map(([key, { row }]) => ({ key, name: eventKey({ account, id: row.from_event_id }) }));
}
