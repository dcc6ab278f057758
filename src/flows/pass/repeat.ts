import type { Clock } from '../../clock.ts';
import { KeyRefusedError } from '../../exchange/refusals.ts';
import { isPassing } from '../../store/errors.ts';
import type { FlowDeps } from './deps.ts';

/** A pass that the database broke off runs again after this time, woken or not. */
const TRY_AGAIN_MS = 1_000;

type RepeatDeps = Pick<FlowDeps, 'holds' | 'store' | 'clock' | 'incidents'>;

/**
 * Runs a pass when it is woken, and once more if it is woken while it runs, until `stop` aborts. A full disk or a locked
 * database is waited out. `onFailure` is called with any other error, and with `KeyRefusedError` when the exchange has never
 * taken a key.
 */
export class RepeatedPass {
  readonly #deps: RepeatDeps;
  readonly #stop: AbortSignal;
  readonly #pass: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #isWoken = false;
  #isRunning = false;
  #isToTryAgain = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(deps: RepeatDeps, stop: AbortSignal, pass: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#deps = deps;
    this.#stop = stop;
    this.#pass = pass;
    this.#onFailure = onFailure;
  }

  /** The pass runs, or is about to. */
  get isBusy(): boolean {
    return this.#isRunning;
  }

  /** The pass was woken again while it ran. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Resolves when the pass has ended and is not woken. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  wake(): void {
    this.#isWoken = true;
    if (!this.#isRunning) this.#ended = this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#isWoken && !this.#stop.aborted) {
        this.#isWoken = false;
        await this.#pass().catch((error: unknown) => this.#waitOut(error));
        if (this.#deps.holds.isKeyWrong) {
          throw new KeyRefusedError('the exchange refuses the key (401); set exchange.apiKey and start again');
        }
      }
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#isRunning = false;
    }
  }

  #waitOut(error: unknown): void {
    const { store, incidents } = this.#deps;
    if (!isPassing(error) || !store.isInPlace()) throw error;
    incidents.failed({
      level: 'error',
      message: 'a pass was broken off by the database',
      cause: error.message,
      kind: 'database',
    });
    // One timer at a time: the other wakes of the pass must not add to them.
    if (!this.#isToTryAgain) void this.#tryAgain();
  }

  async #tryAgain(): Promise<void> {
    this.#isToTryAgain = true;
    await this.#deps.clock.sleep(TRY_AGAIN_MS, this.#stop).catch(() => undefined);
    this.#isToTryAgain = false;
    this.wake();
  }
}

/** Does the work every `ms` until `stop` aborts. Rejects with what the work throws. */
export async function repeatEvery(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  stop: AbortSignal,
  work: () => void | Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    await clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) await work();
  }
}
