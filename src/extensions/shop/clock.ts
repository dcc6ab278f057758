/** A timer of more than 24 days would end at once. */
const timerOf = (ms: number, then: () => void) => setTimeout(then, Math.min(ms, 2 ** 31 - 1));

export function nowMs(): number {
  return Date.now();
}

/** Returns from half of `ms` to all of it. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** Aborts when the signal of a caller does, or when the time is over. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endsAtMs = Infinity;

  constructor(caller: AbortSignal | undefined, ms?: number) {
    this.#caller = caller;
    if (caller?.aborted === true) this.#abort();
    // `AbortSignal.any` would leave something of each request on a signal that lives as long as the shop.
    caller?.addEventListener('abort', this.#abort);
    if (ms !== undefined) this.restart(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get leftMs(): number {
    return this.#endsAtMs - nowMs();
  }

  restart(ms: number): void {
    this.pause();
    this.#endsAtMs = nowMs() + ms;
    this.#timer = timerOf(ms, () => this.#controller.abort(new Error('the time is over')));
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#endsAtMs = Infinity;
  }

  /** Ends the work under this limit. */
  end(): void {
    this.release();
    this.#controller.abort();
  }

  /** Stops the timer, and no longer listens to the signal of the caller. */
  release(): void {
    this.pause();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}

/** Rejects with the reason of `signal` when it aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const limit = new TimeLimit(signal, ms);
  await new Promise((resolve) => limit.signal.addEventListener('abort', resolve, { once: true }));
  limit.release();
  signal.throwIfAborted();
}
