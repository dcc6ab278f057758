import { afterEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Lane } from '../../../src/accounts/rules/restraints.ts';
import { Gate } from '../../../src/exchange/transport/gate.ts';
import {
  RateWindow,
  type RateLimit,
  type SpentRequests,
  SharedWindow,
} from '../../../src/exchange/transport/rate-window.ts';
import { unheld } from '../../support/exchange-client.ts';
import { forgetAnswers, nockExchange } from '../../support/nock-exchange.ts';
import { hastyClock, testClock } from '../../support/test-clock.ts';

const SECOND = 1_000;
const TEN_A_SECOND: RateLimit = { requests: 10, intervalMs: SECOND, mode: 'paced' };

interface Asked {
  readonly account?: number;
  readonly lane?: Lane;
  /** From the turn until the request leaves, and until it has ended, in milliseconds. */
  readonly leavesAfterMs?: number;
  readonly lastsMs?: number;
  readonly isRateLimited?: boolean;
  readonly isUnused?: boolean;
}

/** Requests at the gates of accounts, of which several share the limit; returns when they started and left. */
function gatesOf(limit: RateLimit, { accounts = 1, spent = [] as readonly SpentRequests[] } = {}) {
  const clock = testClock();
  const shared = accounts === 1 ? undefined : new SharedWindow(limit, spent, clock);
  const gates = Array.from({ length: accounts }, () => {
    const window = shared?.member([]) ?? new RateWindow(limit, spent);
    return new Gate({ concurrency: 32, window, account: unheld() }, clock);
  });
  const requests: { account: number; startedAt: number; leftAt: number }[] = [];
  const ask = async (asked: Asked) => {
    const { account = 0, lane = 'lookup', leavesAfterMs = 0, lastsMs = 0, isRateLimited = false } = asked;
    using turn = await gates[account % accounts]?.turn({ lane });
    if (turn === undefined || asked.isUnused === true) return;
    const request = { account: account % accounts, startedAt: clock.monotonic(), leftAt: Infinity };
    requests.push(request);
    if (leavesAfterMs > 0) await clock.sleep(leavesAfterMs);
    request.leftAt = clock.monotonic();
    turn.leave();
    if (lastsMs > 0) await clock.sleep(lastsMs);
    turn.report = { wasSent: true, health: 'answered', isRateLimited };
  };
  /** Moves the time on, in steps that may be as late as timers are. */
  const pass = async (ms: number, stepMs = 1) => {
    await clock.turn();
    for (let passed = 0; passed < ms; passed += stepMs) {
      clock.advance(stepMs);
      await clock.turn();
    }
  };
  const close = () => gates.forEach((gate) => gate.close());
  return { clock, requests, ask, pass, close };
}

/** Requests that start within `ms`, while more wait all the time. */
async function startedWithin(ms: number, limit: RateLimit, asked: Asked, { accounts = 1, stepMs = 1 } = {}) {
  const { requests, ask, pass, close } = gatesOf(limit, { accounts });
  const all = Array.from({ length: 30 * accounts }, (_, account) => account).map(async (account) => {
    for (let next = 0; next < (ms * limit.requests) / limit.intervalMs / 20; next += 1)
      await ask({ ...asked, account });
  });
  await pass(ms, stepMs);
  close();
  await pass(2 * SECOND);
  await Promise.all(all);
  return requests.filter(({ startedAt }) => startedAt < ms);
}

afterEach(forgetAnswers);

describe('a paced limit', () => {
  const plan = fc.record({
    requests: fc.integer({ min: 1, max: 8 }),
    accounts: fc.integer({ min: 1, max: 3 }),
    stepMs: fc.integer({ min: 1, max: 30 }),
    spent: fc.array(fc.record({ at: fc.integer({ min: -100, max: 150 }), requests: fc.integer({ min: 1, max: 3 }) }), {
      maxLength: 4,
    }),
    asked: fc.array(
      fc.record({
        afterMs: fc.oneof(fc.constant(0), fc.nat(150)),
        account: fc.nat(2),
        leavesAfterMs: fc.oneof(fc.constant(0), fc.nat(120)),
        lastsMs: fc.nat(150),
        isRateLimited: fc.oneof(
          { weight: 9, arbitrary: fc.constant(false) },
          { weight: 1, arbitrary: fc.constant(true) },
        ),
        isUnused: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      }),
      { maxLength: 40 },
    ),
  });

  it('has no more requests in any window than it allows, with those of a last owner, however late they leave', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ requests: most, accounts, spent, stepMs, asked }) => {
        const { requests, ask, pass, close } = gatesOf(
          { requests: most, intervalMs: 100, mode: 'paced' },
          { accounts, spent },
        );
        const all = [];
        for (const { afterMs, ...one } of asked) {
          await pass(afterMs, stepMs);
          all.push(ask(one));
        }
        await pass(1_000, stepMs);
        close();
        await pass(400);
        await Promise.all(all);
        for (const { startedAt } of requests) {
          // Requests of the last owner may leave until their time.
          const earlier = spent.filter(({ at }) => at + 100 > startedAt).reduce((sum, one) => sum + one.requests, 0);
          const own = requests.filter((one) => one.startedAt <= startedAt && one.leftAt + 100 > startedAt).length;
          expect(own + earlier).toBeLessThanOrEqual(most);
        }
        const starts = requests.map(({ startedAt }) => startedAt);
        for (const [index, at] of starts.slice(most).entries()) expect(at - starts[index]!).toBeGreaterThan(100);
      }),
      { numRuns: 60 },
    );
  });

  it.each<[string, Asked, number, number]>([
    ['look-ups', { lastsMs: 150 }, 1, 1],
    ['creates, whose intents take 50 ms,', { lane: 'create', leavesAfterMs: 50, lastsMs: 100 }, 1, 1],
    ['look-ups that last nearly an interval', { lastsMs: 990 }, 1, 1],
    ['three accounts', { lastsMs: 150 }, 3, 1],
    ['look-ups with timers that are up to 20 ms late', { lastsMs: 150 }, 1, 20],
  ])('lets %s use at least 0.93 of it', async (_name, asked, accounts, stepMs) => {
    const started = await startedWithin(30 * SECOND, TEN_A_SECOND, asked, { accounts, stepMs });
    expect(started.length / 300).toBeGreaterThanOrEqual(0.93);
    expect(started.length / 300).toBeLessThanOrEqual(0.96);
    const counts = Array.from(
      { length: accounts },
      (_, one) => started.filter(({ account }) => account === one).length,
    );
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('lets 1,000 a second use at least 0.93 of it, with timers of whole milliseconds', async () => {
    const limit: RateLimit = { requests: 1_000, intervalMs: SECOND, mode: 'paced' };
    const started = await startedWithin(2 * SECOND, limit, {}, { stepMs: 2 });
    expect(started.length / 2_000).toBeGreaterThanOrEqual(0.93);
  });

  it('leaves unused what answers take if it is proved', async () => {
    const started = await startedWithin(60 * SECOND, { ...TEN_A_SECOND, mode: 'proved' }, { lastsMs: 150 });
    expect(started.length / 600).toBeGreaterThan(0.82);
    expect(started.length / 600).toBeLessThan(0.89);
  });

  it('lets one go at once after a time without requests, and spaces the others', async () => {
    const { requests, ask, pass } = gatesOf(TEN_A_SECOND);
    await pass(10 * SECOND);
    const all = [1, 2, 3].map(() => ask({}));
    await pass(SECOND);
    await Promise.all(all);
    expect(requests.map(({ startedAt }) => startedAt - 10 * SECOND)).toEqual([0, 106, 211]);
  });

  it.each([1, 3])('goes at half its pace for a minute after a 429, then as before: %i accounts', async (accounts) => {
    const { clock, requests, ask, pass, close } = gatesOf(TEN_A_SECOND, { accounts });
    await Promise.all([ask({ isRateLimited: true }), pass(1)]);
    const from = clock.monotonic();
    const all = Array.from({ length: 30 }, async (_, account) => {
      for (let next = 0; next < 50; next += 1) await ask({ account });
    });
    await pass(80 * SECOND);
    close();
    await Promise.all(all);
    const startsIn = (first: number, last: number) =>
      requests.filter(({ startedAt }) => startedAt - from >= first * SECOND && startedAt - from < last * SECOND).length;
    expect(startsIn(0, 60)).toBeGreaterThanOrEqual(280);
    expect(startsIn(0, 60)).toBeLessThanOrEqual(290);
    expect(startsIn(61, 80)).toBeGreaterThanOrEqual(178);
  });

  it('hears of a 429 from the reply', async () => {
    const clock = hastyClock();
    const { client, scope, answer } = nockExchange(clock, { rate: TEN_A_SECOND });
    const times: number[] = [];
    scope.on('request', () => times.push(clock.monotonic()));
    for (const status of [429, 200, 200]) {
      answer(status, '{}');
      await client.showOrder('a');
    }
    expect(times).toEqual([0, 106, 316]);
  });
});
