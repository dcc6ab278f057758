import { after } from '../../domain/instant.ts';
import { LONGEST_WAIT_MS } from '../../domain/orders/schedule.ts';
import { CORRECTED_STATES } from '../../store/due-times.ts';
import { correctCheckTimes } from '../../store/links.ts';
import { readOrder } from '../../store/orders.ts';
import type { Transaction } from '../../store/port.ts';
import { correctDueTimes, wronglyDueOrders, type WronglyDue } from '../../store/wrong-due-times.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { isolateFailure, isRefusal } from '../pass/isolate.ts';

const PAGE = 200;

/** The dependencies of correcting due times. */
export type CorrectDeps = Pick<
  FlowDeps,
  'account' | 'store' | 'clock' | 'log' | 'counters' | 'incidents' | 'activity'
> &
  Pick<FlowDeps, 'uncorrected'> & { readonly settings: Pick<FlowDeps['settings'], 'verifyAfter'> };

/**
 * Makes orders due now whose due times are further away than any schedule gives; where the clock went back, all that
 * wait: nobody knows under which clock a time was written. In pages: of a million orders one write would take minutes.
 * Those that cannot be written are remembered, for `correctLeft`.
 */
export async function correctTimes(deps: CorrectDeps, clockWentBack: boolean): Promise<void> {
  const { account, store, clock, log, settings, uncorrected } = deps;
  const longestMs = Math.max(LONGEST_WAIT_MS, ...settings.verifyAfter);
  const latest = clockWentBack ? clock.now() : after(clock.now(), longestMs);
  const found = { orders: 0, ids: [] as string[], isMore: false };
  for (const state of CORRECTED_STATES) {
    const query = { account, state, latest, limit: PAGE };
    const { orders, left, isMore } = await correctOrders(deps, query, clockWentBack);
    found.orders += orders;
    found.ids.push(...left);
    found.isMore ||= isMore;
  }
  let links = 0;
  // Until a page is short: look-ups beside this go on writing such times, but never so many.
  for (let corrected = PAGE; corrected >= PAGE; links += corrected) {
    corrected = await store.writer.write((tx) => correctCheckTimes(tx, account, clock.now(), PAGE));
  }
  const { orders } = found;
  if (orders + links > 0) log.warn({ orders, links }, 'due times written under another clock were corrected');
  // Where all that wait were looked at, these are all that are left.
  if (clockWentBack) return await uncorrected.leave(found);
  const { left: before } = uncorrected;
  if (found.ids.length === 0) return;
  await uncorrected.leave({ ids: [...before.ids, ...found.ids], isMore: before.isMore || found.isMore });
}

/** Tries again to correct the due times that could not be corrected before, once it is time for that. */
export async function correctLeft(deps: CorrectDeps): Promise<void> {
  const { store, uncorrected } = deps;
  if (!uncorrected.isDue) return;
  const { ids, isMore } = uncorrected.left;
  const left: string[] = [];
  for (const id of ids) {
    let isCorrect = false;
    await isolateFailure(deps, id, async () => {
      isCorrect = await store.writer.write((tx) => correctOne(tx, deps, id));
    });
    if (!isCorrect) left.push(id);
  }
  // What refused so many may have ended.
  if (isMore && left.length < ids.length) return await correctTimes(deps, true);
  await uncorrected.leave({ ids: left, isMore });
}

/** False where another program has the order locked. */
async function correctOne(tx: Transaction, { account, clock }: CorrectDeps, only: string): Promise<boolean> {
  const row = await readOrder(tx, account, only);
  const state = CORRECTED_STATES.find((one) => one === row?.state);
  if (state === undefined) return true;
  const now = clock.now();
  const wrong = { account, state, latest: now, limit: 1, only };
  await correctDueTimes(tx, { ...wrong, to: now });
  return (await wronglyDueOrders(tx, wrong)).length === 0;
}

/**
 * Corrects the orders of one state and gives how many, and which are left: those that the database refused, and, with
 * `isAll`, those that another program has locked. A page that is refused is written order by order.
 */
async function correctOrders(
  deps: CorrectDeps,
  query: WronglyDue,
  isAll: boolean,
): Promise<{ readonly orders: number; readonly left: readonly string[]; readonly isMore: boolean }> {
  const { store, clock } = deps;
  const refused: string[] = [];
  let orders = 0;
  for (;;) {
    const page = { ...query, except: refused };
    try {
      const { corrected, locked } = await store.writer.write(async (tx) => {
        const count = await correctDueTimes(tx, { ...page, to: clock.now() });
        // Nothing of ours is written beside it.
        return { corrected: count, locked: isAll && count < PAGE ? await wronglyDueOrders(tx, page) : [] };
      });
      orders += corrected;
      if (corrected < PAGE) return { orders, left: [...refused, ...locked], isMore: locked.length >= PAGE };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const ids = await store.writer.write((tx) => wronglyDueOrders(tx, page));
      for (const only of ids) {
        let corrected = 0;
        await isolateFailure(deps, only, async () => {
          const to = clock.now();
          corrected = await store.writer.write((tx) => correctDueTimes(tx, { ...query, only, to }));
        });
        orders += corrected;
        if (corrected === 0) refused.push(only);
      }
      // Where so many are refused, what refuses them speaks of all.
      const isMore = refused.length >= PAGE;
      if (isMore || ids.length === 0) return { orders, left: refused, isMore };
    }
  }
}
