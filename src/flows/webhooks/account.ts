import type { Clock } from '../../clock.ts';
import type { WebhookEndpoint } from '../../config/webhooks.ts';
import type { AccountLease, Store } from '../../store/port.ts';
import { moveWebhookCursor, webhookCursor } from '../../store/webhooks/cursors.ts';
import {
  dueDeliveries,
  eventsAfterCursor,
  nextAttempts,
  retryAtOnce,
  writeDeliveries,
  type DeliveryChanges,
} from '../../store/webhooks/deliveries.ts';
import type { Turn } from './turn.ts';

/** Events and rows of an account that are read at a time. */
export const PAGE = 100;

/** The events of one account on their way to one endpoint. */
export interface AccountDelivery {
  readonly account: string;
  readonly accountLease: AccountLease;
  /** As the owner of the account writes it. */
  readonly store: Store;
  /** The cursor; undefined until it is read. */
  cursor: number | undefined;
  /** The cursor as the database has it. */
  written: number | undefined;
  /** A turn writes the cursor together with rows. */
  isWriting: boolean;
  /** There may be events after the cursor. */
  isBehind: boolean;
  /** When the next row is due; undefined if the account has none. */
  dueAt: string | undefined;
  /** Events that were refused while the endpoint took nothing, which was not their fault. */
  refusedInVain: number[];
  isQueued: boolean;
  isRunning: boolean;
}

export function accountDelivery(accountLease: AccountLease, store: Store, dueAt: string | undefined): AccountDelivery {
  return {
    account: accountLease.account,
    accountLease,
    store,
    cursor: undefined,
    written: undefined,
    isWriting: false,
    isBehind: false,
    dueAt,
    refusedInVain: [],
    isQueued: false,
    isRunning: false,
  };
}

/** Tells whether a row of the account is due. */
export function isDueAt({ dueAt }: AccountDelivery, now: Date): boolean {
  return dueAt !== undefined && dueAt <= now.toISOString();
}

/** Tells whether the account may have events to send. */
export function hasWork(delivery: AccountDelivery, now: Date): boolean {
  return delivery.isBehind || isDueAt(delivery, now);
}

/** Reads the rows that are due, and the events after the cursor. */
export async function readTurn(
  delivery: AccountDelivery,
  endpoint: WebhookEndpoint,
  now: Date,
): Promise<Turn & { readonly cursor: number }> {
  const { account, store, isBehind } = delivery;
  const key = { endpoint: endpoint.name, account };
  delivery.written ??= await webhookCursor(store.db, key);
  delivery.cursor ??= delivery.written;
  const { cursor } = delivery;
  // Whoever adds events from now on says so again.
  delivery.isBehind = false;
  const due = isDueAt(delivery, now) ? await dueDeliveries(store.db, { ...key, now, limit: PAGE }) : [];
  const page = isBehind ? await eventsAfterCursor(store.db, { ...key, afterId: cursor, limit: PAGE }) : [];
  return { endpoint, due, page, cursor };
}

/** Writes rows and the cursor together: a process that is killed has written both or neither. */
export async function writeTurn(
  delivery: AccountDelivery,
  deps: { readonly endpoint: WebhookEndpoint; readonly clock: Pick<Clock, 'now'>; readonly stop: AbortSignal },
  cursor: number,
  changes: DeliveryChanges,
): Promise<void> {
  const { account, store } = delivery;
  delivery.isWriting = true;
  // A database that is locked is waited for: events that were taken would otherwise be sent once more.
  await store.writer.writeUntilDurable(
    async (tx) => {
      await writeDeliveries(tx, changes);
      if (cursor === delivery.written) return;
      await moveWebhookCursor(tx, { endpoint: deps.endpoint.name, account, eventId: cursor });
    },
    deps.stop,
    () => undefined,
  );
  delivery.written = cursor;
  delivery.isWriting = false;
}

/** Has the events sent at once that were refused while the endpoint took nothing. */
export async function retryAnew(delivery: AccountDelivery, endpoint: WebhookEndpoint, now: Date): Promise<void> {
  const { account, store } = delivery;
  const ids = [...delivery.refusedInVain];
  if (ids.length === 0) return;
  await store.writer.write(async (tx) => await retryAtOnce(tx, { endpoint: endpoint.name, account, ids, now }));
  delivery.refusedInVain = delivery.refusedInVain.slice(ids.length);
  await readDueAt(delivery, endpoint);
}

/** Reads when the next row of an account is due. */
export async function readDueAt(delivery: AccountDelivery, endpoint: WebhookEndpoint): Promise<void> {
  const { account, store } = delivery;
  // Due until it is known.
  delivery.dueAt = '';
  const next = await nextAttempts(store.db, { endpoint: endpoint.name, from: account, to: account });
  delivery.dueAt = next.get(account);
}
