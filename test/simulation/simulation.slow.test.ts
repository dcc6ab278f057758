import { describe, expect, it } from 'vitest';
import { MODES } from './modes/modes.ts';
import { prepareGround } from './ground.ts';
import { planOf } from './plan/plan.ts';
import { live } from './world.ts';

/** Of a mode with several worlds a seed, the one that is looked at. */
const PLACE = 50;

describe.each([...MODES.values()])('the simulation, mode $name', (mode) => {
  it('leads from the same seed to the same trace, and keeps every promise', async () => {
    using ground = await prepareGround();
    const first = await mode.run(7, ground, PLACE);
    const second = await mode.run(7, ground, PLACE);
    expect(first.trace.length).toBeGreaterThan(20);
    expect(second.trace).toEqual(first.trace);
    const other = await mode.run(8, ground, PLACE);
    expect(other.trace).not.toEqual(first.trace);
    expect([first, other].map(({ violation }) => violation)).toEqual([undefined, undefined]);
  });
});

describe('a process that is asked to stop while it takes its accounts from a busy database', () => {
  it.each([301, 357, 607])('stops in bounded time in world %i', async (seed) => {
    using ground = await prepareGround();
    const plan = { ...planOf(seed), stopsWithinMs: 100, busy: 0.5, longestLockMs: 100 };
    const { trace, violation } = await live(plan, ground);
    expect([plan.shared === null, plan.others.length]).toEqual([false, expect.toSatisfy((count: number) => count > 0)]);
    expect(trace.filter((line) => line.endsWith(' stop')).length).toBeGreaterThan(0);
    expect(violation).toBeUndefined();
  });
});

describe('a world with several accounts', () => {
  const several = Array.from({ length: 200 }, (_, index) => planOf(index + 1)).filter(
    ({ others }) => others.length > 0,
  );

  it('is one of five, and some share a limit', () => {
    expect(several.length).toBeGreaterThan(25);
    expect(several.length).toBeLessThan(60);
    expect(several.filter(({ sharesLimit }) => sharesLimit).length).toBeGreaterThan(5);
  });

  it('has orders of the same ids, and mostly one account in trouble beside the healthy ones', () => {
    const sameIds = several.filter(({ orders, others }) =>
      others.every((other) => other.orders.some(({ id }) => orders.some((one) => one.id === id))),
    );
    expect(sameIds).toEqual(several);
    const wells = several.map((plan) => [plan, ...plan.others].filter(({ isWell }) => isWell).length);
    expect(wells.filter((count) => count > 0).length).toBeGreaterThan(several.length / 2);
    expect(several.filter(({ others }, index) => wells[index] === others.length + 1)).toEqual([]);
  });
});

describe('a world with several processes at a time', () => {
  const shared = Array.from({ length: 1_000 }, (_, index) => planOf(index + 1)).filter(
    ({ workers }) => workers !== null,
  );

  it('is one of sixteen, has several accounts, and mostly receivers of webhooks', () => {
    expect(shared.length).toBeGreaterThan(45);
    expect(shared.length).toBeLessThan(80);
    expect(shared.filter(({ others }) => others.length === 0)).toEqual([]);
    expect(shared.filter(({ receivers }) => receivers.length > 0).length).toBeGreaterThan(shared.length / 3);
  });

  it('leads from the same seed to the same trace, in which accounts are taken over', async () => {
    using ground = await prepareGround();
    const first = await live(planOf(868), ground);
    const second = await live(planOf(868), ground);
    expect(second.trace).toEqual(first.trace);
    expect(first.violation).toBeUndefined();
    expect(first.trace.filter((line) => line.includes('the server: with over as')).length).toBeGreaterThan(1);
  });
});
