import { once } from 'node:events';
import type { App } from '../app.ts';
import { DueTimes } from '../domain/accounts/due.ts';
import type { FollowPace } from '../flows/pass/follow-pace.ts';
import { RepeatedPass, withGracePeriod } from '../flows/pass/run.ts';
import type { AccountInUse } from '../http/control/operations/operation.ts';
import type { AccountLease } from '../store/port.ts';

/**
 * The kinds of passes. `clock` corrects due times that were planned under a clock that was set back since, and `uncorrected`
 * those that could not be corrected before.
 */
type PassName = 'create' | 'lookup' | 'links' | 'findings' | 'clock' | 'uncorrected';

export type Passes = Readonly<Record<PassName, (app: App, stop: AbortSignal) => Promise<void>>>;

interface AccountDeps {
  /**
   * Wires the account, once it is its turn; undefined if it must end by then. `pace` is that of the time before, if the account was
   * wired before: then what the last owner left is put right already.
   */
  readonly wire: (accountLease: AccountLease, pace: FollowPace | undefined) => Promise<App | undefined>;
  readonly passes: Passes;
  readonly stop: AbortSignal;
  readonly onPass: (account: OwnedAccount) => Promise<void>;
  /** The account does not work until `tryAgain` is called. */
  readonly onFailure: (account: OwnedAccount, error: unknown) => void;
}

/**
 * An account that this process owns. It is wired while a pass was woken or somebody uses it; otherwise it costs the memory of
 * this object alone.
 */
export class OwnedAccount {
  readonly name: string;
  readonly accountLease: AccountLease;
  readonly due = new DueTimes();
  /** Resolves when the account is not wired any more; undefined if it is not. */
  life: Promise<void> | undefined;
  hasFailed = false;
  readonly #deps: AccountDeps;
  readonly #wanted = new Set<PassName>();
  #wired: WiredAccount | undefined;
  #onWired: PromiseWithResolvers<void> | undefined;
  #pace: FollowPace | undefined;

  constructor(accountLease: AccountLease, deps: AccountDeps) {
    this.name = accountLease.account;
    this.accountLease = accountLease;
    this.#deps = deps;
  }

  /** Undefined while the account is not wired, or takes nothing new. */
  get wired(): WiredAccount | undefined {
    return this.#wired?.isStopping === false ? this.#wired : undefined;
  }

  /** Runs a pass, unless the account has failed. */
  wake(pass: PassName): void {
    if (this.wired !== undefined) return this.wired.wake(pass);
    if (this.#isOver || this.hasFailed) return;
    this.#wanted.add(pass);
    this.#begin();
  }

  tryAgain(): void {
    this.hasFailed = false;
    this.wake('create');
    this.wake('lookup');
  }

  /**
   * Keeps the account wired until the result is disposed of; undefined if the account is not owned any more. Rejects if the account
   * cannot be wired.
   */
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
    return (this.#wanted.size > 0 || this.#onWired !== undefined) && !this.#isOver && !this.hasFailed;
  }

  #begin(): void {
    this.life ??= this.#live().finally(() => {
      this.life = undefined;
      // Woken since.
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
    this.#wanted.clear();
    this.due.forgetWakes();
  }

  async #work(): Promise<void> {
    const { wire, passes, stop, onPass } = this.#deps;
    await using app = await wire(this.accountLease, this.#pace);
    if (app === undefined) return;
    this.#pace = app.settings.pace;
    const wired = new WiredAccount(app, passes, AbortSignal.any([stop, this.accountLease.ending]), () => onPass(this));
    this.#wired = wired;
    for (const pass of this.#wanted) wired.wake(pass);
    this.#wanted.clear();
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
  readonly #stop: AbortSignal;
  readonly #stopping = new AbortController();
  readonly #onPass: () => Promise<void>;
  readonly #repeated = new Map<PassName, RepeatedPass>();
  #failure: { readonly error: unknown } | undefined;
  #uses = 0;
  #activeAt: number;
  #onUnused = () => {};

  constructor(app: App, passes: Passes, stop: AbortSignal, onPass: () => Promise<void>) {
    this.app = app;
    this.#stop = AbortSignal.any([stop, this.#stopping.signal]);
    this.#passes = passes;
    this.#onPass = onPass;
    this.#activeAt = app.clock.monotonic();
  }

  get isBusy(): boolean {
    return this.#uses > 0 || this.#repeated.values().some(({ isBusy }) => isBusy);
  }

  get isStopping(): boolean {
    return this.#stop.aborted;
  }

  get idleMs(): number {
    return this.isBusy ? 0 : this.app.clock.monotonic() - this.#activeAt;
  }

  mayRun(pass: 'create' | 'lookup'): boolean {
    const { exchange } = this.app;
    const { isOpen, needsProbe } = exchange.breaker(pass);
    return !isOpen && !(needsProbe && exchange.breaker('lookup').isOpen);
  }

  get isRecovering(): boolean {
    const { exchange, wrongTimes, creates } = this.app;
    if (creates.inFlight.unwrittenSize > 0) return true;
    return wrongTimes.isAny || exchange.breaker('create').openings > 0 || exchange.breaker('lookup').openings > 0;
  }

  /** Runs a pass, or, if it is running, once more when it has ended. */
  wake(name: PassName): void {
    this.app.observers.activity.tell({ kind: 'pass.wanted', pass: name });
    const pass =
      this.#repeated.get(name) ??
      new RepeatedPass(
        this.app,
        this.#stop,
        () => this.#run(name),
        (error) => this.#fail(error),
      );
    this.#repeated.set(name, pass);
    pass.wake();
  }

  use(wakeCreates: () => void): AccountInUse {
    this.#uses += 1;
    return {
      app: { ...this.app, wakeCreates },
      [Symbol.dispose]: () => {
        this.#uses -= 1;
        this.#activeAt = this.app.clock.monotonic();
        if (this.#uses === 0) this.#onUnused();
      },
    };
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when it was stopped and what was under way has ended. Rejects with the first failure of its passes. */
  async ended(): Promise<void> {
    if (!this.#stop.aborted) await once(this.#stop, 'abort');
    await withGracePeriod(this.app, this.#stop, () =>
      Promise.all([...this.#repeated.values().map(({ ended }) => ended), this.#unused()]),
    );
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopping.abort(error);
  }

  async #run(name: PassName): Promise<void> {
    const { observers, clock } = this.app;
    const { activity } = observers;
    const beganAt = clock.now().getTime();
    activity.tell({ kind: 'pass.began', pass: name });
    let isGood = false;
    try {
      await this.#passes[name](this.app, this.#stop);
      await this.#onPass();
      isGood = true;
    } finally {
      activity.tell({ kind: 'pass.ended', pass: name, tookMs: clock.now().getTime() - beganAt, isGood });
      if (this.#repeated.get(name)?.isWoken === true) activity.tell({ kind: 'pass.wanted', pass: name });
      this.#activeAt = clock.monotonic();
    }
  }

  async #unused(): Promise<void> {
    if (this.#uses === 0 || this.app.gracePeriodOver.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onUnused = resolve;
    this.app.gracePeriodOver.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }
}
