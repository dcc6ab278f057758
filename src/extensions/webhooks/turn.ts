import type { WebhookEndpoint } from './settings.ts';
import { newDelivery, takesType, type Delivery, type EventFilter } from './delivery.ts';
import { feedEventOf, subjectKindOf, type EventRow } from '../feed/event.ts';
import type { AccountLease, Store, Transaction } from '../../store/port.ts';
import { moveWebhookCursor, webhookCursor } from './tables/endpoints.ts';
import { dueDeliveries, eventsAfterCursor, nextAttempts, retryAtOnce, writeDeliveries } from './tables/deliveries.ts';
import type { DeliveryChanges, DueDelivery, EventInTurn } from './tables/deliveries.ts';

export const PAGE = 100;

export class AccountDelivery {
  readonly key: Readonly<{ endpoint: string; account: string }>;
  readonly accountLease: AccountLease;
  readonly store: Store;
  cursor: number | undefined;
  written: number | undefined;
  /** True while a turn writes the cursor together with rows. */
  isWriting = false;
  isBehind = false;
  /** The ids of events that were refused while the endpoint accepted no event. */
  refusedInVain: number[] = [];
  isBusy = false;
  readonly #endpoint: WebhookEndpoint;
  #dueAt: string | undefined;

  constructor(endpoint: WebhookEndpoint, accountLease: AccountLease, store: Store, dueAt: string | undefined) {
    this.#endpoint = endpoint;
    this.key = { endpoint: endpoint.name, account: accountLease.account };
    this.accountLease = accountLease;
    this.store = store;
    this.#dueAt = dueAt;
  }

  isDueAt(now: Date): boolean {
    return this.#dueAt !== undefined && this.#dueAt <= now.toISOString();
  }

  hasWork(now: Date): boolean {
    return this.isBehind || this.isDueAt(now);
  }

  async readTurn(now: Date): Promise<Turn & { readonly cursor: number }> {
    const { isBehind, key, store } = this;
    this.written ??= await webhookCursor(store.db, key);
    const cursor = (this.cursor ??= this.written);
    // Events that are added from now on set `isBehind` again.
    this.isBehind = false;
    const due = this.isDueAt(now) ? await dueDeliveries(store.db, { ...key, limit: PAGE, now }) : [];
    const page = isBehind ? await eventsAfterCursor(store.db, { ...key, limit: PAGE, afterId: cursor }) : [];
    return { endpoint: this.#endpoint, due, page, cursor };
  }

  async writeTurn(cursor: number, changes: DeliveryChanges, stop: AbortSignal): Promise<void> {
    this.isWriting = true;
    const write = async (tx: Transaction) => {
      await writeDeliveries(tx, changes);
      if (cursor !== this.written) await moveWebhookCursor(tx, { ...this.key, eventId: cursor });
    };
    // The write waits for a locked database, because delivered events would otherwise be sent again.
    await this.store.writer.writeUntilDurable(write, stop, () => undefined);
    this.written = cursor;
    this.isWriting = false;
  }

  async writeCursor(): Promise<void> {
    const { cursor: eventId } = this;
    if (eventId === undefined) return;
    await this.store.writer.write(async (tx) => await moveWebhookCursor(tx, { ...this.key, eventId }));
    this.written = eventId;
  }

  async retryAnew(now: Date): Promise<void> {
    const ids = [...this.refusedInVain];
    if (ids.length === 0) return;
    await this.store.writer.write(async (tx) => await retryAtOnce(tx, { ...this.key, ids, now }));
    this.refusedInVain = this.refusedInVain.slice(ids.length);
    await this.readDueAt();
  }

  async readDueAt(): Promise<void> {
    const { endpoint, account } = this.key;
    // If the read fails, the account counts as due.
    this.#dueAt = '';
    const next = await nextAttempts(this.store.db, { endpoint, from: account, to: account });
    this.#dueAt = next.get(account);
  }
}

interface Turn {
  readonly endpoint: { readonly name: string; readonly events: EventFilter };
  readonly due: readonly DueDelivery[];
  readonly page: readonly EventInTurn[];
}

/** Events of one subject, sent one after the other: the events of a page, or the event of a row. */
export type SubjectEvents = Readonly<{ delivery?: Delivery; events: readonly EventRow[] }>;

/** The result of each sent event, by its id: `taken`, or the event's new row. */
export type Results = Map<number, 'taken' | Delivery>;

/** Groups the events of a turn by subject. Rows that failed before come last, because they may fail again. */
export function subjectsOf({ endpoint, due, page }: Turn): readonly SubjectEvents[] {
  const free = page.filter((event) => !event.isBehind && isWanted(endpoint, event));
  const bySubject = Map.groupBy(free, subjectKey);
  const rows = due
    .filter(({ event }) => isWanted(endpoint, event))
    .map(({ delivery, event }) => ({ delivery, events: [event] }));
  const ofPage = [...bySubject.values()].map((events) => ({ events }));
  const isNew = ({ delivery }: { delivery: Delivery }) => delivery.failed_at === null;
  return [...rows.filter(isNew), ...ofPage, ...rows.filter((row) => !isNew(row))];
}

/** Returns the new cursor and the changes of rows. Wanted events up to the cursor become rows unless accepted. */
export function endOfTurn(turn: Turn, results: Readonly<Results>, cursor: number) {
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

function rowsOf({ endpoint, page }: Turn, results: Readonly<Results>): readonly Delivery[] {
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

function subjectKey({ type, subject }: Pick<EventRow, 'type' | 'subject'>): string {
  return `${subjectKindOf(type)} ${subject}`;
}
