import type { Logger } from 'pino';
import type { Clock } from '../../../src/base/clock.ts';
import { Webhooks } from '../../../src/extensions/webhooks/webhooks.ts';
import type { AccountLease, Store } from '../../../src/store/port.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import type { SimulatedReceivers } from './receivers.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const LONGEST_DOZE_MS = 6 * HOUR_MS;
const LONGEST_TROUBLE_MS = 60_000;

interface Sending {
  readonly receivers: SimulatedReceivers;
  readonly scheduler: Scheduler;
  readonly log: Logger;
  readonly life: Life;
  readonly clock: Clock;
  readonly store: Store;
  readonly stop: AbortSignal;
  /** When the next row of each endpoint in these accounts is due, by the clock of the machine. */
  readonly nextAttempts: (accounts: readonly string[]) => ReadonlyMap<string, number>;
}

/**
 * The webhooks of one process, as the daemon runs them. The daemon's work of each second happens in each second in which it
 * could change anything: worlds last for days.
 */
export class SimulatedSending {
  readonly #deps: Sending;
  readonly #webhooks: Webhooks;
  readonly #leases = new Set<AccountLease>();
  /** When each endpoint is tried again, on the monotonic clock, by what its condition says. */
  readonly #tryAgainAt = new Map<string, number>();
  #hasStirred = true;
  #troubles = 0;
  #hurry: () => void = () => {};

  constructor(deps: Sending) {
    const { receivers, life, clock } = deps;
    this.#deps = deps;
    this.#webhooks = new Webhooks({
      ...deps,
      endpoints: receivers.endpoints,
      clock: { ...clock, sleep: (ms, signal) => (signal === deps.stop ? this.#doze(signal) : clock.sleep(ms, signal)) },
      connect: receivers.connectionsOf(life, () => this.stir()),
    });
  }

  /** Sends the events of an account from now on, until it is given back or lost. */
  take(accountLease: AccountLease): void {
    this.#leases.add(accountLease);
    this.#webhooks.take(accountLease);
    this.stir();
  }

  /** Sends until the process stops. */
  async run(): Promise<void> {
    using _ = this.#deps.store.newEvents.listen(() => this.stir());
    await this.#webhooks.run();
  }

  /** Another program has committed: there may be events, as the daemon notices. */
  heed(): void {
    for (const { account } of this.#leases) this.#deps.store.newEvents.tell(account);
  }

  /** Something has changed that the next second may see. */
  stir(): void {
    this.#troubles = 0;
    this.#hasStirred = true;
    this.#hurry();
  }

  /** The database failed: whatever was not done is tried again. */
  stirAfterTrouble(): void {
    this.#troubles += 1;
    this.#hasStirred = true;
  }

  async #doze(signal: AbortSignal): Promise<void> {
    const { scheduler, life } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    let cancel = scheduler.after(this.#dozeMs(), 'webhooks look again', resolve, life);
    this.#hasStirred = false;
    this.#hurry = () => {
      this.#hurry = () => {};
      cancel();
      cancel = scheduler.after(SECOND_MS, 'webhooks look again', resolve, life);
    };
    const end = () => resolve();
    signal.addEventListener('abort', end);
    await promise;
    signal.removeEventListener('abort', end);
    cancel();
    this.#hurry = () => {};
  }

  #dozeMs(): number {
    if (this.#hasStirred) return Math.min(SECOND_MS * 2 ** Math.min(this.#troubles, 10), LONGEST_TROUBLE_MS);
    const { scheduler, clock, nextAttempts } = this.#deps;
    const now = clock.now().getTime();
    const attempts = nextAttempts([...this.#leases].flatMap((one) => (one.ending.aborted ? [] : [one.account])));
    const waits = this.#webhooks.facts.map(({ endpoint, failing }) => {
      const attemptMs = (attempts.get(endpoint) ?? Number.POSITIVE_INFINITY) - now;
      if (failing === null) return attemptMs;
      const key = `${endpoint} ${failing.nextTryAt.toISOString()}`;
      const at = this.#tryAgainAt.get(key) ?? scheduler.now + failing.nextTryAt.getTime() - now;
      this.#tryAgainAt.set(key, at);
      // It is being tried, as soon as there is something to try it with.
      return at < scheduler.now ? attemptMs : at - scheduler.now;
    });
    return Math.max(Math.min(...waits, LONGEST_DOZE_MS), SECOND_MS);
  }
}
