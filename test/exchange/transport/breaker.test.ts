import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  afterProbe,
  CLOSED,
  FAILURES_TO_OPEN,
  mostInFlight,
  nextBreaker,
  type BreakerLane,
  type BreakerState,
  type EndedRequest,
  type Health,
} from '../../../src/exchange/transport/breaker.ts';

/** The breaker of a lane after requests that ended one after the other, at once. */
function after(lane: BreakerLane, requests: readonly (readonly [subject: string, health: Health])[]): BreakerState {
  return requests.reduce((state, [subject, health]) => ended(state, { lane, subject, health }, 0, 1), CLOSED);
}

type Ended = Omit<EndedRequest, 'startedAt'> & { readonly startedAt?: number };

/** The breaker after a request that took no time unless it says when it began. */
function ended(state: BreakerState, request: Ended, now: number, random: number): BreakerState {
  return nextBreaker(state, { startedAt: now, ...request }, now, random);
}

/** The breaker after a probe that took no time. */
function probed(state: BreakerState, health: Health, now: number, random: number): BreakerState {
  return afterProbe(state, { health, startedAt: now }, now, random);
}

const FAILED = ['a', 'b', 'c'].map((subject) => [subject, 'failed'] as const);

describe('the breaker', () => {
  const lanes = fc.constantFrom<BreakerLane[]>('create', 'lookup');
  const healths = fc.constantFrom<Health[]>('answered', 'failed', 'unreachable', 'nothing');
  const step = fc.record({
    afterMs: fc.nat(20 * 60_000),
    tookMs: fc.nat(60_000),
    subject: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    health: healths,
    isProbe: fc.boolean(),
    random: fc.double({ min: 0, max: 0.99, noNaN: true }),
  });

  /** Walks through the states of a lane as the gate makes them, and yields each with its cause. */
  function walk(lane: BreakerLane, steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) {
    let now = 0;
    let state = CLOSED;
    return steps.map(({ afterMs, tookMs, subject, health, isProbe, random }) => {
      now += afterMs;
      const startedAt = now - tookMs;
      const before = state;
      const asProbe = lane === 'create' && isProbe;
      state = asProbe
        ? afterProbe(before, { health, startedAt }, now, random)
        : nextBreaker(before, { lane, subject, health, startedAt }, now, random);
      return { before, state, now, health, startedAt, isProbe: asProbe };
    });
  }

  it('lets single failures pass and opens after several in a row, longer each time', () => {
    const fails = (state: BreakerState, subject: string, now: number) =>
      ended(state, { lane: 'lookup', subject, health: 'failed' }, now, 1);
    let state = after('lookup', FAILED.slice(0, FAILURES_TO_OPEN - 1));
    expect(state.openUntil).toBe(0);
    state = fails(state, 'c', 0);
    expect(state.openUntil).toBe(1_000);
    state = fails(state, 'd', 1_000);
    expect(state).toMatchObject({ openUntil: 3_000, openings: 2 });
    const answered = { lane: 'lookup', subject: 'd', health: 'answered' } as const;
    expect(ended(state, answered, 3_000, 1)).toMatchObject({ openUntil: 0, openings: 0, openingsEver: 2 });
  });

  it('never opens for one subject that alone fails, however often', () => {
    const answers = fc.constantFrom<(readonly [string, Health])[]>(
      ['a', 'failed'],
      ['b', 'answered'],
      ['c', 'answered'],
    );
    fc.assert(
      fc.property(lanes, fc.array(answers), (lane, requests) => {
        expect(after(lane, requests).openUntil).toBe(0);
      }),
    );
  });

  it('opens for as many different subjects as it takes, whichever fail in between', () => {
    fc.assert(
      fc.property(lanes, fc.array(fc.constantFrom('a', 'b', 'c', 'd')), (lane, subjects) => {
        const { openUntil } = after(
          lane,
          subjects.map((subject) => [subject, 'failed']),
        );
        expect(openUntil > 0).toBe(new Set(subjects).size >= FAILURES_TO_OPEN);
      }),
    );
  });

  it('opens at once if nothing can be reached', () => {
    expect(after('create', [['a', 'unreachable']])).toMatchObject({ openUntil: 1_000, openings: 1 });
  });

  it('opens again at one failure while it is half-open, for twice as long', () => {
    const open = after('lookup', [['a', 'unreachable']]);
    const again = ended(open, { lane: 'lookup', subject: 'b', health: 'failed' }, 1_000, 1);
    expect(again).toMatchObject({ openUntil: 3_000, openings: 2, openingsEver: 2 });
  });

  it('opens no longer for a request that was in flight when it opened, and remembers that it may have been taken', () => {
    const open = after('create', [['a', 'unreachable']]);
    const late = ended(open, { lane: 'create', subject: 'b', health: 'failed' }, 999, 1);
    expect(late).toEqual({ ...open, failed: ['b'], needsProbe: true });
  });

  it.each([-1, 0])('takes what was in flight together for one failure, whenever it ends: begun at %d', (startedAt) => {
    const open = after('create', FAILED);
    const late = { lane: 'create', subject: 'h', health: 'failed', startedAt } as const;
    const halfOpen = probed(open, 'answered', 1_000, 1);
    expect(ended(halfOpen, late, 9_000, 1)).toEqual({ ...halfOpen, failed: ['b', 'c', 'h'] });
    const closed = ended(halfOpen, { lane: 'create', subject: 'd', health: 'answered' }, 2_000, 1);
    expect(ended(closed, late, 9_000, 1)).toBe(closed);
    expect(mostInFlight(closed, 'create', 8)).toBe(2);
  });

  it('lets no create take the place of one that failed, but for the last, until one is answered', () => {
    const [wide, one] = [{ ...CLOSED, width: 50 }, CLOSED];
    const failing = (state: BreakerState) =>
      ['a', 'b'].map((subject) => (state = ended(state, { lane: 'create', subject, health: 'failed' }, 0, 1)));
    expect(failing(wide).map((state) => mostInFlight(state, 'create', 8))).toEqual([7, 6]);
    expect(failing(one).map((state) => mostInFlight(state, 'create', 8))).toEqual([1, 1]);
    const answered = { lane: 'create', subject: 'c', health: 'answered' } as const;
    expect(failing(wide).map((state) => mostInFlight(ended(state, answered, 0, 1), 'create', 8))).toEqual([8, 8]);
  });

  it('is open for the rest of its time after a request that timed out, and for a moment at the least', () => {
    const late = (tookMs: number, openings: number) =>
      ended(
        { ...after('lookup', FAILED), openings },
        { lane: 'lookup', subject: 'd', health: 'failed', startedAt: 100_000 - tookMs },
        100_000,
        1,
      ).openUntil - 100_000;
    expect([late(3_000, 3), late(3_000, 9), late(15_000, 9)]).toEqual([5_000, 7_000, 1_000]);
  });

  it('lets a create go once a look-up has reached the exchange, whatever it says, if none was lost', () => {
    const unreached = after('create', [['a', 'unreachable']]);
    expect(probed(unreached, 'failed', 1_000, 1)).toMatchObject({ needsProbe: false, openings: 1 });
    expect(probed(unreached, 'unreachable', 1_000, 1)).toMatchObject({ needsProbe: true, failedProbes: 1 });
  });

  it('wants no probe after look-ups that failed, which take nothing, and opens for up to 10 s', () => {
    let state = after('lookup', FAILED);
    for (let lookup = 0; lookup < 12; lookup += 1) {
      expect(state.needsProbe).toBe(false);
      state = ended(state, { lane: 'lookup', subject: `d${lookup}`, health: 'failed' }, state.openUntil, 1);
    }
    const { openUntil } = ended(state, { lane: 'lookup', subject: 'e', health: 'failed' }, state.openUntil, 1);
    expect(openUntil - state.openUntil).toBe(10_000);
  });

  it('is not closed by the answer to a request that was in flight when it opened', () => {
    const answered = { lane: 'lookup', subject: 'b', health: 'answered' } as const;
    const open = after('lookup', [['a', 'unreachable']]);
    expect(ended(open, answered, 999, 0.5)).toEqual(open);
    expect(ended(open, answered, 1_000, 0.5)).toMatchObject({ openUntil: 0, openingsEver: 1 });
  });

  it('learns nothing from a request that says nothing', () => {
    expect(after('lookup', [['a', 'nothing']])).toBe(CLOSED);
  });

  it('wants a look-up answered before the next create after one that may have been taken, and then sends one', () => {
    const open = after('create', FAILED);
    expect(open).toMatchObject({ needsProbe: true, openings: 1 });
    const failed = probed(open, 'failed', 1_000, 1);
    expect(failed).toMatchObject({ needsProbe: true, openings: 1, openUntil: 2_000 });
    const answered = probed(failed, 'answered', 2_000, 1);
    expect(answered).toMatchObject({ needsProbe: false, openings: 1, failedProbes: 0 });
    expect(mostInFlight(answered, 'create', 8)).toBe(1);
    const again = ended(answered, { lane: 'create', subject: 'd', health: 'failed' }, 2_000, 1);
    expect(again).toMatchObject({ needsProbe: true, openings: 2, openUntil: 4_000 });
  });

  it.each<[string, readonly (readonly [string, Health])[], Health, number]>([
    ['shows nothing', FAILED, 'nothing', 1_000],
    ['began before it opened', FAILED, 'answered', 999],
    ['is not wanted', FAILED.slice(1), 'failed', 1_000],
  ])('learns nothing from a probe that %s', (_what, requests, health, now) => {
    const state = after('create', requests);
    expect(probed(state, health, now, 1)).toBe(state);
  });

  it.each(['failed', 'unreachable'] as const)('opens for longer with each probe that is %s, up to 10 s', (health) => {
    let state = after('create', FAILED);
    const { openings, openingsEver } = state;
    const waits = [];
    for (let probe = 1; probe <= 11; probe += 1) {
      const now = state.openUntil;
      state = probed(state, health, now, 1);
      waits.push((state.openUntil - now) / 1_000);
      expect(state).toMatchObject({ openings, openingsEver: openingsEver + probe, failedProbes: probe });
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10, 10, 10, 10, 10, 10]);
  });

  it('wants a look-up before each create that fails while look-ups work, each after up to 10 s', () => {
    let state = after('create', FAILED);
    const waits = [];
    for (let create = 0; create < 14; create += 1) {
      const now = state.openUntil;
      state = probed(state, 'answered', now, 0);
      state = ended(state, { lane: 'create', subject: `d${create}`, health: 'failed' }, now, 1);
      waits.push((state.openUntil - now) / 1_000);
    }
    expect(waits).toEqual([2, 4, 8, ...Array<number>(11).fill(10)]);
  });

  it('keeps to its promises, whatever comes in whatever order', () => {
    fc.assert(
      fc.property(lanes, fc.array(step, { maxLength: 60, size: 'max' }), (lane, steps) => {
        for (const { before, state, now, health, startedAt, isProbe } of walk(lane, steps)) {
          const isClosed = state.openUntil === 0;
          // Only an answered request closes it, and a probe never does.
          if (isClosed && before.openUntil > 0) expect([health, isProbe]).toEqual(['answered', false]);
          if (isProbe) expect(state.openings).toBe(before.openings);
          if (isClosed) expect([state.openings, state.needsProbe]).toEqual([0, false]);
          // The wait is bounded, and so is what it remembers.
          expect(state.openUntil - now).toBeLessThanOrEqual(10_000);
          // Requests that were in flight together are one piece of evidence.
          if (startedAt <= before.openedAt) expect(isProbe || state.openings === before.openings).toBe(true);
          expect(state.failed.length).toBeLessThanOrEqual(FAILURES_TO_OPEN);
          // Creates that may have been taken are followed by a look-up that is answered, or by an answered create.
          const isLost = before.failed.length > 0;
          if (before.needsProbe && !state.needsProbe) expect(health === 'answered' || !isLost).toBe(true);
          expect(mostInFlight(state, lane, 8)).toBeGreaterThanOrEqual(1);
          if (!isClosed) expect(mostInFlight(state, lane, 8)).toBe(1);
        }
      }),
    );
  });
});
