/** `setTimeout` fires at once if the time is above 2 ** 31 - 1 ms (24 days). */
const timerOf = (ms: number, then: () => void) => setTimeout(then, Math.min(ms, 2 ** 31 - 1));

export function nowMs(): number {
  return Date.now();
}

/** Returns a random time from half of `ms` to `ms`. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** A limit of time, whose `signal` aborts when the signal of the caller aborts, or when the time is over. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endsAtMs = Infinity;

  constructor(caller: AbortSignal | undefined, ms?: number) {
    this.#caller = caller;
    if (caller?.aborted === true) this.#abort();
    // `AbortSignal.any` would use memory for each request as long as the signal of the caller exists.
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

  end(): void {
    this.release();
    this.#controller.abort();
  }

  release(): void {
    this.pause();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}

/** Waits `ms`. Rejects with the reason of `signal` when `signal` aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const limit = new TimeLimit(signal, ms);
  await new Promise((resolve) => limit.signal.addEventListener('abort', resolve, { once: true }));
  limit.release();
  signal.throwIfAborted();
}
