import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { isAfterEvent, orderOfEvents } from '../../../store/dialect.ts';
import type { Database, NewEvent } from '../../../store/port.ts';
import type { EventsTable } from '../../../store/schema.ts';
import { pagesAfter } from '../../../store/pages.ts';
import { hashedText } from '../../../store/tables/chain.ts';

const PAGE = 1_000;

export type KnownHead = Readonly<{ id: number; hash: string }>;

type StoredEvent = Omit<EventsTable, 'id'> & { readonly id: number };

/** Checks that each account's events form one chain up to the account's head, and that the event `known` is in one. */
export async function checkChains(db: Database, known?: KnownHead, onProgress?: (events: number) => void) {
  let isMet = false;
  // The heads are read first, because events that are written during the check come after these heads.
  const heads = new Map((await db.selectFrom('event_heads').selectAll().execute()).map((head) => [head.account, head]));
  const last = new Map<string, string>();
  let events = 0;
  const brokenAt = (id: number, why: string) => ({ events, broken: { id, why } });
  const read = async (place: Pick<StoredEvent, 'account' | 'id'> = { account: '', id: 0 }) => {
    const page = sql<StoredEvent>`select * from events where ${isAfterEvent(place)} order by ${orderOfEvents()} limit ${PAGE}`;
    return (await page.execute(db)).rows;
  };
  for await (const page of pagesAfter(PAGE, read)) {
    for (const event of page) {
      const why = problemOf(event, last.get(event.account) ?? '', event.id === known?.id ? known.hash : undefined);
      if (why !== undefined) return brokenAt(event.id, why);
      isMet ||= event.id === known?.id;
      last.set(event.account, event.hash);
      const head = heads.get(event.account);
      if (head?.id === event.id && head.hash === event.hash) heads.delete(event.account);
      events += 1;
    }
    onProgress?.(events);
  }
  for (const { account, id } of heads.values())
    return brokenAt(id, `this event, the newest of the account ${JSON.stringify(account)}, is missing or was changed`);
  return known === undefined || isMet
    ? { events, broken: null }
    : brokenAt(known.id, 'it was written down, and is not in the database');
}

function problemOf(event: StoredEvent, previousHash: string, known = event.hash): string | undefined {
  if (event.previous_hash !== previousHash)
    return 'an event before this one was removed, or this one was inserted later';
  const text = hashedText(previousHash, event satisfies NewEvent);
  if (hash('sha256', text) !== event.hash) return 'it was changed';
  return known === event.hash ? undefined : 'it differs from the event that was written down';
}
