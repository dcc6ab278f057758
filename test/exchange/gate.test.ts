import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { CLOSED, FAILURES_TO_HOLD, nextBreaker } from '../../src/exchange/breaker.ts';
import { Gate, type Lane, type Passage } from '../../src/exchange/gate.ts';
import { RateWindow } from '../../src/exchange/rate-window.ts';
import type { Clock } from '../../src/clock.ts';

const FINE: Passage = { wasSent: true, health: 'answered' };

/** A clock whose sleeps end when it is moved on. */
function steppedClock(): Clock & { pass(ms: number): Promise<void> } {
  let time = 0;
  let sleeps: { at: number; wake: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => new Date(time),
    monotonic: () => time,
    random: () => 0.5,
    turn: async () => {},
    sleep: (ms) => new Promise((resolve) => sleeps.push({ at: time + ms, wake: resolve })),
    async pass(ms) {
      await settle();
      for (let passed = 0; passed < ms; passed += 1) {
        time += 1;
        const due = sleeps.filter(({ at }) => at <= time);
        sleeps = sleeps.filter(({ at }) => at > time);
        for (const { wake } of due) wake();
        if (due.length > 0) await settle();
      }
      await settle();
    },
  };
}

describe('the rate window', () => {
  it('holds no more than the limit in any window, from the start of a request to its end and an interval on', () => {
    const step = fc.record({ waitMs: fc.nat(40), lastsMs: fc.nat(120) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (requests, steps) => {
        const window = new RateWindow({ requests, intervalMs: 100 });
        const spans: { from: number; to: number }[] = [];
        let running: { from: number; to: number }[] = [];
        let now = 0;
        const endThose = (until: number) => {
          for (const span of running.filter(({ to }) => to <= until).toSorted((a, b) => a.to - b.to))
            window.end(span.to, true);
          running = running.filter(({ to }) => to > until);
        };
        for (const { waitMs, lastsMs } of steps) {
          now += waitMs;
          endThose(now);
          if (window.waitMs(now) !== 0) continue;
          window.start();
          const span = { from: now, to: now + lastsMs };
          spans.push(span);
          running.push(span);
        }
        // Wherever in its span the exchange saw each request, request i + limit came an interval after request i.
        for (const span of spans) {
          const together = spans.filter(({ from, to }) => to + 100 > span.from && from <= span.from);
          expect(together.length).toBeLessThanOrEqual(requests);
        }
      }),
    );
  });

  it('does not count a request that never left', () => {
    const window = new RateWindow({ requests: 1, intervalMs: 100 });
    window.start();
    expect(window.waitMs(0)).toBeUndefined();
    window.end(0, false);
    expect(window.waitMs(0)).toBe(0);
  });
});

describe('the breaker', () => {
  it('lets single failures pass and holds after several in a row, longer each time', () => {
    let state = CLOSED;
    for (let failure = 1; failure < FAILURES_TO_HOLD; failure += 1) state = nextBreaker(state, 'failed', 0, 0.5);
    expect(state.heldUntil).toBe(0);
    state = nextBreaker(state, 'failed', 0, 1);
    expect(state.heldUntil).toBe(1_000);
    state = nextBreaker(state, 'failed', 1_000, 1);
    expect(state.heldUntil).toBe(3_000);
    expect(nextBreaker(state, 'answered', 3_000, 1)).toEqual(CLOSED);
  });

  it('holds at once, and for as long as the exchange asks', () => {
    expect(nextBreaker(CLOSED, 'refused-for-now', 0, 0.5, 60_000).heldUntil).toBe(60_000);
  });

  it('does not end a hold with the answer to a request that was in flight before it', () => {
    const held = nextBreaker(CLOSED, 'refused-for-now', 0, 0.5, 60_000);
    expect(nextBreaker(held, 'answered', 59_999, 0.5)).toEqual(held);
    expect(nextBreaker(held, 'answered', 60_000, 0.5)).toEqual(CLOSED);
  });
});

describe('the gate', () => {
  const open = { requests: 1_000, intervalMs: 1_000 };

  it('starts no more than the limit in a window and goes on when it has passed', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 8, rate: { requests: 3, intervalMs: 100 } }, clock);
    const starts: number[] = [];
    const all = Promise.all(
      Array.from({ length: 8 }, () =>
        gate.pass('create', async () => {
          starts.push(clock.monotonic());
          return { result: 1, passage: FINE };
        }),
      ),
    );
    await clock.pass(1_000);
    await all;
    expect(starts).toEqual([0, 0, 0, 100, 100, 100, 200, 200]);
  });

  it('sends nothing until the last owner is out of the window', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 1, rate: open }, clock);
    gate.waitFirst(700);
    const started = gate.pass('lookup', async () => ({ result: clock.monotonic(), passage: FINE }));
    await clock.pass(2_000);
    expect(await started).toBe(700);
  });

  it('lets go at once of what waits for the rate limit when its signal aborts, and finishes what runs', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: { requests: 1, intervalMs: 60_000 } }, clock);
    const running = Promise.withResolvers<{ result: string; passage: Passage }>();
    const stop = new AbortController();
    const first = gate.pass('create', () => running.promise, stop.signal);
    const task = (result: string) => async () => ({ result, passage: FINE });
    const waiting = [gate.pass('create', task('a'), stop.signal), gate.pass('lookup', task('b'), stop.signal)];
    const other = gate.pass('lookup', task('not stopped'));
    await clock.pass(0);
    stop.abort();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(await gate.pass('create', task('too late'), stop.signal)).toBeUndefined();
    running.resolve({ result: 'finished', passage: FINE });
    expect(await first).toBe('finished');
    await clock.pass(60_000);
    expect(await other).toBe('not stopped');
  });

  it('puts creates ahead of look-ups without starving them', async () => {
    const gate = new Gate({ concurrency: 1, rate: open }, steppedClock());
    const order: Lane[] = [];
    const task = (lane: Lane) => gate.pass(lane, async () => ({ result: order.push(lane), passage: FINE }));
    await Promise.all([
      ...Array.from({ length: 20 }, () => task('lookup')),
      ...Array.from({ length: 20 }, () => task('create')),
    ]);
    const whileBoth = order.slice(1, 21);
    expect(whileBoth.filter((lane) => lane === 'create').length).toBeGreaterThanOrEqual(15);
    expect(whileBoth.filter((lane) => lane === 'lookup').length).toBeGreaterThanOrEqual(3);
  });

  it('runs no task of a held lane, and after the hold a single probe that the others wait for', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: open }, clock);
    await gate.pass('create', async () => ({ result: 1, passage: { wasSent: false, health: 'refused-for-now' } }));
    expect(gate.isHeld('lookup')).toBe(true);
    expect(await gate.pass('create', async () => ({ result: 1, passage: FINE }))).toBeUndefined();
    await clock.pass(1_000);
    const probe = Promise.withResolvers<{ result: number; passage: Passage }>();
    const ran: number[] = [];
    const task = (number: number) => async () => ({ result: ran.push(number), passage: FINE });
    const first = gate.pass('create', () => probe.promise);
    const others = Promise.all([gate.pass('create', task(2)), gate.pass('create', task(3))]);
    await clock.pass(0);
    const late = gate.pass('create', task(4));
    await clock.pass(0);
    expect(ran).toEqual([]);
    probe.resolve({ result: 1, passage: FINE });
    expect(await first).toBe(1);
    await Promise.all([others, late]);
    expect(new Set(ran)).toEqual(new Set([2, 3, 4]));
  });

  it('runs none of those that wait for a probe when that fails', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: open }, clock);
    const refused: Passage = { wasSent: false, health: 'refused-for-now' };
    await gate.pass('create', async () => ({ result: 1, passage: refused }));
    await clock.pass(1_000);
    const probe = gate.pass('create', async () => ({ result: 1, passage: refused }));
    const others = Promise.all([1, 2].map(() => gate.pass('create', async () => ({ result: 1, passage: FINE }))));
    expect(await probe).toBe(1);
    expect(await others).toEqual([undefined, undefined]);
  });
});
