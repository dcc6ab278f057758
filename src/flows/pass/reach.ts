import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../domain/text.ts';
import { insertHappenings, newestOfAccount } from '../../store/events.ts';
import type { Store } from '../../store/port.ts';

interface ReachDeps {
  readonly account: string;
  readonly store: Pick<Store, 'db' | 'writer'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** What is wrong with the exchange, as its event has it, and what is said when that is over. */
interface Trouble {
  readonly field: 'exchange' | 'answers';
  readonly value: string;
  readonly over: string;
}

/** Records when the exchange goes out of reach of an account, or cannot be read, and when that is over: each once, also over a restart. */
export class ExchangeReach {
  readonly #deps: ReachDeps;
  readonly #trouble: Trouble;
  #isOut = false;

  constructor(deps: ReachDeps, trouble: Trouble) {
    this.#deps = deps;
    this.#trouble = trouble;
  }

  /** Takes over what the last owner recorded. */
  async open(): Promise<void> {
    const { store, account } = this.#deps;
    this.#isOut = (await newestOfAccount(store.db, account, this.#trouble.field)) !== null;
  }

  /** It has begun, for this reason. */
  lost(cause: string): void {
    if (!this.#isOut) this.#record(this.#trouble.value, cause);
  }

  /** It is over. */
  found(): void {
    if (this.#isOut) this.#record(null, this.#trouble.over);
  }

  #record(newValue: string | null, reason: string): void {
    const { store, account, clock, log } = this.#deps;
    this.#isOut = newValue !== null;
    const { field } = this.#trouble;
    const event = { account, type: 'account', subject: account, field, source: 'exchange' } as const;
    store.writer
      .write(async (tx) => {
        const oldValue = await newestOfAccount(tx, account, field);
        if (oldValue === newValue) return;
        await insertHappenings(tx, [{ ...event, old_value: oldValue, new_value: newValue, reason }], clock.now());
      })
      .catch((error: unknown) => {
        log.warn(
          { cause: messageOf(error) },
          'an event of the account cannot be written: whether the exchange is within reach and can be read',
        );
      });
  }
}
