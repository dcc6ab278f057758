import { describe, expect, it, onTestFinished } from 'vitest';
import { runDaemon } from '../support/daemon.ts';
import { TransportError, type HttpRequest, type HttpResponse } from '../../src/exchange/transport/http.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import { testClock, type TestClock } from '../support/test-clock.ts';
import { testProgram, type TestProgram } from '../support/test-program.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const CONCURRENCY = 8;
const TIMEOUT_MS = 15 * SECOND;
const LATENCY_MS = 50;
const STEP_MS = 250;
/** The work of the daemon at a moment takes it this many turns of the event loop at the most. */
const TURNS_A_STEP = 12;

type Fault = 'hangs' | 'resets' | 'answers 500' | 'refuses connections';

/** A sandbox in memory behind the transport, which fails as the test says. */
function fallibleExchange(clock: TestClock) {
  const apiKey = 'test-key';
  const scenario = { appearsAfterMs: null, steps: [] };
  const sandbox = new SandboxExchange({ apiKey, clock, random: () => 0.5, scenarioOf: () => scenario });
  const exchange = { fault: undefined as Fault | undefined, isOfCreates: false, requests: [] as string[], sandbox };
  const send = async ({ method, path, body }: HttpRequest): Promise<HttpResponse> => {
    exchange.requests.push(method);
    const fault = exchange.isOfCreates && method === 'GET' ? undefined : exchange.fault;
    const fails = (sent: 'never' | 'perhaps', code: string) => new TransportError(`${method} ${code}`, { sent, code });
    if (fault === 'refuses connections') throw fails('never', 'ECONNREFUSED');
    if (fault === 'resets') throw fails('perhaps', 'ECONNRESET');
    if (fault === 'answers 500') return { status: 500, body: '' };
    if (fault === 'hangs') {
      // Its connections are not answered once the exchange is back either.
      await clock.sleep(TIMEOUT_MS);
      throw fails('perhaps', 'ETIMEDOUT');
    }
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const answer = sandbox.handle({ method, path, headers, ...(body !== undefined && { body }) });
    if (!exchange.isOfCreates) await clock.sleep(LATENCY_MS);
    return answer;
  };
  return { exchange, connect: () => ({ send, close: async () => {} }) };
}

const FAULTS: readonly Fault[] = ['hangs', 'resets', 'answers 500', 'refuses connections'];
const CASES = FAULTS.flatMap((fault) => [5, 20, 120, 600].map((seconds) => ({ fault, seconds })));

const ids = (count: number) => Array.from({ length: count }, (_, index) => `o${String(index).padStart(3, '0')}`);

async function started(orders: number, requestsASecond: number, concurrency = CONCURRENCY) {
  const clock = testClock();
  const { exchange, connect } = fallibleExchange(clock);
  const environment = {
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: String(requestsASecond),
    ORDER_SYNC_EXCHANGE_CONCURRENCY: String(concurrency),
    // Look-ups of accepted orders are not what is tried here.
    ORDER_SYNC_FOLLOW_WORTH: '2m',
  };
  const program = await testProgram({ clock, environment, overrides: { connect } });
  program.insert(...ids(orders).map((external_order_id) => ({ external_order_id })));
  return { program, exchange, connect };
}

/** Runs the daemon on these orders; returns how its time passes. */
async function daemonOn(orders: number) {
  const { program, exchange, connect } = await started(orders, 50);
  const { clock } = program;
  await program.app[Symbol.asyncDispose]();
  const stop = new AbortController();
  const overrides = { clock, log: program.log.logger, connect, store: { synchronous: 'off', watch: 'off' } as const };
  const ready = Promise.withResolvers<void>();
  const daemon = runDaemon(program.config, stop.signal, ready.resolve, overrides);
  // The start reads files: turns of the event loop do not tell when that is done.
  await Promise.race([ready.promise, daemon]);
  const live = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      clock.advance(STEP_MS);
      for (let turn = 0; turn < TURNS_A_STEP; turn += 1) await clock.turn();
    }
  };
  onTestFinished(async () => {
    stop.abort();
    let isOver = false;
    const ended = daemon.finally(() => (isOver = true));
    while (!isOver) await live(SECOND);
    await ended;
  });
  return { program, exchange, live };
}

function inState({ merchant }: TestProgram, state: string): number {
  return Number(merchant.prepare('select count(*) from merchant_orders where state = ?').pluck().get(state));
}

describe('an outage of everything with 300 orders', () => {
  it.each(CASES)(
    'that $fault for $seconds s leaves few outcomes unknown, and the others are sent within 30 s of its end',
    async ({ fault, seconds }) => {
      const ms = seconds * SECOND;
      const { program, exchange, live } = await daemonOn(300);
      await live(3 * SECOND);
      expect(inState(program, 'accepted')).toBeGreaterThan(20);
      expect(inState(program, 'pending')).toBeGreaterThan(100);
      exchange.fault = fault;
      exchange.requests.splice(0);
      await live(ms);
      const during = exchange.requests.length;
      exchange.fault = undefined;
      await live(30 * SECOND);
      const unknown = inState(program, 'unknown');
      expect({ pending: inState(program, 'pending'), others: inState(program, 'accepted') + unknown }).toEqual({
        pending: 0,
        others: 300,
      });
      expect(unknown).toBeLessThanOrEqual(fault === 'refuses connections' ? 0 : CONCURRENCY + 5);
      // Three of each kind show the outage, with those in flight; from then on one request each 10 s shows whether it is over.
      expect(during).toBeLessThanOrEqual(4 * CONCURRENCY + ms / (10 * SECOND));
      const attempts = program.merchant.prepare('select max(attempts) from merchant_orders').pluck().get();
      expect(Number(attempts)).toBeLessThanOrEqual(2);
      expect(program.merchant.prepare(`select count(*) from account_holds`).pluck().get()).toBe(0);
      // A look-up waits for the end of an outage, and not for the back-off of its order.
      const latest = program.merchant.prepare(
        `select count(*) from merchant_orders where state = 'unknown' and verifications = 0`,
      );
      expect(Number(latest.pluck().get())).toBe(0);
    },
  );
});

describe('creates that alone are answered 500', () => {
  /** The passes of the daemon, in the first hour each 10 s and then each minute. */
  async function live({ app, clock }: TestProgram, ms: number, stepMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await createPass(app, NEVER);
      await followPass(app, 'due', NEVER);
      clock.advance(stepMs);
    }
  }

  it.each([1, 2, CONCURRENCY])(
    'leave at most %s in flight + 30 outcomes unknown on the first day, and 24 a day after it',
    async (concurrency) => {
      const { program, exchange } = await started(50, 1_000, concurrency);
      exchange.isOfCreates = true;
      // As many in flight as may be.
      await createPass(program.app, NEVER);
      program.insert(
        ...ids(350)
          .slice(50)
          .map((external_order_id) => ({ external_order_id })),
      );
      exchange.fault = 'answers 500';
      await live(program, HOUR, 10 * SECOND);
      await live(program, DAY - HOUR, MINUTE);
      const first = inState(program, 'unknown') + inState(program, 'held');
      expect(first).toBeGreaterThan(20);
      expect(first).toBeLessThanOrEqual(concurrency + 30);
      expect(program.app.restraints.all.map(({ kind }) => kind)).toEqual(['slowed']);
      await live(program, DAY, MINUTE);
      expect(inState(program, 'unknown') + inState(program, 'held') - first).toBeLessThanOrEqual(24);
      exchange.fault = undefined;
      await live(program, HOUR + MINUTE, MINUTE);
      expect([inState(program, 'pending'), program.app.restraints.all]).toEqual([0, []]);
    },
  );
});
