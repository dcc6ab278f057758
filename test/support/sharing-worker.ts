import { onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { PostgresDatabase } from '../../src/extensions/postgres/place/settings.ts';
import { openAsOwner, type OwnedStore, type OwnerOptions } from '../../src/store/open.ts';
import type { AccountGroup, AccountLease } from '../../src/store/port.ts';

/** A clock of the machine whose sleeps do not end while the process stands still. */
export interface StoppableClock extends Clock {
  stop(): void;
  wake(): void;
}

export function stoppableClock(): StoppableClock {
  const clock = systemClock();
  let stopped: PromiseWithResolvers<void> | undefined;
  return {
    ...clock,
    stop: () => (stopped = Promise.withResolvers()),
    wake: () => stopped?.resolve(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal);
      await stopped?.promise;
    },
  };
}

/** A worker that owns nothing, and releases what it must release. */
export class SharingWorker {
  readonly owned: OwnedStore;
  readonly clock: StoppableClock;
  /** The leases that it holds, by account. */
  readonly held = new Map<string, AccountLease>();
  /** All that it ever took, in order. */
  readonly taken: AccountLease[] = [];
  readonly #stop = new AbortController();
  readonly #sharing: Promise<void>;
  #onChange = () => {};

  private constructor(owned: OwnedStore, clock: StoppableClock, groups: readonly AccountGroup[]) {
    this.owned = owned;
    this.clock = clock;
    this.#sharing = owned.ownership.share(groups, (accountLease) => this.#take(accountLease), this.#stop.signal);
  }

  /** Begins to share accounts until the test is finished. */
  static async start(
    place: PostgresDatabase,
    groups: readonly AccountGroup[],
    options: OwnerOptions = {},
  ): Promise<SharingWorker> {
    const clock = stoppableClock();
    const worker = new SharingWorker(await openAsOwner(place, clock, options), clock, groups);
    onTestFinished(() => worker.end());
    return worker;
  }

  /** Has `onChange` called when what it holds is another. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** Ends in order. */
  async end(): Promise<void> {
    this.clock.wake();
    this.#stop.abort();
    await this.#sharing;
    await this.owned[Symbol.asyncDispose]();
  }

  #take(accountLease: AccountLease): void {
    const { account } = accountLease;
    this.held.set(account, accountLease);
    this.taken.push(accountLease);
    accountLease.ending.addEventListener('abort', () => {
      if (this.held.get(account) === accountLease) this.held.delete(account);
      void accountLease.release().then(() => this.#onChange());
      this.#onChange();
    });
    this.#onChange();
  }
}

/** Resolves when the workers hold this many accounts, in whatever order. */
export async function untilHeld(workers: readonly SharingWorker[], ...wanted: readonly number[]): Promise<void> {
  const inOrder = (sizes: readonly number[]) => sizes.toSorted((one, other) => one - other).join();
  while (inOrder(workers.map(({ held }) => held.size)) !== inOrder(wanted)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const worker of workers) worker.watch(resolve);
    await promise;
  }
}
