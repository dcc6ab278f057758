import { Buffer } from 'node:buffer';
import type { WebhookEndpoint } from '../../../src/extensions/webhooks/settings.ts';
import type { FeedEvent } from '../../../src/extensions/feed/event.ts';
import type { Connections, Posted } from '../../../src/extensions/webhooks/sender.ts';
import type { DeliveryObserver } from '../observer/deliveries.ts';
import type { Chance } from '../plan/chance.ts';
import type { Life, Scheduler } from '../scheduler.ts';
import { DELIVERY_FAULTS, isPoisoned, type DeliveryFault, type PlannedReceiver } from '../plan/receivers.ts';

const TIMEOUT_MS = 15_000;
const RETRY_AFTERS = [undefined, '0', '1', '60', '1800', '86400', '-5', 'soon', '1.5', 'a date'] as const;
const HUGE = 7_200_000;

/** Secrets of receivers, which must be seen nowhere. */
export const SECRETS = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, `canary-secret-${byte}`).toString('base64')}`);

type Ending = { readonly status: number; readonly retryAfter?: string | undefined } | { readonly code: string };

/** Receivers of events behind the sender's connections. */
export class SimulatedReceivers {
  readonly #planned: readonly PlannedReceiver[];
  readonly #chance: Chance;
  readonly #scheduler: Scheduler;
  readonly #observer: DeliveryObserver;
  readonly #utc: () => Date;

  constructor(
    planned: readonly PlannedReceiver[],
    chance: Chance,
    scheduler: Scheduler,
    observer: DeliveryObserver,
    utc: () => Date,
  ) {
    this.#planned = planned;
    this.#chance = chance;
    this.#scheduler = scheduler;
    this.#observer = observer;
    this.#utc = utc;
  }

  /** The endpoints as the settings of a process that starts now name them. */
  get endpoints(): readonly WebhookEndpoint[] {
    const { now } = this.#scheduler;
    return this.#planned
      .filter(({ addedAt }) => addedAt <= now)
      .map(({ name, url, events, allowPrivate, rotated }) => {
        const [first = '', second = ''] = SECRETS;
        if (rotated === null || now < rotated.from) return { name, url, events, allowPrivate, secrets: [first] };
        return { name, url, events, allowPrivate, secrets: now < rotated.to ? [second, first] : [second] };
      });
  }

  /** The connections of one process. `stir` hears of each request that begins or ends. */
  connectionsOf(life: Life, stir: () => void) {
    return ({ endpoint }: { readonly endpoint: WebhookEndpoint }): Connections => ({
      post: async (body, headers, signal) => {
        stir();
        const posted = await this.#post(endpoint, { body, headers }, life, signal);
        stir();
        return posted;
      },
      [Symbol.dispose]: () => {},
    });
  }

  async #post(
    endpoint: WebhookEndpoint,
    request: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
    life: Life,
    signal: AbortSignal | undefined,
  ): Promise<Posted> {
    const receiver = this.#planned.find(({ name }) => name === endpoint.name);
    if (receiver === undefined) throw new Error(`not planned: ${endpoint.name}`);
    const delivery = this.#observer.left(endpoint, request, life);
    const event = JSON.parse(request.body) as FeedEvent;
    const fault = this.#faultFor(receiver, event);
    const what = `${endpoint.name} ${event.cursor} ${typeof fault === 'number' ? fault : (fault ?? 'fine')}`;
    const { promise, resolve } = Promise.withResolvers<Posted>();
    const end = (ending: Ending) => {
      if (!delivery.isUnderWay) return;
      this.#observer.ended(delivery, ending);
      if ('code' in ending) resolve({ failure: { code: ending.code }, isReused: ending.code === 'CLOSED' });
      else resolve({ answer: { status: ending.status, retryAfter: ending.retryAfter } });
    };
    signal?.addEventListener('abort', () => end({ code: 'ABORTED' }), { once: true });
    const answer = (ending: Ending, ms: number) =>
      this.#scheduler.after(ms, `webhook answer ${what}`, () => end(ending), life);
    const { arrives, taken } =
      typeof fault === 'number' ? REFUSED : fault === undefined ? TAKEN : DELIVERY_FAULTS[fault];
    if (!arrives) {
      answer({ code: codeOf(fault) }, fault === 'hangs-before' ? TIMEOUT_MS : this.#latencyMs(receiver));
      return await promise;
    }
    this.#scheduler.after(this.#latencyMs(receiver) / 2, `webhook arrival ${what}`, () => {
      // The bytes of a process that died may be on their way.
      if (!life.isAlive && this.#chance.next() < 0.5) return;
      if (taken) this.#observer.taken(delivery);
      answer(this.#endingOf(fault), fault === 'hangs-after' ? TIMEOUT_MS : this.#latencyMs(receiver) / 2);
    });
    return await promise;
  }

  /** A number is the status with which it refuses the event. */
  #faultFor(receiver: PlannedReceiver, event: FeedEvent): DeliveryFault | number | undefined {
    const { now } = this.#scheduler;
    const { dead, refusesAll, poison, faults, kinds, wellAt } = receiver;
    if (isWithin(dead, now)) return this.#chance.of(['refused', 'refused', 'hangs-before'] as const);
    if (isWithin(refusesAll, now)) return 401;
    if (poison !== null && isPoisoned(event, poison.oneOf))
      return poison.answer === 'nothing' ? 'lost-before' : poison.answer;
    if (now >= wellAt || kinds.length === 0 || this.#chance.next() >= faults) return undefined;
    return this.#chance.of(kinds);
  }

  #latencyMs({ latenciesMs }: PlannedReceiver): number {
    return this.#chance.of(latenciesMs);
  }

  #endingOf(fault: DeliveryFault | number | undefined): Ending {
    if (typeof fault === 'number') return { status: fault };
    switch (fault) {
      case 'lost-after':
      case 'hangs-after':
        return { code: 'ECONNRESET' };
      case 'too-many':
        return { status: 429, retryAfter: this.#retryAfter() };
      case 'asks-to-wait':
        return { status: 503, retryAfter: this.#retryAfter() };
      case 'broken':
      case 'broken-after':
        return { status: this.#chance.of([500, 502, 504, 599]) };
      case 'redirects':
        return { status: this.#chance.of([301, 302, 303, 307, 308, 304]) };
      case 'timed-out':
        return { status: 408, retryAfter: this.#retryAfter() };
      case 'declines':
        return { status: this.#chance.of([400, 401, 403, 404, 409, 410, 413, 422]) };
      default:
        return { status: this.#chance.of([200, 201, 202, 204, 204, 299]) };
    }
  }

  #retryAfter(): string | undefined {
    const drawn = this.#chance.of(RETRY_AFTERS);
    if (drawn !== 'a date') return drawn;
    return new Date(this.#utc().getTime() + this.#chance.of([-HUGE, 90_000, HUGE])).toUTCString();
  }
}

const REFUSED = { arrives: true, taken: false };
const TAKEN = { arrives: true, taken: true };

function codeOf(fault: DeliveryFault | number | undefined): string {
  if (fault === 'closed') return 'CLOSED';
  return fault === 'hangs-before' ? 'ETIMEDOUT' : 'ECONNREFUSED';
}

function isWithin(window: PlannedReceiver['dead'], now: number): boolean {
  return window !== null && now >= window.from && now < window.to;
}
