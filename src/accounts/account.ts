import { once } from 'node:events';
import type { Logger } from 'pino';
import type { App } from '../app.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../settings/config.ts';
import { DueTimes } from './rules/due.ts';
import { keyPlace, type MerchantKey } from '../settings/settings-file.ts';
import { KeyRefusedError } from '../exchange/reply.ts';
import type { FollowPace } from '../orders/pass/pace.ts';
import { withGracePeriod } from '../orders/pass/run.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { FlowDeps } from '../orders/pass/deps.ts';
import { isPassing } from '../store/errors.ts';
import type { AccountLease, Store } from '../store/port.ts';

const TRY_AGAIN_MS = 1_000;

type Pass = (app: App, stop: AbortSignal) => Promise<void>;

export type Passes = Readonly<Record<'create' | 'lookup', Pass> & Partial<Record<string, Pass>>>;

export interface AccountsDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tickedAt: () => Date;
  readonly passes: Passes;
  readonly stop: AbortSignal;
}

export interface OperationDeps extends FlowDeps {
  readonly exchange: ExchangeClient;
  /** Wakes the create pass, so that it sends new orders at once. */
  readonly wakeCreates: () => void;
}

/** Keeps an account wired until this object is disposed of, or until the grace period of a stop ends. */
export interface AccountInUse extends Disposable {
  readonly app: OperationDeps;
}

interface AccountDeps extends Pick<AccountsDeps, 'passes' | 'stop'> {
  /** Wires the account. Returns undefined if the process stops or loses the account first. */
  readonly wire: (account: OwnedAccount) => Promise<App | undefined>;
  readonly onPass: (account: OwnedAccount) => Promise<void>;
  readonly onFailure: (account: OwnedAccount, error: unknown) => void;
}

interface Failure {
  /** The key, if the exchange refused it. `retryFailed` then waits until the key's file contains another key. */
  readonly key: MerchantKey | undefined;
  /** The monotonic time (ms) at which the account is tried again or, if it works, its recorded stop ends. */
  nextAt: number;
}

/** An account that this process owns. It is wired (has an `App`) while it has work, and for some time after. */
export class OwnedAccount {
  readonly accountLease: AccountLease;
  readonly due = new DueTimes();
  /** The names of sweeps under way that have not looked at the account yet. */
  sweepsToRun: readonly string[] = [];
  /** Resolves when the wired account has ended. Undefined while the account is neither wired nor being wired. */
  life: Promise<void> | undefined;
  hasFailed = false;
  /** The last failure; undefined before the first failure, and once the account works again. */
  failure: Failure | undefined;
  /** The pace of the last wiring. While it is undefined, a wiring also recovers the orders of the last owner. */
  pace: FollowPace | undefined;
  readonly #deps: AccountDeps;
  readonly #woken = new Set<string>();
  #wired: WiredAccount | undefined;
  #onWired: PromiseWithResolvers<void> | undefined;

  constructor(accountLease: AccountLease, deps: AccountDeps) {
    this.accountLease = accountLease;
    this.#deps = deps;
  }

  get name(): string {
    return this.accountLease.account;
  }

  /** Returns undefined while the account is not wired, or is stopping. */
  get wired(): WiredAccount | undefined {
    return this.#wired?.isStopping === false ? this.#wired : undefined;
  }

  /** Wires the account and runs the pass. If the pass runs already, it runs again. Does nothing on a failed account. */
  wake(pass: string): void {
    if (this.#isOver || this.hasFailed) return;
    this.#woken.add(pass);
    if (this.wired === undefined) this.#begin();
    else this.wired.run(pass);
  }

  tryAgain(): void {
    this.hasFailed = false;
    this.wake('create');
    this.wake('lookup');
  }

  /** Wires the account. Returns undefined if the process stops or loses the account. Rejects if the wiring fails. */
  async use(): Promise<AccountInUse | undefined> {
    this.hasFailed = false;
    for (let { wired } = this; ; { wired } = this) {
      if (wired !== undefined) return wired.use(() => this.wake('create'));
      if (this.#isOver) return undefined;
      this.#onWired ??= Promise.withResolvers();
      this.#begin();
      await this.#onWired.promise;
    }
  }

  get #isOver(): boolean {
    return this.#deps.stop.aborted || this.accountLease.ending.aborted;
  }

  get #isWanted(): boolean {
    return (this.#woken.size > 0 || this.#onWired !== undefined) && !this.#isOver && !this.hasFailed;
  }

  #begin(): void {
    this.life ??= this.#live().finally(() => {
      this.life = undefined;
      // A pass may have been woken while the account was stopping.
      if (this.#isWanted) this.#begin();
    });
  }

  async #live(): Promise<void> {
    try {
      while (this.#isWanted) await this.#work();
      this.#onWired?.resolve();
    } catch (error) {
      this.hasFailed = true;
      this.#onWired?.reject(error);
      this.#deps.onFailure(this, error);
    }
    this.#onWired = undefined;
    this.#woken.clear();
    this.due.forgetWakes();
  }

  async #work(): Promise<void> {
    await using app = await this.#deps.wire(this);
    if (app === undefined) return;
    this.pace = app.settings.pace;
    const wired = new WiredAccount(app, this.#deps, this.#woken, () => this.#deps.onPass(this));
    this.#wired = wired;
    for (const pass of this.#woken) wired.run(pass);
    this.#onWired?.resolve();
    this.#onWired = undefined;
    try {
      await wired.ended();
    } finally {
      this.#wired = undefined;
    }
  }
}

class WiredAccount {
  readonly app: App;
  readonly #passes: Passes;
  readonly #woken: Set<string>;
  readonly #onPass: () => Promise<void>;
  readonly #stop: AbortSignal;
  readonly #stopping = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  readonly #triedAgain = new Set<string>();
  readonly #uses = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;
  #activeAt: number;

  constructor(app: App, { passes, stop }: AccountDeps, woken: Set<string>, onPass: () => Promise<void>) {
    this.app = app;
    this.#passes = passes;
    this.#woken = woken;
    this.#onPass = onPass;
    this.#stop = AbortSignal.any([stop, app.accountLease.ending, this.#stopping.signal]);
    this.#activeAt = app.clock.monotonic();
  }

  get isBusy(): boolean {
    return this.#uses.size > 0 || this.#running.size > 0;
  }

  get isStopping(): boolean {
    return this.#stop.aborted;
  }

  get idleMs(): number {
    return this.isBusy ? 0 : this.app.clock.monotonic() - this.#activeAt;
  }

  /** Returns true if the pass is not running, and its breaker lets a request leave. */
  mayBegin(pass: 'create' | 'lookup'): boolean {
    const { exchange } = this.app;
    const { isOpen, needsProbe } = exchange.breaker(pass);
    return !this.#running.has(pass) && !isOpen && !(needsProbe && exchange.breaker('lookup').isOpen);
  }

  get isRecovering(): boolean {
    const { exchange, wrongTimes, creates, restraints } = this.app;
    if (creates.inFlight.unwritten.size > 0) return true;
    // The account stays wired, so that it reads the file of its key again and notices another key.
    if (restraints.all.some(({ kind }) => kind === 'key-refused')) return true;
    return wrongTimes.isAny || exchange.breaker('create').openings > 0 || exchange.breaker('lookup').openings > 0;
  }

  run(pass: string): void {
    this.app.observers.tell({ kind: 'pass.wanted', pass });
    if (this.isStopping) return;
    if (!this.#running.has(pass)) this.#running.set(pass, this.#repeat(pass));
    else if (pass === 'create') this.app.creates.readProgress.wake();
  }

  use(wakeCreates: () => void): AccountInUse {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#uses.add(promise);
    return {
      app: { ...this.app, wakeCreates },
      [Symbol.dispose]: () => {
        this.#uses.delete(promise);
        this.#activeAt = this.app.clock.monotonic();
        resolve();
      },
    };
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when the account was stopped and its work has ended. Rejects with the first failure of a pass. */
  async ended(): Promise<void> {
    if (!this.#stop.aborted) await once(this.#stop, 'abort');
    await withGracePeriod(this.app, this.#stop, () => Promise.all([...this.#running.values(), this.#unused()]));
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Retries after a full disk, lock or missing right. Another error, or a key that never worked, stops the account. */
  async #repeat(pass: string): Promise<void> {
    try {
      while (!this.#stop.aborted && this.#woken.delete(pass)) {
        await this.#runOnce(pass).catch((error: unknown) => this.#waitOut(pass, error));
        if (this.app.restraints.isKeyWrong) {
          throw new KeyRefusedError(`the exchange refuses the key (401); check ${keyPlace(this.app.config.exchange)}`);
        }
      }
    } catch (error) {
      this.#failure ??= { error };
      this.#stopping.abort(error);
    } finally {
      this.#running.delete(pass);
    }
  }

  async #runOnce(pass: string): Promise<void> {
    const { clock, observers } = this.app;
    const { tell } = observers;
    const beganAt = clock.now().getTime();
    tell({ kind: 'pass.began', pass });
    let isGood = false;
    try {
      await this.#passes[pass]?.(this.app, this.#stop);
      await this.#onPass();
      isGood = true;
    } finally {
      tell({ kind: 'pass.ended', pass, tookMs: clock.now().getTime() - beganAt, isGood });
      if (this.#woken.has(pass)) tell({ kind: 'pass.wanted', pass });
      this.#activeAt = clock.monotonic();
    }
  }

  #waitOut(pass: string, error: unknown): void {
    const { store, observers, clock } = this.app;
    if (!isPassing(error) || !store.isInPlace()) throw error;
    const message = 'a database error interrupted a pass; the pass runs again in 1 s';
    observers.tell({ kind: 'failed', failure: { level: 'error', message, cause: error.message, kind: 'database' } });
    // Each pass has one timer at most: a pass that is woken and fails again must not add a timer.
    if (this.#triedAgain.has(pass)) return;
    this.#triedAgain.add(pass);
    const again = () => {
      this.#triedAgain.delete(pass);
      this.#woken.add(pass);
      this.run(pass);
    };
    void clock.sleep(TRY_AGAIN_MS, this.#stop).then(again, () => undefined);
  }

  async #unused(): Promise<void> {
    const { gracePeriodOver } = this.app;
    if (!gracePeriodOver.aborted) await Promise.race([Promise.all(this.#uses), once(gracePeriodOver, 'abort')]);
  }
}
