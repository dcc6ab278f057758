import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { RateWindow } from '../../../src/exchange/transport/rate-window.ts';

const LIMIT = { requests: 3, intervalMs: 3_200 };

/** A window in which requests were sent and ended at these times. */
function windowOf(ended: readonly number[], limit = LIMIT, spent: ConstructorParameters<typeof RateWindow>[1] = []) {
  const window = new RateWindow(limit, spent);
  for (const at of ended) {
    window.start(at);
    window.end(at, true);
  }
  return window;
}

describe('the room of a rate window', () => {
  it('comes when the oldest request has ended an interval ago', () => {
    const window = windowOf([0, 1_000]);
    expect(window.waitMs(1_000)).toBe(0);
    window.start(2_000);
    expect(window.waitMs(2_000)).toBe(1_200);
    window.end(2_500, true);
    expect([3_199, 3_200].map((now) => window.waitMs(now))).toEqual([1, 0]);
  });

  it('is not known while all are running', () => {
    const window = windowOf([]);
    for (let request = 0; request < 3; request += 1) window.start(0);
    expect(window.waitMs(9_999)).toBeUndefined();
  });

  it('is as large after a 429 if starts are not spaced: the hold is enough', () => {
    const window = windowOf([0]);
    window.slowDown(0);
    expect(window.waitMs(0)).toBe(0);
  });

  it('is what earlier owners leave, whose requests may still be to come', () => {
    const spent = [
      { at: 5_000, requests: 1 },
      { at: -1_000, requests: 2 },
    ];
    expect(windowOf([], LIMIT, spent).waitMs(0)).toBe(2_200);
    expect(windowOf([], LIMIT, spent).waitMs(2_200)).toBe(0);
    expect(windowOf([2_300, 2_300], LIMIT, spent).waitMs(2_300)).toBe(3_200);
    expect(windowOf([5_000, 5_100], LIMIT, spent).waitMs(8_199)).toBe(1);
  });
});

describe('what a rate window remembers for the next owner', () => {
  it('is the running requests, and the ended ones by the last of the group that ended nearly together', () => {
    const window = windowOf([0, 50, 95, 100, 250], { ...LIMIT, requests: 9 });
    window.start(300);
    expect(window.spent(300)).toEqual({
      running: 1,
      ended: [
        { at: 95, requests: 3 },
        { at: 100, requests: 1 },
        { at: 250, requests: 1 },
      ],
    });
  });

  it('leaves out what is older than the interval, and what never left', () => {
    const window = windowOf([0, 1_000], { ...LIMIT, requests: 9 });
    window.start(1_500);
    window.end(1_500, false);
    expect(window.spent(3_199).ended).toHaveLength(2);
    expect(window.spent(3_200)).toEqual({ running: 0, ended: [{ at: 1_000, requests: 1 }] });
  });

  it('includes what earlier owners spent, in order', () => {
    const spent = [
      { at: 2_000, requests: 2 },
      { at: -500, requests: 4 },
    ];
    expect(windowOf([1_000], { ...LIMIT, requests: 9 }, spent).spent(1_000).ended).toEqual([
      { at: -500, requests: 4 },
      { at: 1_000, requests: 1 },
      { at: 2_000, requests: 2 },
    ]);
  });

  it('is no more than 33 groups, however many requests there were', () => {
    const all = Array.from({ length: 6_400 }, (_, index) => index / 2);
    const { ended } = windowOf(all, { ...LIMIT, requests: 10_000 }).spent(3_199.5);
    expect(ended.length).toBeLessThanOrEqual(33);
    expect(ended.reduce((sum, { requests }) => sum + requests, 0)).toBe(6_400);
  });
});

describe('a rate window', () => {
  it('holds no more than the limit in any window, from the start of a request to its end and an interval on', () => {
    const step = fc.record({ waitMs: fc.nat(40), lastsMs: fc.nat(120) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60, size: 'max' }), (requests, steps) => {
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
          window.start(now);
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
    window.start(0);
    expect(window.waitMs(0)).toBeUndefined();
    window.end(0, false);
    expect(window.waitMs(0)).toBe(0);
  });
});
