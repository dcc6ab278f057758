import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { CLOSED, FAILURES_TO_OPEN, nextBreaker } from '../../src/exchange/breaker.ts';
import { Gate, type Lane, type TurnReport } from '../../src/exchange/gate.ts';
import { RateWindow } from '../../src/exchange/rate-window.ts';
import type { Clock } from '../../src/clock.ts';

const ANSWERED: TurnReport = { wasSent: true, health: 'answered' };
const REFUSED: TurnReport = { wasSent: false, health: 'refused-for-now' };

/** Works in a turn of the lane, and ends it with the report. Undefined when no turn came. */
async function within<Result>(
  gate: Gate,
  lane: Lane,
  work: () => Result | Promise<Result>,
  { report = ANSWERED, signal }: { report?: TurnReport; signal?: AbortSignal } = {},
): Promise<Result | undefined> {
  using turn = await gate.turn(lane, signal);
  if (turn === undefined) return undefined;
  const result = await work();
  turn.report = report;
  return result;
}

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
  it('lets single failures pass and opens after several in a row, longer each time', () => {
    let state = CLOSED;
    for (let failure = 1; failure < FAILURES_TO_OPEN; failure += 1) state = nextBreaker(state, 'failed', 0, 0.5);
    expect(state.openUntil).toBe(0);
    state = nextBreaker(state, 'failed', 0, 1);
    expect(state.openUntil).toBe(1_000);
    state = nextBreaker(state, 'failed', 1_000, 1);
    expect(state).toMatchObject({ openUntil: 3_000, openings: 2 });
    expect(nextBreaker(state, 'answered', 3_000, 1)).toEqual({ ...CLOSED, openingsEver: 2 });
  });

  it('opens at once where nobody is served, for as long as the exchange asks', () => {
    expect(nextBreaker(CLOSED, 'refused-for-now', 0, 0.5, 60_000).openUntil).toBe(60_000);
  });

  it('is not closed by the answer to a request that was in flight when it opened', () => {
    const open = nextBreaker(CLOSED, 'refused-for-now', 0, 0.5, 60_000);
    expect(nextBreaker(open, 'answered', 59_999, 0.5)).toEqual(open);
    expect(nextBreaker(open, 'answered', 60_000, 0.5)).toEqual({ ...CLOSED, openingsEver: 1 });
  });

  it('learns nothing from a request that says nothing', () => {
    expect(nextBreaker(CLOSED, 'nothing', 0, 0.5)).toBe(CLOSED);
  });
});

describe('the gate', () => {
  const open = { requests: 1_000, intervalMs: 1_000 };

  it('starts no more than the limit in a window and goes on when it has passed', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 8, rate: { requests: 3, intervalMs: 100 } }, clock);
    const starts: number[] = [];
    const all = Promise.all(
      Array.from({ length: 8 }, () => within(gate, 'create', () => starts.push(clock.monotonic()))),
    );
    await clock.pass(1_000);
    await all;
    expect(starts).toEqual([0, 0, 0, 100, 100, 100, 200, 200]);
  });

  it('does not count a turn in which nothing was sent', async () => {
    const gate = new Gate({ concurrency: 1, rate: { requests: 1, intervalMs: 60_000 } }, steppedClock());
    for (let unused = 0; unused < 3; unused += 1) (await gate.turn('create'))?.end();
    expect(await within(gate, 'create', () => 'sent')).toBe('sent');
  });

  it('gives no turn until the last owner is out of the window', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 1, rate: open, openAfterMs: 700 }, clock);
    const started = within(gate, 'lookup', () => clock.monotonic());
    await clock.pass(2_000);
    expect(await started).toBe(700);
  });

  it('lets go at once of what waits for the rate limit when its signal aborts, and finishes what runs', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: { requests: 1, intervalMs: 60_000 } }, clock);
    const running = Promise.withResolvers<string>();
    const stop = new AbortController();
    const { signal } = stop;
    const first = within(gate, 'create', () => running.promise, { signal });
    const waiting = [within(gate, 'create', () => 'a', { signal }), within(gate, 'lookup', () => 'b', { signal })];
    const other = within(gate, 'lookup', () => 'not stopped');
    await clock.pass(0);
    stop.abort();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(await within(gate, 'create', () => 'too late', { signal })).toBeUndefined();
    running.resolve('finished');
    expect(await first).toBe('finished');
    await clock.pass(60_000);
    expect(await other).toBe('not stopped');
  });

  it('puts creates ahead of look-ups without starving them', async () => {
    const gate = new Gate({ concurrency: 1, rate: open }, steppedClock());
    const order: Lane[] = [];
    const request = (lane: Lane) => within(gate, lane, () => order.push(lane));
    await Promise.all([
      ...Array.from({ length: 20 }, () => request('lookup')),
      ...Array.from({ length: 20 }, () => request('create')),
    ]);
    const whileBoth = order.slice(1, 21);
    expect(whileBoth.filter((lane) => lane === 'create').length).toBeGreaterThanOrEqual(15);
    expect(whileBoth.filter((lane) => lane === 'lookup').length).toBeGreaterThanOrEqual(3);
  });

  it('gives no turn while the breaker is open, and then a single probe that the others wait for', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: open }, clock);
    await within(gate, 'create', () => 1, { report: REFUSED });
    expect(gate.breaker('lookup').isOpen).toBe(true);
    expect(await within(gate, 'create', () => 1)).toBeUndefined();
    expect(await within(gate, 'person', () => 1)).toBe(1);
    await clock.pass(1_000);
    const probe = Promise.withResolvers<number>();
    const ran: number[] = [];
    const request = (number: number) => within(gate, 'create', () => ran.push(number));
    const first = within(gate, 'create', () => probe.promise);
    const others = Promise.all([request(2), request(3)]);
    await clock.pass(0);
    const late = request(4);
    await clock.pass(0);
    expect(ran).toEqual([]);
    probe.resolve(1);
    expect(await first).toBe(1);
    await Promise.all([others, late]);
    expect(new Set(ran)).toEqual(new Set([2, 3, 4]));
  });

  it('gives none to those that wait for a probe when that fails', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, rate: open }, clock);
    await within(gate, 'create', () => 1, { report: REFUSED });
    await clock.pass(1_000);
    const probe = within(gate, 'create', () => 1, { report: REFUSED });
    const others = Promise.all([1, 2].map(() => within(gate, 'create', () => 1)));
    expect(await probe).toBe(1);
    expect(await others).toEqual([undefined, undefined]);
  });
});
