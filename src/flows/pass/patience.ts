import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { IncidentStory } from '../../domain/accounts/incidents.ts';
import { messageOf } from '../../domain/text.ts';
import { isPassing } from '../../store/errors.ts';
import type { Store } from '../../store/port.ts';

interface PatienceDeps {
  readonly store: Pick<Store, 'isInPlace'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/**
 * Waits out a database that cannot be read for a while, where what was to be read is read again anyway. All readers of a process
 * share one: so its log says once that it cannot, each minute that it still cannot, and once that all of them could for some
 * seconds.
 */
export class Patience {
  readonly #deps: PatienceDeps;
  readonly #story = new IncidentStory();

  constructor(deps: PatienceDeps) {
    this.#deps = deps;
  }

  /** Does the work. Rejects with an error that is not waited out. */
  async with(work: () => Promise<void>, isWaitedOut: (error: unknown) => boolean = isPassing): Promise<void> {
    try {
      await work();
      this.#observe();
    } catch (error) {
      if (!isWaitedOut(error) || !this.#deps.store.isInPlace()) throw error;
      this.#observe(messageOf(error));
    }
  }

  #observe(cause?: string): void {
    const { clock, log } = this.#deps;
    const conditions = cause === undefined ? [] : [{ kind: 'database', cause } as const];
    for (const { stage, failures, lastedMs } of this.#story.observe(conditions, clock.monotonic())) {
      const facts = { failures, lastedMs: Math.round(lastedMs), cause };
      if (stage === 'begun') log.error({ cause }, 'the database cannot be read; it is tried again');
      if (stage === 'lasting') log.error(facts, 'the database still cannot be read; it is tried again');
      if (stage === 'ended') log.info(facts, 'the database can be read again');
    }
    if (cause !== undefined) this.#story.explain('database');
  }
}
