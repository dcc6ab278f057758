import type { Logger } from 'pino';
import type { Clock } from '../../base/clock.ts';
import { endpointWaitMs } from './delivery.ts';
import { after } from '../../base/instant.ts';

/** `takenAt`, `failedAt`: times of the last delivery and the last failure in this process; null before the first. */
export type EndpointFacts = { takenAt: Date | null; failedAt: Date | null; failing: Failing | null };

interface Failing {
  since: Date;
  tries: number;
  cause: string;
  /** True while the endpoint is tried again, with one event at a time. */
  isTrying: boolean;
  /** The status of the last refusal in the present try. */
  refusedWith?: number;
  nextTryAt: Date;
  tryAgainAt: number;
  hasRetryAfter: boolean;
}

const SAY_AGAIN_MS = 60_000;

/** Tracks if an endpoint accepts events. A failing endpoint is tried again after 5 s, and then less often. */
export class EndpointCondition {
  readonly facts: EndpointFacts = { takenAt: null, failedAt: null, failing: null };
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Logger;
  #sayAgainAt = -Infinity;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  get isHalted(): boolean {
    return this.facts.failing?.isTrying === false;
  }

  tryAgain(): boolean {
    const { failing } = this.facts;
    if (failing?.isTrying !== false || this.#clock.monotonic() < failing.tryAgainAt) return false;
    failing.isTrying = true;
    return true;
  }

  /** Notes a delivery. Returns true if the delivery ends a failure. A wait by Retry-After does not end early. */
  noteDelivery(): boolean {
    const now = this.#clock.now();
    this.facts.takenAt = now;
    const { failing } = this.facts;
    if (failing === null || (failing.hasRetryAfter && this.isHalted)) return false;
    this.facts.failing = null;
    const { since, tries } = failing;
    const lastedMs = now.getTime() - since.getTime();
    this.#log.info({ lastedMs, tries }, 'a webhook endpoint accepts events again');
    return true;
  }

  /** Notes a refusal while the endpoint is tried again. The endpoint may still accept other events. */
  refused(status: number): void {
    if (this.facts.failing?.isTrying === true) this.facts.failing.refusedWith = status;
  }

  /** Must be called when no event is left to try. A refusal in the try then counts as a failure of the endpoint. */
  triedAll(): void {
    const status = this.facts.failing?.refusedWith;
    if (status !== undefined) this.failed(`it answers ${status}, and has accepted no event since`);
  }

  /** Logs, at most once a minute, that the endpoint refuses events of too many orders to retry them all. */
  refusesTooMany(retrying: number, status: number): void {
    const now = this.#clock.monotonic();
    if (now < this.#sayAgainAt) return;
    this.#sayAgainAt = now + SAY_AGAIN_MS;
    const text =
      'a webhook endpoint refuses events of too many orders: further refused events become dead letters at once';
    this.#log.warn({ retrying, status }, text);
  }

  /** Notes a failure of the endpoint as a whole. A Retry-After of a request still in flight may lengthen the wait. */
  failed(cause: string, askedMs?: number): void {
    const now = this.#clock.now();
    this.facts.failedAt = now;
    const { failing } = this.facts;
    const isKnown = failing?.isTrying === false;
    if (isKnown && askedMs === undefined) return;
    const tries = (failing?.tries ?? 0) + 1;
    const waitMs = endpointWaitMs(isKnown ? 1 : tries, askedMs);
    const wait = { nextTryAt: after(now, waitMs), tryAgainAt: this.#clock.monotonic() + waitMs };
    if (isKnown) {
      failing.hasRetryAfter = true;
      if (wait.tryAgainAt > failing.tryAgainAt) Object.assign(failing, wait);
      return;
    }
    const since = failing?.since ?? now;
    this.facts.failing = { since, tries, cause, ...wait, isTrying: false, hasRetryAfter: askedMs !== undefined };
    if (failing !== null) return;
    const facts = { nextTry: wait.nextTryAt.toISOString(), cause };
    this.#log.warn(facts, 'a webhook endpoint accepts no events; the events wait');
  }
}
