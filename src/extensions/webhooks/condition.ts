import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { endpointWaitMs } from './delivery.ts';
import { after } from '../../base/instant.ts';

export interface EndpointFacts {
  /** When it last took an event, and when it last failed; null if it has not in this process. */
  readonly takenAt: Date | null;
  readonly failedAt: Date | null;
  readonly failing: Readonly<Pick<Failing, 'since' | 'cause' | 'nextTryAt'>> | null;
}

interface Failing {
  since: Date;
  tries: number;
  cause: string;
  /** The endpoint is tried again, with one event at a time. */
  isTrying: boolean;
  /** The status of its last refusal since it is tried again. */
  refusedWith?: number;
  nextTryAt: Date;
  tryAgainAt: number;
  isAsked: boolean;
}

const SAY_AGAIN_MS = 60_000;

/** Tells whether an endpoint takes events. While it fails, one event tries it: 5 s after the first failure, then less and less often. */
export class EndpointCondition {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Logger;
  #failing: Failing | undefined;
  #sayAgainAt = -Infinity;
  #takenAt: Date | null = null;
  #failedAt: Date | null = null;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, log: Logger) {
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
    this.#log.info({ lastedMs, tries }, 'a webhook endpoint accepts events again');
    return true;
  }

  /** A refusal while the endpoint is tried again does not tell whether it takes other events. */
  refused(status: number): void {
    if (this.#failing?.isTrying === true) this.#failing.refusedWith = status;
  }

  /** No event is left to try it with: a refusal is then its next failure. */
  triedAll(): void {
    const status = this.#failing?.refusedWith;
    if (status !== undefined) this.failed(`it answers ${status}, and has accepted no event since`);
  }

  /** Logs, at most once a minute, that it refuses events of more orders than are retried. */
  refusesTooMany(retrying: number, status: number): void {
    const now = this.#clock.monotonic();
    if (now < this.#sayAgainAt) return;
    this.#sayAgainAt = now + SAY_AGAIN_MS;
    const text =
      'a webhook endpoint refuses events of too many orders: further refused events become dead letters at once';
    this.#log.warn({ retrying, status }, text);
  }

  /** The endpoint failed as a whole. Requests that were in flight then fail alike, and may ask for a longer wait. */
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
    const facts = { nextTry: wait.nextTryAt.toISOString(), cause };
    this.#log.warn(facts, 'a webhook endpoint accepts no events; they wait');
  }
}
