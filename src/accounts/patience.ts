import type { Logger } from 'pino';
import { isPassing } from '../store/errors.ts';
import type { Store } from '../store/port.ts';

/** Waits out a database that cannot be read for a while, where what was to be read is read again anyway. */
export class Patience {
  readonly #store: Pick<Store, 'isInPlace'>;
  readonly #log: Logger;
  #isFailing = false;

  constructor({ store, log }: { readonly store: Pick<Store, 'isInPlace'>; readonly log: Logger }) {
    this.#store = store;
    this.#log = log;
  }

  /** Does the work. Rejects only with what does not pass by itself. */
  async with(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (this.#isFailing) this.#log.info({}, 'the database can be read again');
      this.#isFailing = false;
    } catch (error) {
      if (!isPassing(error) || !this.#store.isInPlace()) throw error;
      if (!this.#isFailing) this.#log.error({ cause: error.message }, 'the database cannot be read; it is tried again');
      this.#isFailing = true;
    }
  }
}
