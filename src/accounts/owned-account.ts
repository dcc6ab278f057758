import type { App } from '../app.ts';
import type { FollowPace } from '../flows/pass/follow-pace.ts';
import type { Holding } from '../store/port.ts';
import { DrivenAccount, type PassesOf, type PassName } from './driven-account.ts';

/** What an owned account is driven with. */
export interface Driving {
  /**
   * Wires the account, once it is its turn; undefined where it is to end by then. `pace` is that of the time before, when it was
   * driven here; what the last owner left is put right then.
   */
  readonly start: (holding: Holding, pace: FollowPace | undefined) => Promise<App | undefined>;
  readonly passesOf: PassesOf;
  /** The process stops. */
  readonly stop: AbortSignal;
  /** Is awaited after each pass of an account. */
  readonly onPass: (account: OwnedAccount) => Promise<void>;
  /** An account cannot go on: it is not driven until `tryAgain` is called. */
  readonly onFailure: (account: OwnedAccount, error: unknown) => void;
}

/** The kinds of due times: creates, verifications of unknown outcomes, look-ups of followed orders. */
export type DueKind = 'create' | 'verify' | 'follow';

/**
 * An account that this process owns. It is driven while it is woken or used, and rests otherwise: then it costs the memory of
 * this object alone.
 */
export class OwnedAccount {
  readonly name: string;
  readonly holding: Holding;
  /** The first due time of each kind as it was last read, in ms of UTC. */
  due: Readonly<Partial<Record<DueKind, number | undefined>>> = {};
  readonly #driving: Driving;
  readonly #wanted = new Set<PassName>();
  #driven: DrivenAccount | undefined;
  #life: Promise<void> | undefined;
  #onDriven: PromiseWithResolvers<void> | undefined;
  #pace: FollowPace | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(holding: Holding, driving: Driving) {
    this.name = holding.account;
    this.holding = holding;
    this.#driving = driving;
  }

  /** What drives it; undefined where it rests, or is about to. */
  get driven(): DrivenAccount | undefined {
    return this.#driven?.isStopping === false ? this.#driven : undefined;
  }

  /** Resolves when it is not driven any more; undefined where it rests. */
  get life(): Promise<void> | undefined {
    return this.#life;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Runs a pass. An account that has failed is not woken. */
  wake(pass: PassName): void {
    if (this.driven !== undefined) return this.driven.wake(pass);
    if (this.#isOver || this.hasFailed) return;
    this.#wanted.add(pass);
    this.#begin();
  }

  /** What made it fail may have ended. */
  tryAgain(): void {
    this.#failure = undefined;
    this.wake('create');
    this.wake('lookup');
  }

  /** Drives it at least until what this gives is disposed of; undefined where it is no longer owned. Rejects where it cannot be driven. */
  async use(): Promise<{ readonly app: App; readonly use: Disposable } | undefined> {
    this.#failure = undefined;
    for (let { driven } = this; ; { driven } = this) {
      if (driven !== undefined) return { app: driven.app, use: driven.use() };
      if (this.#isOver) return undefined;
      this.#onDriven ??= Promise.withResolvers();
      this.#begin();
      await this.#onDriven.promise;
    }
  }

  get #isOver(): boolean {
    return this.#driving.stop.aborted || this.holding.ending.aborted;
  }

  #begin(): void {
    this.#life ??= this.#live().finally(() => {
      this.#life = undefined;
      // Woken since.
      if (this.#isWanted) this.#begin();
    });
  }

  get #isWanted(): boolean {
    return (this.#wanted.size > 0 || this.#onDriven !== undefined) && !this.#isOver && !this.hasFailed;
  }

  async #live(): Promise<void> {
    try {
      while (this.#isWanted) await this.#drive();
      this.#onDriven?.resolve();
    } catch (error) {
      this.#failure = { error };
      this.#onDriven?.reject(error);
      this.#driving.onFailure(this, error);
    }
    this.#onDriven = undefined;
    this.#wanted.clear();
    this.due = {};
  }

  async #drive(): Promise<void> {
    const { start, passesOf, stop, onPass } = this.#driving;
    await using app = await start(this.holding, this.#pace);
    if (app === undefined) return;
    this.#pace = app.settings.pace;
    const driven = new DrivenAccount(app, passesOf, AbortSignal.any([stop, this.holding.ending]), () => onPass(this));
    this.#driven = driven;
    for (const pass of this.#wanted) driven.wake(pass);
    this.#wanted.clear();
    this.#onDriven?.resolve();
    this.#onDriven = undefined;
    try {
      await driven.ended();
    } finally {
      this.#driven = undefined;
    }
  }
}
