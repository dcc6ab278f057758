import { CLOCKS_APART_MS, type Clock } from '../base/clock.ts';
import { after } from '../base/instant.ts';
import { LONGEST_WAIT_MS } from './rules/schedule.ts';
import { forgetAccountFact, readAccountFact, setAccountFact, UNCORRECTED_TIMES } from '../store/tables/accounts.ts';
import { readOrder } from '../store/orders/orders.ts';
import {
  accountsToPutRight,
  CORRECTED_STATES,
  correctDueTimes,
  wronglyDueOrders,
  type Correction,
} from '../store/orders/wrong-due-times.ts';
import type { FlowDeps } from './pass/deps.ts';
import { isolateFailure, isRefusal, POSTPONE_MS, type IsolateDeps } from './pass/isolate.ts';

const PAGE = 200;
/** If UTC falls back by more than this, in ms, the clock was set back. A smaller step hardly moves due times. */
const SET_BACK_MS = 500;

type ClockWatchDeps = Pick<FlowDeps, 'log'> & {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'databaseAheadMs'>;
};

/** Returns a check that calls `onSetBack` if the clock was set back, because due times are then too far ahead. */
export function clockWatch({ clock, log }: ClockWatchDeps, onSetBack: () => Promise<void> | void) {
  // This difference changes only when the UTC clock is set.
  const utcAheadMs = () => clock.now().getTime() - clock.monotonic();
  let [lastAheadMs, wasApart] = [utcAheadMs(), false];
  return async (): Promise<void> => {
    const aheadMs = utcAheadMs();
    if (aheadMs < lastAheadMs - SET_BACK_MS) {
      log.warn(
        { byMs: Math.round(lastAheadMs - aheadMs) },
        'the clock was set back, so the waiting orders are made due now',
      );
      await onSetBack();
    }
    lastAheadMs = aheadMs;
    const { databaseAheadMs = 0 } = clock;
    const isApart = Math.abs(databaseAheadMs) >= CLOCKS_APART_MS;
    const facts = { databaseAheadMs: Math.round(databaseAheadMs) };
    if (isApart && !wasApart)
      log.warn(
        facts,
        'the clock of this machine differs from the clock of the database, which decides; check the time service of this machine',
      );
    if (!isApart && wasApart) log.info(facts, 'the clock of this machine agrees with the clock of the database again');
    wasApart = isApart;
  };
}

type CorrectDeps = IsolateDeps &
  Pick<FlowDeps, 'log'> & { readonly settings: Pick<FlowDeps['settings'], 'verifyAfter'> };

/** Corrects due times written under another clock. The database keeps the ids of failed orders for the next owner. */
export class WrongTimes {
  readonly #deps: CorrectDeps;
  #left: readonly string[];
  #retryAt = Number.NEGATIVE_INFINITY;

  /** `left` has the ids of orders that the last owner could not correct. The first `correctLeft` tries them again. */
  private constructor(deps: CorrectDeps, left: readonly string[]) {
    this.#deps = deps;
    this.#left = left;
  }

  static async open(deps: CorrectDeps): Promise<WrongTimes> {
    const text = await readAccountFact(deps.store.db, { account: deps.account, name: UNCORRECTED_TIMES });
    return new WrongTimes(deps, text === undefined ? [] : (JSON.parse(text) as { ids: readonly string[] }).ids);
  }

  get isAny(): boolean {
    return this.#left.length > 0;
  }

  get dueInMs(): number {
    return this.isAny ? this.#retryAt - this.#deps.clock.monotonic() : Number.POSITIVE_INFINITY;
  }

  /** Makes orders due whose time is missing or too far ahead. If the clock went back, makes all waiting orders due. */
  async correct(clockWentBack: boolean): Promise<void> {
    const { account, store, clock, log, settings } = this.#deps;
    const now = clock.now();
    const latest = clockWentBack ? now : after(now, Math.max(LONGEST_WAIT_MS, ...settings.verifyAfter));
    // Wrong times are rare, so this query usually saves a new owner a transaction for each state.
    const wrong = await accountsToPutRight(store.db, { accounts: [account], due: latest, lease: latest });
    if (wrong.length === 0) return;
    const left: string[] = [];
    let orders = 0;
    for (const state of CORRECTED_STATES) {
      // The new due time is not later than `latest`, so that the next page does not have the order again.
      orders += await this.#correctState({ account, state, latest, to: now, limit: PAGE }, left);
    }
    if (orders > 0) log.warn({ orders }, 'due times written under another clock were corrected');
    // If the clock went back, every waiting order was checked, so `left` is complete.
    if (clockWentBack) await this.#leave(left);
    else if (left.length > 0) await this.#leave([...this.#left, ...left]);
  }

  async correctLeft(): Promise<void> {
    if (this.dueInMs > 0) return;
    const ids = this.#left;
    const left: string[] = [];
    for (const id of ids) {
      const now = this.#deps.clock.now();
      if (!(await this.#correctOne(id, { latest: now, to: now }))) left.push(id);
    }
    // A full list may lack orders. The cause of the refusals seems to have ended, so all orders are tried.
    if (ids.length >= PAGE && left.length < ids.length) return await this.correct(true);
    await this.#leave(left);
  }

  async #correctState(query: Correction, left: string[]): Promise<number> {
    const { db, writer } = this.#deps.store;
    const refused: string[] = [];
    let orders = 0;
    // If a whole page is refused, the loop ends, because the cause then seems to concern all orders.
    for (let isMore = true; isMore && refused.length < PAGE;) {
      const page = { ...query, except: refused };
      const corrected = await writer
        .write((tx) => correctDueTimes(tx, page))
        .catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
          return 0;
        });
      // One refused or locked order may stop its page, so the remaining orders are corrected one by one.
      const ids = corrected >= PAGE ? [] : await wronglyDueOrders(db, page);
      for (const id of ids) {
        if (await this.#correctOne(id, query)) orders += 1;
        else refused.push(id);
      }
      orders += corrected;
      isMore = corrected >= PAGE || ids.length >= PAGE;
    }
    left.push(...refused);
    return orders;
  }

  /** Returns false if the order still has a wrong time, because its row is refused or locked. */
  async #correctOne(only: string, times: Pick<Correction, 'latest' | 'to'>): Promise<boolean> {
    const { account, store } = this.#deps;
    let isCorrect = false;
    await isolateFailure(this.#deps, only, async () => {
      isCorrect = await store.writer.write(async (tx) => {
        const row = await readOrder(tx, account, only);
        const state = CORRECTED_STATES.find((one) => one === row?.state);
        if (state === undefined) return true;
        const wrong = { account, state, ...times, limit: 1, only };
        await correctDueTimes(tx, wrong);
        return (await wronglyDueOrders(tx, wrong)).length === 0;
      });
    });
    return isCorrect;
  }

  /** Keeps the ids of at most 200 orders to try again in 5 min. Rejects if the database refuses the write. */
  async #leave(ids: readonly string[]): Promise<void> {
    const { store, account, clock } = this.#deps;
    const left = [...new Set(ids)].slice(0, PAGE);
    const fact = { account, name: UNCORRECTED_TIMES, value: JSON.stringify({ ids: left }), now: clock.now() };
    if (fact.value !== JSON.stringify({ ids: this.#left })) {
      await store.writer.write((tx) => (left.length > 0 ? setAccountFact(tx, fact) : forgetAccountFact(tx, fact)));
    }
    this.#left = left;
    this.#retryAt = clock.monotonic() + POSTPONE_MS;
  }
}
