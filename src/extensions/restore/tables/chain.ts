import { hash } from 'node:crypto';
import { isAfterEvent, orderOfEvents } from '../../../store/dialect.ts';
import type { Database, NewEvent } from '../../../store/port.ts';
import type { EventsTable } from '../../../store/schema.ts';
import { pagesAfter } from '../../../store/pages.ts';
import { hashedText } from '../../../store/tables/chain.ts';

const PAGE = 1_000;

interface ChainCheck {
  readonly events: number;
  readonly broken: { readonly id: number; readonly why: string } | null;
}

export type KnownHead = Readonly<{ id: number; hash: string }>;

type StoredEvent = Omit<EventsTable, 'id'> & { readonly id: number };

/** Checks that the events of each account form one chain up to its head, and that the `known` events are in it. */
export async function checkChains(
  db: Database,
  known: readonly KnownHead[] = [],
  onProgress?: (events: number) => void,
): Promise<ChainCheck> {
  const unmet = new Map(known.map(({ id, hash: expected }) => [id, expected]));
  // The heads are read first, because events that come meanwhile follow the head.
  const heads = new Map((await db.selectFrom('event_heads').selectAll().execute()).map((head) => [head.account, head]));
  const last = new Map<string, string>();
  let events = 0;
  const brokenAt = (id: number, why: string) => ({ events, broken: { id, why } });
  const read = async (place: Pick<StoredEvent, 'account' | 'id'> = { account: '', id: 0 }): Promise<StoredEvent[]> =>
    await db.selectFrom('events').selectAll().where(isAfterEvent(place)).orderBy(orderOfEvents()).limit(PAGE).execute();
  for await (const page of pagesAfter(PAGE, read)) {
    for (const event of page) {
      const why = problemOf(event, last.get(event.account) ?? '', unmet.get(event.id));
      if (why !== undefined) return brokenAt(event.id, why);
      unmet.delete(event.id);
      last.set(event.account, event.hash);
      const head = heads.get(event.account);
      if (head?.id === event.id && head.hash === event.hash) heads.delete(event.account);
      events += 1;
    }
    onProgress?.(events);
  }
  for (const { account, id } of heads.values())
    return brokenAt(id, `the newest event of the account ${JSON.stringify(account)} is not this one`);
  for (const id of unmet.keys()) return brokenAt(id, 'it was written down, and is not there');
  return { events, broken: null };
}

function problemOf(event: StoredEvent, previousHash: string, known = event.hash): string | undefined {
  if (event.previous_hash !== previousHash) return 'an event before it was removed, or it was put in between';
  const text = hashedText(previousHash, event satisfies NewEvent);
  if (hash('sha256', text) !== event.hash) return 'it was changed';
  return known === event.hash ? undefined : 'it is another one than the one that was written down';
}
