import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { endpointWaitMs } from './delivery.ts';
import { after } from '../../base/instant.ts';

export interface EndpointFacts {
  /** When it took the last event, and when it last failed; null if it has not in this process. */
  readonly takenAt: Date | null;
  readonly failedAt: Date | null;
  readonly failing: { readonly since: Date; readonly cause: string; readonly nextTryAt: Date } | null;
}

const SAY_AGAIN_MS = 60_000;

interface Failing {
  readonly since: Date;
  readonly tries: number;
  readonly cause: string;
  /** It is tried again, with one event at a time. */
  isTrying: boolean;
  /** The status with which it has refused an event since it is tried again. */
  refusedWith?: number;
  nextTryAt: Date;
  tryAgainAt: number;
  isAsked: boolean;
}

/** Whether an endpoint takes events: while it does not, one event tries it, from 5 s after the first failure up to once an hour. */
export class EndpointCondition {
  readonly #name: string;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Logger;
  #failing: Failing | undefined;
  #sayAgainAt = -Infinity;
  #takenAt: Date | null = null;
  #failedAt: Date | null = null;

  constructor(name: string, clock: Pick<Clock, 'now' | 'monotonic'>, log: Logger) {
    this.#name = name;
    this.#clock = clock;
    this.#log = log;
  }

  get facts(): EndpointFacts {
    return { takenAt: this.#takenAt, failedAt: this.#failedAt, failing: this.#failing ?? null };
  }

  get isHalted(): boolean {
    return this.#failing?.isTrying === false;
  }

  tryAgain(): boolean {
    if (this.#failing?.isTrying !== false || this.#clock.monotonic() < this.#failing.tryAgainAt) return false;
    this.#failing.isTrying = true;
    return true;
  }

  /** True if the endpoint takes events again: an event sent before it asked to wait does not end the wait. */
  took(): boolean {
    this.#takenAt = this.#clock.now();
    const failing = this.#failing;
    if (failing === undefined || (failing.isAsked && this.isHalted)) return false;
    this.#failing = undefined;
    const { since, tries } = failing;
    const lastedMs = this.#takenAt.getTime() - since.getTime();
    this.#log.info({ endpoint: this.#name, lastedMs, tries }, 'a webhook endpoint accepts events again');
    return true;
  }

  /** It refused an event: where it is tried again, whether it takes others is still to be seen. */
  refused(status: number): void {
    if (this.#failing?.isTrying === true) this.#failing.refusedWith = status;
  }

  /** There is nothing more to try it with: where it has refused an event, that is its next failure. */
  triedAll(): void {
    const status = this.#failing?.refusedWith;
    if (status !== undefined) this.failed(`it answers ${status}, and has accepted no event since`);
  }

  /** It refuses events of more orders than are retried: that is logged, at most once a minute. */
  refusesTooMany(retrying: number, status: number): void {
    const now = this.#clock.monotonic();
    if (now < this.#sayAgainAt) return;
    this.#sayAgainAt = now + SAY_AGAIN_MS;
    const text =
      'a webhook endpoint refuses events of too many orders: further refused events become dead letters at once';
    this.#log.warn({ endpoint: this.#name, retrying, status }, text);
  }

  /** It failed as a whole. Requests that were under way when it began say the same, and may ask for a longer wait. */
  failed(cause: string, askedMs?: number): void {
    const now = this.#clock.now();
    this.#failedAt = now;
    const failing = this.#failing;
    const isKnown = failing?.isTrying === false;
    if (isKnown && askedMs === undefined) return;
    const tries = (failing?.tries ?? 0) + 1;
    const waitMs = endpointWaitMs(isKnown ? 1 : tries, askedMs);
    const wait = { nextTryAt: after(now, waitMs), tryAgainAt: this.#clock.monotonic() + waitMs };
    if (isKnown) {
      failing.isAsked = true;
      if (wait.tryAgainAt > failing.tryAgainAt) Object.assign(failing, wait);
      return;
    }
    const since = failing?.since ?? now;
    this.#failing = { since, tries, cause, ...wait, isTrying: false, isAsked: askedMs !== undefined };
    if (failing !== undefined) return;
    const facts = { endpoint: this.#name, nextTry: wait.nextTryAt.toISOString(), cause };
    this.#log.warn(facts, 'a webhook endpoint accepts no events; they wait');
  }
}
