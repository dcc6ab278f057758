import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Lane } from '../../../src/accounts/rules/restraints.ts';
import { Gate } from '../../../src/exchange/transport/gate.ts';
import type { TurnReport } from '../../../src/exchange/transport/gate.ts';
import { RateWindow } from '../../../src/exchange/transport/rate-window.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { unheld } from '../../support/exchange-client.ts';

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

describe('the gate', () => {
  const open = { requests: 1_000, intervalMs: 1_000 };

  it('starts no more than the limit in a window and continues when it has passed', async () => {
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

  it('grants no turn until the last owner is out of the window', async () => {
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

  it('saves up no turns for a lane that was idle', async () => {
    const gate = new Gate({ concurrency: 1, window: new RateWindow(open), account: unheld() }, steppedClock());
    const order: Lane[] = [];
    const request = (lane: Lane) => within(gate, lane, () => order.push(lane));
    for (let alone = 0; alone < 40; alone += 1) await request('lookup');
    const both = ['lookup', 'create'] as const;
    await Promise.all(both.flatMap((lane) => Array.from({ length: 20 }, () => request(lane))));
    expect(order.slice(40, 60).filter((lane) => lane === 'lookup').length).toBeGreaterThanOrEqual(3);
  });

  it('listens no longer to the signal of a request that has its turn', async () => {
    const gate = new Gate({ concurrency: 1, window: new RateWindow(open), account: unheld() }, steppedClock());
    const { signal } = new AbortController();
    await within(gate, 'create', () => 1, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('grants no turn while the breaker is open, and then a single probe that the others wait for', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account: unheld() }, clock);
    await within(gate, 'lookup', () => 1, { report: UNREACHABLE });
    expect(gate.breaker('create').isOpen).toBe(false);
    expect(await within(gate, 'lookup', () => 1)).toBeUndefined();
    expect(await within(gate, 'create', () => 1)).toBe(1);
    expect(await within(gate, 'person', () => 1)).toBe(1);
    await clock.pass(1_000);
    const probe = Promise.withResolvers<number>();
    const ran: number[] = [];
    const request = (number: number) => within(gate, 'lookup', () => ran.push(number));
    const first = within(gate, 'lookup', () => probe.promise);
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

  it('grants none to requests that wait for a probe when that fails', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account: unheld() }, clock);
    await within(gate, 'lookup', () => 1, { report: UNREACHABLE });
    await clock.pass(1_000);
    const probe = within(gate, 'lookup', () => 1, { report: UNREACHABLE });
    const others = Promise.all([1, 2].map(() => within(gate, 'lookup', () => 1)));
    expect(await probe).toBe(1);
    expect(await others).toEqual([undefined, undefined]);
  });

  it.each([
    ['create', 1, 2],
    ['create', 2, 3],
    ['create', 8, 3],
    ['lookup', 1, 3],
  ] as const)(
    'opens the breaker of %ss, of which %d may be in flight, at failure %d',
    async (lane, concurrency, most) => {
      const gate = new Gate({ concurrency, window: new RateWindow(open), account: unheld() }, steppedClock());
      const isOpen: boolean[] = [];
      for (const subject of ['a', 'b', 'c', 'd']) {
        await within(gate, lane, () => 1, { report: { wasSent: true, health: 'failed' }, subject });
        isOpen.push(gate.breaker(lane).isOpen);
      }
      expect(isOpen.indexOf(true) + 1).toBe(most);
    },
  );

  it('grants no turn to creates that cannot reach the exchange until a look-up does', async () => {
    const clock = steppedClock();
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account: unheld() }, clock);
    await within(gate, 'create', () => 1, { report: UNREACHABLE });
    const probed = async (report: TurnReport) => {
      await clock.pass(10_000);
      using probe = await gate.turn({ lane: 'lookup', subject: 'x', isProbe: true });
      if (probe !== undefined) probe.report = report;
    };
    await probed(UNREACHABLE);
    await clock.pass(10_000);
    expect(await within(gate, 'create', () => 1)).toBeUndefined();
    await probed(ANSWERED);
    expect(await within(gate, 'create', () => 1)).toBe(1);
  });

  it('grants no turn to creates while it is in doubt whether they alone are lost', async () => {
    const clock = steppedClock();
    const account = { ...unheld(), isInDoubt: true };
    const gate = new Gate({ concurrency: 4, window: new RateWindow(open), account }, clock);
    expect(gate.breaker('create')).toMatchObject({ isOpen: false, needsProbe: true });
    expect(await within(gate, 'create', () => 1)).toBeUndefined();
    expect(await within(gate, 'lookup', () => 1)).toBe(1);
    account.isInDoubt = false;
    expect(await within(gate, 'create', () => 1)).toBe(1);
  });

  /** Answers of creates come when the test wants them: returns how many were in flight together, round by round. */
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

  it('grants no turn to lanes that are held, and one turn at a time to all that are probed together', async () => {
    const clock = steppedClock();
    let [heldMs, probed] = [0, ['create', 'lookup']];
    const isHeld = (lane: Lane) => lane !== 'person' && probed.includes(lane);
    const account = {
      stoppedForMs: (lane: Lane) => (isHeld(lane) ? heldMs : 0),
      isProbed: (lane: Lane) => isHeld(lane) && heldMs === 0,
      isInDoubt: false,
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
    // If creates alone are probed, look-ups do not keep them from it.
    [heldMs, probed] = [0, ['create']];
    const more = [request('lookup', 'f'), request('lookup', 'g'), request('create', 'h'), request('create', 'i')];
    await clock.pass(0);
    expect(running.slice(3).toSorted()).toEqual(['f', 'g', 'h']);
    // Nor does the create keep look-ups from it.
    more.push(request('lookup', 'j'));
    await clock.pass(0);
    expect(running.slice(6)).toEqual(['j']);
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

  it('grants no turn to creates after failures that may have been taken until a look-up is answered, then one', async () => {
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
