import type { Clock } from '../../clock.ts';
import { forgetAccountFact, readAccountFact, setAccountFact, UNCORRECTED_TIMES } from '../../store/accounts.ts';
import type { Store } from '../../store/port.ts';
import { POSTPONE_MS } from './isolate.ts';

const MOST_NAMED = 200;

/** Orders whose due times were written under another clock, and could not be corrected. */
export interface LeftTimes {
  readonly ids: readonly string[];
  /** There may be others. */
  readonly isMore: boolean;
}

/** Every due time is correct. */
const NONE_LEFT: LeftTimes = { ids: [], isMore: false };

interface UncorrectedDeps {
  readonly account: string;
  readonly store: Pick<Store, 'db' | 'writer'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * The due times of the account that are still to be corrected: a trigger refused the orders, or another program had them locked.
 * They are kept in the database too, since nothing else tells the next owner that they are wrong.
 */
export class Uncorrected {
  readonly #deps: UncorrectedDeps;
  #left: LeftTimes;
  #retryAt = Number.NEGATIVE_INFINITY;

  private constructor(deps: UncorrectedDeps, left: LeftTimes) {
    this.#deps = deps;
    this.#left = left;
  }

  /** Takes over what the last owner left: it is tried again at once. */
  static async open(deps: UncorrectedDeps): Promise<Uncorrected> {
    const text = await readAccountFact(deps.store.db, { account: deps.account, name: UNCORRECTED_TIMES });
    return new Uncorrected(deps, text === undefined ? NONE_LEFT : (JSON.parse(text) as LeftTimes));
  }

  get left(): LeftTimes {
    return this.#left;
  }

  get isAny(): boolean {
    return this.#left.isMore || this.#left.ids.length > 0;
  }

  /** Whether it is time to try again. */
  get isDue(): boolean {
    return this.dueInMs <= 0;
  }

  /** Milliseconds until it is time to try again; infinite where nothing is left. */
  get dueInMs(): number {
    return this.isAny ? this.#retryAt - this.#deps.clock.monotonic() : Number.POSITIVE_INFINITY;
  }

  /** Says what is left now; that is tried again after a while. Rejects where the database does not take it. */
  async leave({ ids, isMore }: LeftTimes): Promise<void> {
    const { store, account, clock } = this.#deps;
    const all = [...new Set(ids)];
    const left = { ids: all.slice(0, MOST_NAMED), isMore: isMore || all.length > MOST_NAMED };
    const [given, before] = [JSON.stringify(left), JSON.stringify(this.#left)];
    if (given !== before) {
      const fact = { account, name: UNCORRECTED_TIMES };
      const isAny = given !== JSON.stringify(NONE_LEFT);
      await store.writer.write((tx) =>
        isAny ? setAccountFact(tx, { ...fact, given, now: clock.now() }) : forgetAccountFact(tx, fact),
      );
    }
    this.#left = left;
    this.#retryAt = clock.monotonic() + POSTPONE_MS;
  }
}
