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
  type Health,
} from '../../src/exchange/breaker.ts';
import { Gate, type Lane, type TurnReport } from '../../src/exchange/gate.ts';
import { RateWindow } from '../../src/exchange/rate-window.ts';
import type { Clock } from '../../src/clock.ts';
import { unheld } from '../support/exchange-client.ts';

const ANSWERED: TurnReport = { wasSent: true, health: 'answered' };
const UNREACHABLE: TurnReport = { wasSent: false, health: 'unreachable' };

/** Works in a turn of the lane, and ends it with the report. Undefined when no turn came. */
async function within<Result>(
  gate: Gate,
  lane: Lane,
  work: () => Result | Promise<Result>,
  { report = ANSWERED, signal, subject = '' }: { report?: TurnReport; signal?: AbortSignal; subject?: string } = {},
): Promise<Result | undefined> {
  using turn = await gate.turn({ lane, subject }, signal);
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

/** The breaker of a lane after requests that ended one after the other, at once. */
function after(lane: BreakerLane, requests: readonly (readonly [subject: string, health: Health])[]): BreakerState {
  return requests.reduce((state, [subject, health]) => nextBreaker(state, { lane, subject, health }, 0, 1), CLOSED);
}

const FAILED_CREATES = ['a', 'b', 'c'].map((subject) => [subject, 'failed'] as const);

describe('the breaker', () => {
  const lanes = fc.constantFrom<BreakerLane[]>('create', 'lookup');
  const healths = fc.constantFrom<Health[]>('answered', 'failed', 'unreachable', 'nothing');
  const step = fc.record({
    afterMs: fc.nat(20 * 60_000),
    subject: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    health: healths,
    isProbe: fc.boolean(),
    random: fc.double({ min: 0, max: 0.99, noNaN: true }),
  });

  /** Walks through the states of a lane as the gate makes them, and gives each with what led to it. */
  function walk(lane: BreakerLane, steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) {
    let now = 0;
    let state = CLOSED;
    return steps.map(({ afterMs, subject, health, isProbe, random }) => {
      now += afterMs;
      const before = state;
      const asProbe = lane === 'create' && isProbe;
      state = asProbe
        ? afterProbe(before, health, now, random)
        : nextBreaker(before, { lane, subject, health }, now, random);
      return { before, state, now, health, isProbe: asProbe };
    });
  }

  it('lets single failures pass and opens after several in a row, longer each time', () => {
    const fails = (state: BreakerState, subject: string, now: number) =>
      nextBreaker(state, { lane: 'lookup', subject, health: 'failed' }, now, 1);
    let state = after('lookup', FAILED_CREATES.slice(0, FAILURES_TO_OPEN - 1));
    expect(state.openUntil).toBe(0);
    state = fails(state, 'c', 0);
    expect(state.openUntil).toBe(1_000);
    state = fails(state, 'd', 1_000);
    expect(state).toMatchObject({ openUntil: 3_000, openings: 2 });
    const answered = { lane: 'lookup', subject: 'd', health: 'answered' } as const;
    expect(nextBreaker(state, answered, 3_000, 1)).toMatchObject({ openUntil: 0, openings: 0, openingsEver: 2 });
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

  it('opens at once where nothing can be reached', () => {
    expect(after('create', [['a', 'unreachable']])).toMatchObject({ openUntil: 1_000, needsProbe: false });
  });

  it('is not closed by the answer to a request that was in flight when it opened', () => {
    const answered = { lane: 'lookup', subject: 'b', health: 'answered' } as const;
    const open = after('lookup', [['a', 'unreachable']]);
    expect(nextBreaker(open, answered, 999, 0.5)).toEqual(open);
    expect(nextBreaker(open, answered, 1_000, 0.5)).toMatchObject({ openUntil: 0, openingsEver: 1 });
  });

  it('learns nothing from a request that says nothing', () => {
    expect(after('lookup', [['a', 'nothing']])).toBe(CLOSED);
  });

  it('wants a look-up answered before the next create after one that may have been taken, and then sends one', () => {
    const open = after('create', FAILED_CREATES);
    expect(open).toMatchObject({ needsProbe: true, openings: 1 });
    const failed = afterProbe(open, 'failed', 1_000, 1);
    expect(failed).toMatchObject({ needsProbe: true, openings: 1, openUntil: 2_000 });
    const answered = afterProbe(failed, 'answered', 2_000, 1);
    expect(answered).toMatchObject({ needsProbe: false, openings: 1, failedProbes: 0 });
    expect(mostInFlight(answered, 'create')).toBe(1);
    const again = nextBreaker(answered, { lane: 'create', subject: 'd', health: 'failed' }, 2_000, 1);
    expect(again).toMatchObject({ needsProbe: true, openings: 2, openUntil: 4_000 });
  });

  it('stays half-open after a probe that shows nothing', () => {
    const open = after('create', FAILED_CREATES);
    expect(afterProbe(open, 'nothing', 1_000, 1)).toEqual(open);
  });

  it('holds creates that fail while look-ups work for longer each time, up to 15 min', () => {
    let state = after('create', FAILED_CREATES);
    const waits = [];
    for (let create = 0; create < 14; create += 1) {
      const now = state.openUntil;
      state = afterProbe(state, 'answered', now, 0);
      state = nextBreaker(state, { lane: 'create', subject: `d${create}`, health: 'failed' }, now, 1);
      waits.push((state.openUntil - now) / 1_000);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900]);
  });

  it('keeps to its promises, whatever comes in whatever order', () => {
    fc.assert(
      fc.property(lanes, fc.array(step, { maxLength: 60, size: 'max' }), (lane, steps) => {
        for (const { before, state, now, health, isProbe } of walk(lane, steps)) {
          const isClosed = state.openUntil === 0;
          // Only an answered request closes it, and a probe never does.
          if (isClosed && before.openUntil > 0) expect([health, isProbe]).toEqual(['answered', false]);
          if (isProbe) expect(state.openings).toBe(before.openings);
          if (isClosed) expect([state.openings, state.needsProbe]).toEqual([0, false]);
          // The wait is bounded, and so is what it remembers.
          expect(state.openUntil - now).toBeLessThanOrEqual(15 * 60_000);
          expect(state.failed.length).toBeLessThanOrEqual(FAILURES_TO_OPEN);
          // Creates that may have been taken are followed by a look-up that is answered, or by an answered create.
          if (before.needsProbe && !state.needsProbe) expect(health).toBe('answered');
          expect(mostInFlight(state, lane)).toBeGreaterThanOrEqual(1);
          if (!isClosed) expect(mostInFlight(state, lane)).toBe(1);
        }
      }),
    );
  });
});

describe('the gate', () => {
  const open = { requests: 1_000, intervalMs: 1_000 };

  it('starts no more than the limit in a window and goes on when it has passed', async () => {
    const clock = steppedClock();
    const gate = new Gate(
      { concurrency: 8, window: new RateWindow({ requests: 3, intervalMs: 100 }), account: unheld() },
      clock,
    );
    const starts: number[] = [];
    const all = Promise.all(
      Array.from({ length: 8 }, () => within(gate, 'create', () => starts.push(clock.monotonic()))),
    );
    await clock.pass(1_000);
    await all;
    expect(starts).toEqual([0, 0, 0, 100, 100, 100, 200, 200]);
  });

  it('does not count a turn in which nothing was sent', async () => {
    const gate = new Gate(
      { concurrency: 1, window: new RateWindow({ requests: 1, intervalMs: 60_000 }), account: unheld() },
      steppedClock(),
    );
    for (let unused = 0; unused < 3; unused += 1) (await gate.turn({ lane: 'create' }))?.end();
    expect(await within(gate, 'create', () => 'sent')).toBe('sent');
  });

  it('gives no turn until the last owner is out of the window', async () => {
    const clock = steppedClock();
    const gate = new Gate(
      { concurrency: 1, window: new RateWindow(open, [{ at: -300, requests: 1_000 }]), account: unheld() },
      clock,
    );
    const started = within(gate, 'lookup', () => clock.monotonic());
    await clock.pass(2_000);
    expect(await started).toBe(700);
  });

  it('lets go at once of what waits for the rate limit when its signal aborts, and finishes what runs', async () => {
    const clock = steppedClock();
    const gate = new Gate(
      { concurrency: 4, window: new RateWindow({ requests: 1, intervalMs: 60_000 }), account: unheld() },
      clock,
    );
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
    const gate = new Gate({ concurrency: 1, window: new RateWindow(open), account: unheld() }, steppedClock());
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
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account: unheld() }, clock);
    await within(gate, 'create', () => 1, { report: UNREACHABLE });
    expect(gate.breaker('lookup').isOpen).toBe(false);
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
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account: unheld() }, clock);
    await within(gate, 'create', () => 1, { report: UNREACHABLE });
    await clock.pass(1_000);
    const probe = within(gate, 'create', () => 1, { report: UNREACHABLE });
    const others = Promise.all([1, 2].map(() => within(gate, 'create', () => 1)));
    expect(await probe).toBe(1);
    expect(await others).toEqual([undefined, undefined]);
  });

  /** Answers of creates come when the test wants them: gives how many were in flight together, round by round. */
  async function rounds(gate: Gate, clock: ReturnType<typeof steppedClock>, creates: number): Promise<number[]> {
    let waiting: (() => void)[] = [];
    const all = Array.from({ length: creates }, (_, index) =>
      within(gate, 'create', () => new Promise<void>((answer) => waiting.push(answer)), { subject: `${index}` }),
    );
    const sizes = [];
    while (sizes.reduce((sum, size) => sum + size, 0) < creates) {
      await clock.pass(0);
      const round = waiting;
      waiting = [];
      sizes.push(round.length);
      for (const answer of round) answer();
    }
    await Promise.all(all);
    return sizes;
  }

  it('gives no turn to lanes that are held, and one turn at a time to all that are probed together', async () => {
    const clock = steppedClock();
    let [heldMs, probed] = [0, ['create', 'lookup']];
    const isHeld = (lane: Lane) => lane !== 'person' && probed.includes(lane);
    const account = {
      heldForMs: (lane: Lane) => (isHeld(lane) ? heldMs : 0),
      isProbed: (lane: Lane) => isHeld(lane) && heldMs === 0,
    };
    const gate = new Gate({ concurrency: 8, window: new RateWindow(open), account }, clock);
    const running: string[] = [];
    const answers: (() => void)[] = [];
    const request = (lane: Lane, subject: string) =>
      within(gate, lane, () => new Promise<void>((answer) => (running.push(subject), answers.push(answer))), {
        subject,
      });
    const all = [request('create', 'a'), request('lookup', 'b'), request('lookup', 'c'), request('person', 'd')];
    await clock.pass(0);
    expect(running).toEqual(['a', 'd']);
    for (const answer of answers.splice(0)) answer();
    await clock.pass(0);
    expect(running).toEqual(['a', 'd', 'b']);
    [heldMs, probed] = [500, ['create', 'lookup']];
    for (const answer of answers.splice(0)) answer();
    await Promise.all(all);
    expect(running).toEqual(['a', 'd', 'b']);
    expect(await request('create', 'e')).toBeUndefined();
    // Where creates alone are probed, look-ups do not keep them from it.
    [heldMs, probed] = [0, ['create']];
    const more = [request('lookup', 'f'), request('lookup', 'g'), request('create', 'h'), request('create', 'i')];
    await clock.pass(0);
    expect(running.slice(3).toSorted()).toEqual(['f', 'g', 'h']);
    for (const answer of answers.splice(0)) answer();
    await clock.pass(0);
    for (const answer of answers.splice(0)) answer();
    await Promise.all(more);
  });

  it('begins with one create, and doubles to the concurrency as they are answered', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 8, window: new RateWindow(open), account: unheld() }, clock);
    expect(await rounds(gate, clock, 31)).toEqual([1, 2, 4, 8, 8, 8]);
  });

  it('gives no turn to creates after failures that may have been taken until a look-up is answered, then one', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 8, window: new RateWindow(open), account: unheld() }, clock);
    const failed = { wasSent: true, health: 'failed' } as const;
    await rounds(gate, clock, 15);
    for (const subject of ['a', 'b', 'c']) await within(gate, 'create', () => 1, { report: failed, subject });
    expect(gate.breaker('lookup').isOpen).toBe(false);
    await clock.pass(1_000);
    expect(gate.breaker('create')).toMatchObject({ isOpen: false, needsProbe: true });
    expect(await within(gate, 'create', () => 1)).toBeUndefined();
    expect(await within(gate, 'lookup', () => 1)).toBe(1);
    expect(await within(gate, 'create', () => 1)).toBeUndefined();
    {
      using probe = await gate.turn({ lane: 'lookup', subject: 'x', isProbe: true });
      if (probe !== undefined) probe.report = ANSWERED;
    }
    expect(await rounds(gate, clock, 10)).toEqual([1, 2, 4, 3]);
    expect(gate.isSilent).toBe(false);
  });
});
