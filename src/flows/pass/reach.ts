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

/** Records when the exchange goes out of reach of an account, and when it is back: each once, also over a restart. */
export class ExchangeReach {
  readonly #deps: ReachDeps;
  #isOut = false;

  constructor(deps: ReachDeps) {
    this.#deps = deps;
  }

  /** Takes over what the last owner recorded. */
  async open(): Promise<void> {
    const { store, account } = this.#deps;
    this.#isOut = (await newestOfAccount(store.db, account, 'exchange')) !== null;
  }

  /** The exchange is out of reach, for this reason. */
  lost(cause: string): void {
    if (!this.#isOut) this.#record('out-of-reach', cause);
  }

  /** The exchange is within reach. */
  found(): void {
    if (this.#isOut) this.#record(null, 'the exchange answers');
  }

  #record(newValue: string | null, reason: string): void {
    const { store, account, clock, log } = this.#deps;
    this.#isOut = newValue !== null;
    const event = { account, type: 'account', subject: account, field: 'exchange', source: 'exchange' } as const;
    store.writer
      .write(async (tx) => {
        const oldValue = await newestOfAccount(tx, account, 'exchange');
        if (oldValue === newValue) return;
        await insertHappenings(tx, [{ ...event, old_value: oldValue, new_value: newValue, reason }], clock.now());
      })
      .catch((error: unknown) => {
        log.warn(
          { cause: messageOf(error) },
          'an event of the account cannot be written: whether the exchange is within reach',
        );
      });
  }
}
