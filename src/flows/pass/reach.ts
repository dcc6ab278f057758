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

/** The field and value of the event when a trouble begins; `over` is the reason of the event that ends it. */
interface Trouble {
  readonly field: 'exchange' | 'answers';
  readonly value: string;
  readonly over: string;
}

/** Records when a trouble of the exchange begins for an account, and when it ends: each once, also across restarts. */
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

  /** The trouble has begun. */
  lost(cause: string): void {
    if (!this.#isOut) this.#record(this.#trouble.value, cause);
  }

  /** The trouble is over. */
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
