import type { Assumption } from '../../domain/orders/create.ts';
import { accountsIn, nextGeneration } from '../../store/accounts.ts';
import { setHold } from '../../store/account-holds.ts';
import { endStop } from '../../store/account-stops.ts';
import { insertHappenings, newestEventTime } from '../../store/events.ts';
import { forgetMove } from '../../store/moves.ts';
import { orderIds } from '../../store/orders.ts';
import { findOrders } from '../../store/find-orders.ts';
import type { MissingTime, Transaction } from '../../store/port.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { assumeOrderSent, type Assuming } from './assume-sent.ts';

/** The dependencies: no process owns the accounts meanwhile, and the store is opened as a restored one. */
export type RestoreDeps = Assuming & Pick<FlowDeps, 'store'> & { readonly accounts: readonly string[] };

/** A person's decision about a database that was put back to an older state. */
export interface Acceptance {
  readonly actor: string;
  readonly reason: string;
  /** The person knows that nothing was sent since. */
  readonly isNothingSent: boolean;
}

/** What came of it: `orders` were taken for sent. */
export interface AcceptedRestore {
  readonly missing: MissingTime;
  readonly orders: number;
}

const PAGE = 200;

/**
 * Accepts a database that was put back to an older state: creates are paused, every order that may have been sent since
 * becomes unknown, and the mark is that of this database. Until the end the mark keeps everything else from being written, so
 * that an interrupted run is done again.
 */
export async function acceptRestore(deps: RestoreDeps, acceptance: Acceptance): Promise<AcceptedRestore> {
  const { store, clock } = deps;
  const mark = await store.mark.read();
  const position = await store.mark.position();
  const isShown = mark !== undefined && (await store.mark.sign()) !== undefined;
  // A mark that was put back together with the database does not tell until when it was used.
  const to = isShown ? mark.at : null;
  const missing = mark?.restoring ?? { from: await newestEventTime(store.db), to };
  await store.mark.write({ ...(mark ?? { ...position, at: clock.now().toISOString() }), restoring: missing });
  let orders = 0;
  // The accounts that are driven are paused also where the database is empty: what was in it may be inserted once more.
  const others = store.mark.account === undefined ? await accountsIn(store.db, 'merchant_orders') : [];
  for (const account of new Set([...deps.accounts, ...others])) {
    await store.writer.write(async (tx) => {
      // An owner that still runs, by another path of the database, finds out that it was followed. As it is later than
      // all that the mark has named, another copy of that time is older than the new mark.
      await nextGeneration(tx, account, mark?.generation);
      // One whose orders were moved is the one in use from now on.
      await forgetMove(tx);
      await record(tx, account, acceptance, clock.now());
    });
    if (!acceptance.isNothingSent) orders += await assumeAllSent(deps, account, acceptance);
  }
  await store.mark.write({ ...(await store.mark.position()), at: clock.now().toISOString() });
  return { missing, orders };
}

async function record(tx: Transaction, account: string, acceptance: Acceptance, now: Date): Promise<void> {
  const { actor, reason, isNothingSent } = acceptance;
  const event = { account, type: 'account', subject: account, field: 'restore' } as const;
  const newValue = isNothingSent ? 'nothing-sent' : 'may-be-sent';
  await insertHappenings(tx, [{ ...event, new_value: newValue, source: 'operator', reason, actor }], now);
  await endStop(tx, account, { reason, actor, now });
  if (isNothingSent) return;
  await setHold(tx, account, { kind: 'restored', since: now, until: null, reason, actor }, now);
}

/** States that orders leave for unknown. The others that may be sent again stay in theirs, and come first. */
const LEFT = ['pending', 'invalid', 'rejected', 'sending'] as const;

/** Takes every order for sent that may have been sent since the copy was made; gives how many. */
async function assumeAllSent(deps: RestoreDeps, account: string, { actor, reason }: Acceptance): Promise<number> {
  const { store } = deps;
  const how: Assumption = { source: 'operator', reason, actor };
  // A page at a time, so that the merchant's own writes do not wait for long.
  const assume = async (ids: readonly string[]) =>
    await store.writer.write(async (tx) => {
      let assumed = 0;
      for (const id of ids) assumed += await assumeOrderSent(tx, { account, id, how }, deps);
      return assumed;
    });
  let orders = 0;
  for (let fromId = ''; ;) {
    const ids = await orderIds(store.db, { account, states: ['unknown', 'held'], fromId, limit: PAGE });
    orders += await assume(ids);
    if (ids.length < PAGE) break;
    fromId = ids.at(-1) ?? fromId;
  }
  for (const state of LEFT) {
    // Ids that are not valid Unicode cannot be read, nor sent: they come again in each page.
    for (let unreadable = 0; ;) {
      const limit = PAGE + unreadable;
      const some = await findOrders(store.db, { account, state, by: 'due', limit }, ['external_order_id']);
      const ids = some.map((row) => row.external_order_id);
      const assumed = await assume(ids);
      orders += assumed;
      unreadable = ids.length - assumed;
      if (ids.length < limit) break;
    }
  }
  return orders;
}
