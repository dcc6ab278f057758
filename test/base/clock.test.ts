import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { steadyTime, systemClock } from '../../src/base/clock.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/tracking.ts';

/** A time whose two clocks the test moves. */
function movedTime() {
  const clocks = { wall: Date.parse('2026-01-05T12:00:00.000Z'), monotonic: 0 };
  const now = steadyTime(
    () => Math.floor(clocks.wall),
    () => clocks.monotonic,
  );
  return {
    now: () => now().getTime(),
    wall: () => Math.floor(clocks.wall),
    pass(ms: number) {
      clocks.wall += ms;
      clocks.monotonic += ms;
    },
    set(ms: number) {
      clocks.wall += ms;
    },
  };
}

describe('UTC', () => {
  it('continues at once after the clock of the machine was an hour ahead for a moment', () => {
    const time = movedTime();
    time.set(HOUR);
    expect(time.now()).toBe(time.wall());
    time.pass(SECOND);
    time.set(-HOUR);
    expect(time.now()).toBe(time.wall());
    time.pass(SECOND);
    expect(time.now()).toBe(time.wall());
  });

  it('does not go back if the clock of the machine is set back by a little', () => {
    const time = movedTime();
    const before = time.now();
    time.set(-900);
    expect(time.now()).toBe(before);
    time.pass(10);
    expect(time.now()).toBe(before + 10);
  });

  it('stays within a second of the clock of the machine, and stands still for no time, however that is set', () => {
    const step = fc.record({
      passMs: fc.double({ min: 0, max: 2 * HOUR, noNaN: true }),
      setMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: -2 * SECOND, max: 2 * SECOND }),
        fc.integer({ min: -400 * DAY, max: 400 * DAY }),
      ),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const time = movedTime();
        for (const { passMs, setMs } of steps) {
          const before = time.now();
          time.pass(passMs);
          expect(time.now() - before).toBeGreaterThanOrEqual(Math.floor(passMs));
          time.set(setMs);
          const aheadMs = time.now() - time.wall();
          expect(aheadMs).toBeGreaterThanOrEqual(0);
          expect(aheadMs).toBeLessThanOrEqual(SECOND);
        }
      }),
    );
  });
});

describe('the clock of a machine', () => {
  it('follows the clock of the database, by more than the time that its answer took', () => {
    const machine = Date.parse('2026-01-05T12:00:00.000Z');
    const clock = systemClock(() => machine);
    const show = (aheadMs: number, tookMs: number) => {
      const to = clock.monotonic();
      clock.follow?.(new Date(machine + aheadMs - tookMs / 2), to - tookMs, to);
      return Math.round((clock.now().getTime() - machine) / 100) * 100;
    };
    // All clocks of the process follow one database: another test may have moved them, and this one moves them back.
    expect(show(0, 0)).toBe(0);
    expect(show(400, 1_000)).toBe(0);
    expect(show(10 * MINUTE, 20)).toBe(10 * MINUTE);
    expect(show(10 * MINUTE + 300, 1_000)).toBe(10 * MINUTE);
    expect(show(10 * MINUTE + 900, 1_000)).toBe(10 * MINUTE + 900);
    expect(show(-10 * MINUTE, 20)).toBe(-10 * MINUTE);
    expect(clock.databaseAheadMs).toBeCloseTo(-10 * MINUTE, -2);
    // Every clock of the process goes by it.
    expect(
      systemClock(() => machine)
        .now()
        .getTime() - machine,
    ).toBeLessThan(-9 * MINUTE);
    expect(show(0, 0)).toBe(0);
  });
});
