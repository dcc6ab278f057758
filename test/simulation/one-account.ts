import type { App } from '../../src/app.ts';
import type { Clock } from '../../src/base/clock.ts';
import { sweep } from '../../src/findings/sweep.ts';
import { clockWatch } from '../../src/orders/correct-times.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { AccountLease, Store } from '../../src/store/port.ts';
import type { Surroundings } from './process.ts';
import { SimulatedSending } from './receivers/sending.ts';
import type { Life } from './scheduler.ts';

/** Nothing is slept through for longer. */
export const LONGEST_SLEEP_MS = 6 * 3_600_000;
const LATE_TICK_MS = 60_000;

/** The parts with which a process works for its accounts. */
export interface Driving {
  readonly world: Surroundings;
  readonly life: Life;
  readonly clock: Clock;
  /** The process was asked to stop. */
  readonly stop: AbortSignal;
}

/** The accounts of a process, as it drives them. */
export interface Driven extends AsyncDisposable {
  /** Drives them until the process is asked to stop. */
  run(): Promise<void>;
  /** There may be work. */
  wake(): void;
  /** Another program has committed. */
  heed(): Promise<void>;
  /** The database failed: whatever was not done is tried again. */
  stirAfterTrouble(): void;
  endGracePeriod(): void;
}

/** Something that sleeps until it is woken, or its time has come. */
export class Sleepers {
  readonly #driving: Driving;
  readonly #ends = new Set<() => void>();

  constructor(driving: Driving) {
    this.#driving = driving;
  }

  wake(): void {
    for (const end of this.#ends) end();
  }

  /** Resolves after `ms`, but not before the next tick, or when it is woken or the process is asked to stop. */
  sleep(name: string, ms: number): Promise<void> {
    const { world, life, stop } = this.#driving;
    return new Promise((resolve) => {
      if (stop.aborted) return resolve();
      const wait = Math.min(Math.max(ms, this.tickMs), LONGEST_SLEEP_MS);
      const end = () => {
        cancel();
        this.#ends.delete(end);
        stop.removeEventListener('abort', end);
        resolve();
      };
      const cancel = world.scheduler.after(wait, `wake ${name}`, end, life);
      this.#ends.add(end);
      stop.addEventListener('abort', end);
    });
  }

  /** Nothing is looked at more often. Later than anything is planned, nothing must be seen within a minute. */
  get tickMs(): number {
    const { scheduler, plan } = this.#driving.world;
    return scheduler.now < plan.lastAt ? plan.tickMs : Math.max(plan.tickMs, LATE_TICK_MS);
  }
}

/** The one account of a process, whose passes run when something is due, as the daemon has them run. */
export class OneAccount implements Driven {
  readonly #driving: Driving;
  readonly #app: App;
  readonly #accountLease: AccountLease;
  readonly #sleepers: Sleepers;
  #sending: SimulatedSending | undefined;

  constructor(driving: Driving, app: App, accountLease: AccountLease) {
    this.#driving = driving;
    this.#app = app;
    this.#accountLease = accountLease;
    this.#sleepers = new Sleepers(driving);
  }

  async run(): Promise<void> {
    const app = this.#app;
    const { stop } = this.#driving;
    const checkClock = clockWatch(app, () => app.wrongTimes.correct(true));
    await Promise.all([
      this.#repeat(checkClock, 'create', () => createPass(app, stop)),
      this.#repeat(checkClock, 'follow', () => followPass(app, 'due', stop)),
      this.#syncNowAndThen(app),
      this.#sweepNowAndThen(app),
      this.#sendWebhooks(app),
    ]);
  }

  wake(): void {
    this.#sending?.heed();
    this.#sleepers.wake();
  }

  /** Another program has committed: the holds of the account may be others, as the daemon notices. */
  async heed(): Promise<void> {
    await waitOut(() => this.#app.restraints.read()).catch((error: unknown) => {
      if (this.#driving.life.isAlive) throw error;
    });
    this.wake();
  }

  stirAfterTrouble(): void {
    this.#sending?.stirAfterTrouble();
  }

  endGracePeriod(): void {
    this.#app.endGracePeriod();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
  }

  /** Runs a pass when something is due, and looks at the clock, as the daemon does. */
  async #repeat(checkClock: () => Promise<void>, name: string, pass: () => Promise<void>): Promise<void> {
    const { wrongTimes } = this.#app;
    while (!this.#driving.stop.aborted) {
      await waitOut(() => checkClock());
      if (wrongTimes.dueInMs <= 0) await waitOut(() => wrongTimes.correctLeft());
      await waitOut(pass);
      await this.#sleepers.sleep(name, Math.min(untilDueMs(this.#driving.world), wrongTimes.dueInMs));
    }
  }

  /** A person asks for a pass now and then, in the middle of the daemon's own. */
  async #syncNowAndThen(app: App): Promise<void> {
    const { world, stop } = this.#driving;
    while (!stop.aborted && !world.isCalm) {
      await this.#sleepers.sleep('sync', world.chance.of([5_000, 60_000, LONGEST_SLEEP_MS]));
      if (!stop.aborted) await waitOut(() => syncOnce(app, 'all', stop));
    }
  }

  async #sweepNowAndThen(app: App): Promise<void> {
    const { stop } = this.#driving;
    while (!stop.aborted) {
      await waitOut(() => sweep(app, stop));
      await this.#sleepUntilSweep();
    }
  }

  /** It sleeps on through what wakes the passes. */
  #sleepUntilSweep(): Promise<void> {
    const { world, life, stop } = this.#driving;
    return new Promise((resolve) => {
      if (stop.aborted) return resolve();
      world.scheduler.after(LONGEST_SLEEP_MS, 'wake sweep', resolve, life);
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  async #sendWebhooks(app: App): Promise<void> {
    this.#sending = sendingOf(this.#driving, { ...app.store, forAccount: () => app.store });
    this.#sending?.take(this.#accountLease);
    await this.#sending?.run();
  }
}

/** The sender of the webhooks of a process; undefined if there are no receivers. */
export function sendingOf(driving: Driving, store: Store): SimulatedSending | undefined {
  const { plan, receivers, scheduler, log, deliveries } = driving.world;
  if (plan.receivers.length === 0) return undefined;
  const nextAttempts = (accounts: readonly string[]) => deliveries.nextAttempts(accounts);
  return new SimulatedSending({ ...driving, receivers, scheduler, log, store, nextAttempts });
}

/** Milliseconds until an order is due, by the clock of the machine. */
export function untilDueMs(world: Pick<Surroundings, 'nextDueMs' | 'wallMs'>, accounts?: readonly string[]): number {
  const dueAt = world.nextDueMs(accounts);
  return dueAt === undefined ? LONGEST_SLEEP_MS : dueAt - world.wallMs;
}

/** An error that passes by itself is waited out, as the daemon does; any other ends the process. */
async function waitOut(pass: () => Promise<unknown>): Promise<void> {
  try {
    await pass();
  } catch (error) {
    if (!(error instanceof StoreError && (error.problem === 'disk' || error.problem === 'busy'))) throw error;
  }
}
