import { TransportError, type Transport, type HttpRequest, type HttpResponse } from '../../src/exchange/transport.ts';
import { SandboxExchange } from '../../src/sandbox/exchange.ts';
import type { Create } from './observer/known.ts';
import type { Observer } from './observer/observer.ts';
import type { Chance } from './plan/chance.ts';
import type { Plan } from './plan/plan.ts';
import type { Life, Scheduler } from './scheduler.ts';

const KEY = 'canary-key-31';
const TIMEOUT_MS = 15_000;
/** A request that is on its way when its process dies arrives within this time or never. */
const LONGEST_LATENCY_MS = 200;

/** What can happen to a request; `taken` says whether the exchange does what is asked of it. */
const FAULTS = {
  never: { arrives: false, taken: false },
  'lost-before': { arrives: false, taken: false },
  'lost-after': { arrives: true, taken: true },
  'hangs-before': { arrives: false, taken: false },
  'hangs-after': { arrives: true, taken: true },
  '503-not-taken': { arrives: true, taken: false },
  '503-taken': { arrives: true, taken: true },
  html: { arrives: true, taken: true },
  'other-order': { arrives: true, taken: true },
  'rate-limited': { arrives: true, taken: false },
  'key-refused': { arrives: true, taken: false },
  blocked: { arrives: true, taken: false },
  refused: { arrives: true, taken: false },
  'refused-without-reason': { arrives: true, taken: false },
  'other-echo': { arrives: true, taken: true },
  stale: { arrives: true, taken: true },
  missing: { arrives: true, taken: true },
} as const;
type Fault = keyof typeof FAULTS;

const COMMON: readonly Fault[] = [
  'never',
  'lost-before',
  'lost-after',
  'hangs-before',
  'hangs-after',
  '503-not-taken',
  '503-taken',
  'html',
  'other-order',
  'rate-limited',
  'refused-without-reason',
];
const CREATE_FAULTS: readonly Fault[] = [...COMMON, 'refused', 'other-echo'];
const LOOKUP_FAULTS: readonly Fault[] = [...COMMON, 'stale', 'stale', 'stale', 'missing'];

type Ending = { readonly response: HttpResponse } | { readonly sent: 'never' | 'perhaps' };

/** An exchange behind the transport's interface, whose network and machines fail as the plan says. */
export class SimulatedExchange {
  readonly sandbox: SandboxExchange;
  /** Called with the order's id as a create leaves. */
  onCreate: (id: string) => void = () => {};
  readonly #plan: Plan;
  readonly #chance: Chance;
  readonly #scheduler: Scheduler;
  readonly #observer: Observer;
  /** Every record that an order was answered with, oldest first. */
  readonly #records = new Map<string, string[]>();

  constructor(plan: Plan, chance: Chance, scheduler: Scheduler, observer: Observer, utc: () => Date) {
    this.#plan = plan;
    this.#chance = chance;
    this.#scheduler = scheduler;
    this.#observer = observer;
    const scenarios = new Map(plan.orders.map(({ id, scenario }) => [id, scenario]));
    this.sandbox = new SandboxExchange({
      apiKey: KEY,
      random: chance.next,
      clock: {
        now: utc,
        monotonic: () => scheduler.now,
        random: chance.next,
        sleep: () => new Promise(() => {}),
        turn: () => new Promise(() => {}),
      },
      scenarioOf: (id) => scenarios.get(id) ?? { appearsAfterMs: null, steps: [] },
    });
  }

  /** The way of one process to the exchange. `step` is where the process may die. */
  transportOf(life: Life, step: (where: string) => void): Transport {
    return {
      send: (request) => {
        step('before a request leaves');
        return this.#begin(request, life);
      },
      close: async () => {},
    };
  }

  /** A process that stands still may have begun a request: it leaves when the process wakes, unless its connection is closed by then. */
  async #begin(request: HttpRequest, life: Life): Promise<HttpResponse> {
    const create = this.#observer.left(request, idOf(request), this.#scheduler.now);
    if (this.#plan.shared === null) return await this.#carry(request, life, create);
    const begunAt = this.#scheduler.now;
    await new Promise<void>((resolve) => {
      this.#scheduler.after(this.#chance.of([0, 0, 1, 20]), 'a request leaves', resolve, life);
    });
    if (this.#scheduler.now <= begunAt + TIMEOUT_MS) return await this.#carry(request, life, create);
    this.#observer.ended(request, idOf(request), { sent: 'perhaps' }, create);
    throw new TransportError(`${request.method} too late`, { sent: 'perhaps', code: 'SIMULATED' });
  }

  async #carry(request: HttpRequest, life: Life, create: Create | undefined): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const id = idOf(request);
    const fault = this.#faultFor(request);
    const what = `${request.method} ${JSON.stringify(id)} ${fault ?? 'fine'}`;
    if (request.method === 'POST') this.onCreate(id);
    const { arrives } = fault === undefined ? { arrives: true } : FAULTS[fault];
    const end = (ending: Ending) => {
      this.#observer.ended(request, id, ending, create);
      if ('response' in ending) resolve(ending.response);
      else reject(new TransportError(`${request.method} ${fault}`, { sent: ending.sent, code: 'SIMULATED' }));
    };
    const answer = (ending: Ending, ms: number) => this.#scheduler.after(ms, `answer ${what}`, () => end(ending), life);
    if (!arrives) {
      const ms = fault === 'hangs-before' ? TIMEOUT_MS : this.#latencyMs();
      answer({ sent: fault === 'never' ? 'never' : 'perhaps' }, ms);
      return await promise;
    }
    this.#scheduler.after(this.#latencyMs(), `arrival ${what}`, () => {
      // The bytes of a process that died may be on their way.
      if (!life.isAlive && this.#chance.next() < 0.5) return;
      this.#observer.arrived(this.#scheduler.now);
      const ending = this.#endingOf(request, id, fault);
      answer(ending, fault === 'hangs-after' ? TIMEOUT_MS - LONGEST_LATENCY_MS : this.#latencyMs());
    });
    return await promise;
  }

  #faultFor({ method }: HttpRequest): Fault | undefined {
    const { now } = this.#scheduler;
    const { keyRefused, blocked, faults, calmAt } = this.#plan;
    if (now >= calmAt) return undefined;
    if (keyRefused !== null && now >= keyRefused.from && now < keyRefused.to) return 'key-refused';
    if (method === 'POST' && blocked !== null && now >= blocked.from && now < blocked.to) return 'blocked';
    if (this.#chance.next() >= faults) return undefined;
    return this.#chance.of(method === 'POST' ? CREATE_FAULTS : LOOKUP_FAULTS);
  }

  #latencyMs(): number {
    return this.#chance.of([0, 1, 5, 50, LONGEST_LATENCY_MS]);
  }

  #endingOf(request: HttpRequest, id: string, fault: Fault | undefined): Ending {
    const body = fault === undefined || FAULTS[fault].taken ? this.#handle(request, id) : undefined;
    switch (fault) {
      case 'lost-after':
      case 'hangs-after':
        return { sent: 'perhaps' };
      case '503-taken':
      case '503-not-taken':
        return response(503, 'busy');
      case 'html':
        return response(200, '<html></html>');
      case 'rate-limited':
        return response(429, '', this.#chance.of([undefined, '1', '60']));
      case 'key-refused':
        return response(401, errorBody('UNAUTHORIZED'));
      case 'blocked':
        return response(403, errorBody('FORBIDDEN'));
      case 'refused':
        return response(this.#chance.of([400, 403, 422]), errorBody('BAD_REQUEST'));
      case 'refused-without-reason':
        return response(this.#chance.of([400, 403, 404, 408, 409, 422]), '{}');
      case 'missing':
        return response(404, errorBody('NOT_FOUND'));
      case 'stale':
        return response(200, this.#chance.of(this.#records.get(id) ?? ['{}']));
      case 'other-order':
        return response(
          200,
          (body?.body ?? '').replace(/"externalOrderId":"(?:[^"\\]|\\.)*"/, '"externalOrderId":"?"'),
        );
      case 'other-echo':
        return response(200, (body?.body ?? '').replace(/"asset":/, '"asset":9'));
      default:
        return response(body?.status ?? 500, body?.body ?? '');
    }
  }

  #handle(request: HttpRequest, id: string): { status: number; body: string } {
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const answer = this.sandbox.handle({
      method: request.method,
      path: request.path,
      headers,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    if (request.method === 'GET' && answer.status === 200) {
      this.#records.set(id, [...(this.#records.get(id) ?? []), answer.body]);
    }
    return answer;
  }
}

function response(status: number, body: string, retryAfter?: string): Ending {
  return { response: { status, body, ...(retryAfter === undefined ? {} : { retryAfter }) } };
}

function errorBody(status: string): string {
  return JSON.stringify({ message: 'as simulated', code: '0', status });
}

function idOf({ path, body }: HttpRequest): string {
  if (body === undefined) return new URL(path, 'http://simulated').searchParams.get('externalOrderId') ?? '';
  const [, id] = /"externalOrderId":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return JSON.parse(id ?? '""') as string;
}
