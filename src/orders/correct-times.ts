import type { Logger } from 'pino';
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
import { isolateFailure, isRefusal, POSTPONE_MS } from './pass/isolate.ts';

const PAGE = 200;
/** UTC that lags behind by more than this was set back; due times are off by no more in any case. */
const SET_BACK_MS = 500;

interface ClockWatchDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'databaseAheadMs'>;
  readonly log: Logger;
}

/**
 * Makes waiting orders due if the clock was set back: they would wait until that time comes again. Logs if the clocks
 * of machine and database differ.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps;
  readonly #onSetBack: () => Promise<void> | void;
  #aheadMs: number;
  #isApart = false;

  constructor(deps: ClockWatchDeps, onSetBack: () => Promise<void> | void) {
    this.#deps = deps;
    this.#onSetBack = onSetBack;
    this.#aheadMs = aheadOfMonotonic(deps.clock);
  }

  /** Has due times corrected if the clock was set back since the last look. If it rejects, the next look does it again. */
  async correct(): Promise<void> {
    const { clock, log } = this.#deps;
    const aheadMs = aheadOfMonotonic(clock);
    if (aheadMs < this.#aheadMs - SET_BACK_MS) {
      log.warn({ byMs: Math.round(this.#aheadMs - aheadMs) }, 'the clock was set back, so what waits is due now');
      await this.#onSetBack();
    }
    this.#aheadMs = aheadMs;
    this.#tellApart();
  }

  #tellApart(): void {
    const { clock, log } = this.#deps;
    const { databaseAheadMs = 0 } = clock;
    const isApart = Math.abs(databaseAheadMs) >= CLOCKS_APART_MS;
    const facts = { databaseAheadMs: Math.round(databaseAheadMs) };
    if (isApart && !this.#isApart)
      log.warn(facts, 'the clock of this machine is not that of the database, which counts; check its time service');
    if (!isApart && this.#isApart) log.info(facts, 'the clock of this machine is that of the database again');
    this.#isApart = isApart;
  }
}

/** How far UTC is ahead of the monotonic clock, in ms: this changes only when UTC is set. */
function aheadOfMonotonic(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  return clock.now().getTime() - clock.monotonic();
}

type CorrectDeps = Parameters<typeof isolateFailure>[0] &
  Pick<FlowDeps, 'log'> & { readonly settings: Pick<FlowDeps['settings'], 'verifyAfter'> };

/**
 * Due times of an account that were written under another clock. Ids of orders that cannot be corrected now are kept in
 * the database, because nothing else tells the next owner.
 */
export class WrongTimes {
  readonly #deps: CorrectDeps;
  #left: readonly string[] = [];
  #retryAt = Number.NEGATIVE_INFINITY;

  private constructor(deps: CorrectDeps) {
    this.#deps = deps;
  }

  /** Takes over what the last owner left: it is tried again at once. */
  static async open(deps: CorrectDeps): Promise<WrongTimes> {
    const wrong = new WrongTimes(deps);
    const text = await readAccountFact(deps.store.db, { account: deps.account, name: UNCORRECTED_TIMES });
    if (text !== undefined) wrong.#left = (JSON.parse(text) as { ids: readonly string[] }).ids;
    return wrong;
  }

  get isAny(): boolean {
    return this.#left.length > 0;
  }

  /** Milliseconds until it is time to try again; infinite if nothing is left. */
  get dueInMs(): number {
    return this.isAny ? this.#retryAt - this.#deps.clock.monotonic() : Number.POSITIVE_INFINITY;
  }

  /** Makes orders due whose due times no schedule plans; if the clock went back, all orders that wait. It works in pages. */
  async correct(clockWentBack: boolean): Promise<void> {
    const { account, store, clock, log, settings } = this.#deps;
    const now = clock.now();
    const latest = clockWentBack ? now : after(now, Math.max(LONGEST_WAIT_MS, ...settings.verifyAfter));
    // A transaction for each state costs a new owner most of its time, and hardly ever is any time wrong.
    const wrong = await accountsToPutRight(store.db, { accounts: [account], due: latest, lease: latest });
    if (wrong.length === 0) return;
    const left: string[] = [];
    let orders = 0;
    for (const state of CORRECTED_STATES) {
      // Due at a time that is not wrong again for the next page, however long this takes.
      orders += await this.#correctState({ account, state, latest, to: now, limit: PAGE }, left);
    }
    if (orders > 0) log.warn({ orders }, 'due times written under another clock were corrected');
    // If all that wait were looked at, these are all that are left.
    if (clockWentBack) await this.#leave(left);
    else if (left.length > 0) await this.#leave([...this.#left, ...left]);
  }

  /** Tries again to correct the due times that could not be corrected before, once it is time for that. */
  async correctLeft(): Promise<void> {
    if (this.dueInMs > 0) return;
    const ids = this.#left;
    const left: string[] = [];
    for (const id of ids) {
      const now = this.#deps.clock.now();
      if (!(await this.#correctOne(id, { latest: now, to: now }))) left.push(id);
    }
    // The cause of all these refusals may have ended.
    if (ids.length >= PAGE && left.length < ids.length) return await this.correct(true);
    await this.#leave(left);
  }

  /** Corrects the orders of one state; returns how many, and adds the ids of the others to `left`. */
  async #correctState(query: Correction, left: string[]): Promise<number> {
    const refused: string[] = [];
    let orders = 0;
    for (let isMore = true; isMore;) {
      const page = await this.#correctPage({ ...query, except: refused });
      orders += page.corrected;
      // One by one: of a page one order may be refused, or locked.
      for (const id of page.left) {
        if (await this.#correctOne(id, query)) orders += 1;
        else refused.push(id);
      }
      // If a whole page is refused, the cause concerns all orders.
      isMore = page.isMore && refused.length < PAGE;
    }
    left.push(...refused);
    return orders;
  }

  async #correctPage(query: Correction) {
    const { writer } = this.#deps.store;
    try {
      return await writer.write(async (tx) => {
        const corrected = await correctDueTimes(tx, query);
        const isMore = corrected >= PAGE;
        return { corrected, isMore, left: isMore ? [] : await wronglyDueOrders(tx, query) };
      });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const left = await writer.write((tx) => wronglyDueOrders(tx, query));
      return { corrected: 0, isMore: left.length > 0, left };
    }
  }

  /** False if the database refuses the order, or another program has it locked; true also if it does not wait any more. */
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

  /** Keeps the ids of what is left; that is tried again after a while. Rejects if the database does not take it. */
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
