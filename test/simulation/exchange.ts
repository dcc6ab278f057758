import {
  TransportError,
  type Transport,
  type HttpRequest,
  type HttpResponse,
} from '../../src/exchange/transport/http.ts';
import { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import { FAULTS, type Ending, type Fault, type FaultName } from './faults.ts';
import type { Replay } from '../model/replay.ts';
import type { Create } from './observer/known.ts';
import type { Observer } from './observer/observer.ts';
import { keyOf, quoted } from './plan/names.ts';
import type { Chance } from './plan/chance.ts';
import type { Plan } from './plan/plan.ts';
import type { Life, Scheduler } from './scheduler.ts';

const TIMEOUT_MS = 15_000;
/** A request that is on its way when its process dies arrives within this time or never. */
const LONGEST_LATENCY_MS = 200;

const FINE: Fault = { of: 'both', taken: 1, end: ({ status, body }) => ({ response: { status, body } }) };

interface Leaving {
  /** The program's own check, when the connection is made. */
  readonly mayLeave: () => boolean;
  /** True if the process owns the account in truth. */
  readonly isOwner: () => boolean;
}

/** An exchange behind the transport's interface, whose network and machines fail as the plan says. */
export class SimulatedExchange {
  readonly sandbox: SandboxExchange;
  /** Called with the order's id as a create leaves. */
  onCreate: (id: string) => void = () => {};
  /** Is told of creates, if a world is held against the model. */
  replay: Pick<Replay, 'request' | 'cut'> | undefined;
  readonly #plan: Plan;
  readonly #key: string;
  readonly #chance: Chance;
  readonly #scheduler: Scheduler;
  readonly #observer: Observer;
  readonly #utc: () => Date;
  /** Every record that an order was answered with, oldest first. */
  readonly #records = new Map<string, string[]>();

  constructor(plan: Plan, chance: Chance, scheduler: Scheduler, observer: Observer, utc: () => Date) {
    this.#plan = plan;
    this.#key = keyOf(plan.account);
    this.#chance = chance;
    this.#scheduler = scheduler;
    this.#observer = observer;
    this.#utc = utc;
    const scenarios = new Map(plan.orders.map(({ id, scenario }) => [id, scenario]));
    this.sandbox = new SandboxExchange({
      apiKey: this.#key,
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

  /** The way of one process to the exchange. `step` is a place at which the process may die. */
  transportOf(life: Life, step: (where: string) => void, key: () => string, isOwner: () => boolean): Transport {
    return {
      send: (request, _signal, mayLeave = () => true) => {
        step('before a request leaves');
        if (key() !== this.#key)
          this.#observer.fail('requests bear the key of their account', `${request.method} of ${this.#plan.account}`);
        return this.#begin(request, life, { mayLeave, isOwner });
      },
      close: async () => {},
    };
  }

  /** A process that stands still may have begun a request: it leaves when the process wakes, unless its connection is closed by then. */
  async #begin(request: HttpRequest, life: Life, { mayLeave, isOwner }: Leaving): Promise<HttpResponse> {
    if (request.method === 'POST') this.replay?.request(idOf(request), 'begin', life);
    const create = this.#observer.left(request, idOf(request), life, this.#scheduler.now);
    if (this.#plan.shared === null) return await this.#carry(request, life, create);
    const begunAt = this.#scheduler.now;
    await new Promise<void>((resolve) => {
      this.#scheduler.after(this.#chance.of([0, 0, 1, 20, 1_000]), 'a request leaves', resolve, life);
    });
    const isInTime = this.#scheduler.now <= begunAt + TIMEOUT_MS;
    const isRefused = isInTime && request.method === 'POST' && !mayLeave();
    if (isInTime && !isRefused) {
      if (request.method === 'POST' && !isOwner())
        this.#observer.fail('one owner an account', `the create of ${idOf(request)} left a former owner`);
      return await this.#carry(request, life, create);
    }
    const sent = isRefused ? 'never' : 'perhaps';
    this.#observer.ended(request, idOf(request), life, { ending: { sent }, create }, this.#scheduler.now);
    throw new TransportError(`${request.method} too late`, { sent, code: 'SIMULATED' });
  }

  async #carry(request: HttpRequest, life: Life, create: Create | undefined): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const id = idOf(request);
    const name = this.#faultFor(request, id);
    const fault: Fault = name === undefined ? FINE : FAULTS[name];
    const what = `${request.method} ${quoted(this.#plan.account, id)} ${name ?? 'fine'}`;
    if (request.method === 'POST') this.onCreate(id);
    if (create !== undefined) this.replay?.request(id, 'leave', life);
    const end = (ending: Ending) => {
      this.#observer.ended(request, id, life, { ending, create }, this.#scheduler.now);
      if ('response' in ending) return resolve(ending.response);
      reject(new TransportError(`${request.method} ${name}`, { sent: ending.sent, code: ending.code ?? 'SIMULATED' }));
    };
    const answer = (ending: Ending, ms: number) => this.#scheduler.after(ms, `answer ${what}`, () => end(ending), life);
    if (fault.isLost === true) {
      answer(this.#endingOf(request, id, fault), fault.hangs === true ? TIMEOUT_MS : this.#latencyMs());
      return await promise;
    }
    this.#scheduler.after(this.#latencyMs(), `arrival ${what}`, () => {
      // The bytes of a process that died may be on their way.
      if (!life.isAlive && this.#chance.next() < 0.5) return;
      this.#observer.arrived(this.#scheduler.now);
      const made = this.sandbox.preOrdersOf(id).length;
      const ending = this.#endingOf(request, id, fault);
      if (fault.taken === 2) this.replay?.cut(id);
      if (this.sandbox.preOrdersOf(id).length > made) this.replay?.request(id, 'take', life);
      answer(ending, fault.hangs === true ? TIMEOUT_MS - LONGEST_LATENCY_MS : this.#latencyMs());
    });
    return await promise;
  }

  #faultFor({ method }: HttpRequest, id: string): FaultName | undefined {
    const { now } = this.#scheduler;
    const { outages, faults, createFaults, lookupFaults, calmAt, orders } = this.#plan;
    const kind = method === 'POST' ? 'create' : 'lookup';
    const answeredBy = kind === 'lookup' ? orders.find((order) => order.id === id)?.answeredBy : undefined;
    if (now >= calmAt) return answeredBy ?? undefined;
    const outage = outages.find(
      ({ from, to, isOfCreates }) => now >= from && now < to && (kind === 'create' || !isOfCreates),
    );
    if (outage !== undefined) return outage.fault;
    if (this.#chance.next() >= faults) return answeredBy ?? undefined;
    return this.#chance.of(kind === 'create' ? createFaults : lookupFaults);
  }

  #latencyMs(): number {
    return this.#chance.of([0, 1, 5, 50, LONGEST_LATENCY_MS]);
  }

  #endingOf(request: HttpRequest, id: string, fault: Fault): Ending {
    const answers = Array.from({ length: fault.taken }, () => this.#handle(request, id));
    if (request.method === 'POST' && fault.taken === 2) this.#observer.doubled(id);
    const { status, body } = answers[0] ?? { status: 500, body: '' };
    const records = this.#records.get(id) ?? [];
    return fault.end({ status, body, chance: this.#chance, now: new Date(this.#utc()), records });
  }

  #handle(request: HttpRequest, id: string): { status: number; body: string } {
    const headers = { 'x-api-key': this.#key, 'content-type': 'application/json' };
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

function idOf({ path, body }: HttpRequest): string {
  if (body === undefined) return new URL(path, 'http://simulated').searchParams.get('externalOrderId') ?? '';
  const [, id] = /"externalOrderId":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  return JSON.parse(id ?? '""') as string;
}
