import { once } from 'node:events';
import type { App } from '../app.ts';
import { withGracePeriod } from '../flows/pass/grace-period.ts';
import { repeatPass } from '../flows/pass/repeat.ts';
import { Waker } from '../flows/pass/waker.ts';

/** The work of an account, each kind a pass of its own. */
export interface Passes {
  create(): Promise<void>;
  lookup(): Promise<void>;
  links(): Promise<void>;
  findings(): Promise<void>;
  /** Corrects what was planned under a clock that was set back since. */
  clock(): Promise<void>;
  /** Corrects what of that could not be corrected before. */
  uncorrected(): Promise<void>;
}
export type PassName = keyof Passes;

/** Gives the passes of an account, which end when `stop` aborts. */
export type PassesOf = (app: App, stop: AbortSignal) => Passes;

/** An account while it is driven: its passes run when they are woken. */
export class DrivenAccount {
  readonly app: App;
  readonly #passes: Passes;
  readonly #stop: AbortSignal;
  readonly #ending = new AbortController();
  readonly #onPass: () => Promise<void>;
  readonly #wakers = new Map<PassName, Waker>();
  readonly #tasks: Promise<void>[] = [];
  /** Woken, and not begun yet. */
  readonly #woken = new Set<PassName>();
  #running = 0;
  #uses = 0;
  #activeAt: number;
  #onUnused = () => {};

  /** `onPass` is awaited after each pass. */
  constructor(app: App, passesOf: PassesOf, stop: AbortSignal, onPass: () => Promise<void>) {
    this.app = app;
    this.#stop = AbortSignal.any([stop, this.#ending.signal]);
    this.#passes = passesOf(app, this.#stop);
    this.#onPass = onPass;
    this.#activeAt = app.clock.monotonic();
  }

  /** Something is under way. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#uses > 0 || this.#woken.size > 0;
  }

  /** It takes nothing new. */
  get isStopping(): boolean {
    return this.#stop.aborted;
  }

  /** Milliseconds since something was under way. */
  get idleMs(): number {
    return this.isBusy ? 0 : this.app.clock.monotonic() - this.#activeAt;
  }

  /** Requests of the pass's kind can go: no circuit breaker and no hold stops them. */
  mayRun(pass: 'create' | 'lookup'): boolean {
    const { exchange } = this.app;
    const { isOpen, needsProbe } = exchange.breaker(pass);
    return !isOpen && !(needsProbe && exchange.breaker('lookup').isOpen);
  }

  /** True while a circuit breaker counts openings, a due time must be corrected, or an outcome must be written. */
  get isRecovering(): boolean {
    const { exchange, uncorrected, inFlight } = this.app;
    if (inFlight.unwrittenSize > 0) return true;
    return uncorrected.isAny || exchange.breaker('create').openings > 0 || exchange.breaker('lookup').openings > 0;
  }

  /** Runs a pass, or, where it is running, once more when it has ended. */
  wake(name: PassName): void {
    this.#woken.add(name);
    this.app.activity.passWanted(name);
    const waker = this.#wakers.get(name);
    if (waker !== undefined) return waker.wake();
    const made = new Waker();
    this.#wakers.set(name, made);
    const task = repeatPass(this.app, made, this.#stop, () => this.#run(name));
    task.catch((error: unknown) => this.#ending.abort(error));
    this.#tasks.push(task);
  }

  /** The account is used by others than its passes until what this gives is disposed of. */
  use(): Disposable {
    this.#uses += 1;
    return {
      [Symbol.dispose]: () => {
        this.#uses -= 1;
        this.#activeAt = this.app.clock.monotonic();
        if (this.#uses === 0) this.#onUnused();
      },
    };
  }

  /** Takes nothing new from now on. */
  stop(): void {
    this.#ending.abort();
  }

  /** Resolves when it was stopped and what was under way has ended. Rejects with what its passes failed by. */
  async ended(): Promise<void> {
    if (!this.#stop.aborted) await once(this.#stop, 'abort');
    const results = await withGracePeriod(this.app, this.#stop, () =>
      Promise.allSettled([...this.#tasks, this.#unused()]),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  async #run(name: PassName): Promise<void> {
    this.#woken.delete(name);
    this.#running += 1;
    const onEnd = this.app.activity.passBegins(name);
    let isGood = false;
    try {
      await this.#passes[name]();
      await this.#onPass();
      isGood = true;
    } finally {
      onEnd(isGood);
      if (this.#woken.has(name)) this.app.activity.passWanted(name);
      this.#running -= 1;
      this.#activeAt = this.app.clock.monotonic();
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
