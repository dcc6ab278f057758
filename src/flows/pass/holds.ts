import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { decideSending, type HeldLane, type Hold, type SendingDecision } from '../../domain/accounts/holds.ts';
import { readHolds } from '../../store/account-holds.ts';
import type { Store } from '../../store/port.ts';

interface HoldsDeps {
  readonly account: string;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** The holds of the account, as the owner last read them. They stand in the database: a person sets and ends them there. */
export class AccountHolds {
  readonly #deps: HoldsDeps;
  #holds: readonly Hold[] = [];

  constructor(deps: HoldsDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the holds, at the start and whenever another program has committed. Logs each that began or ended, and tells
   * whether there was one.
   */
  async read(): Promise<boolean> {
    const { store, account, log } = this.#deps;
    const before = this.#holds;
    this.#holds = await readHolds(store.db, account);
    const began = this.#holds.filter(({ kind }) => !before.some((hold) => hold.kind === kind));
    const ended = before.filter(({ kind }) => !this.#holds.some((hold) => hold.kind === kind));
    for (const hold of began) log.warn({ ...hold }, 'requests are held back');
    for (const { kind } of ended) log.info({ kind }, 'requests are no longer held back');
    return began.length + ended.length > 0;
  }

  decide(lane: HeldLane): SendingDecision {
    return decideSending(this.#holds, lane, this.#deps.clock.now());
  }

  /** Milliseconds for which requests of a lane are held; infinite until a person ends the hold. */
  heldForMs(lane: HeldLane): number {
    const decision = this.decide(lane);
    if (decision.kind !== 'held') return 0;
    const { until } = decision.hold;
    return until === null ? Number.POSITIVE_INFINITY : until.getTime() - this.#deps.clock.now().getTime();
  }
}
