import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  demandAt,
  LONGEST_GAP_MS,
  MOST_STATUSES,
  OTHERS,
  PaceLearner,
  solvePrice,
  solvePrices,
  type PacedGroup,
} from '../../../src/extensions/pace/pace.ts';
import { statusKey } from '../../../src/extensions/pace/status.ts';
import { LONGEST_WAIT_MS } from '../../../src/orders/rules/schedule.ts';
import { ACCEPTED, ago, followed, learnerWith, LIMITS, NOW, OPEN, spread, stay, stays } from '../../support/paces.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

describe('a learned pace', () => {
  it('has each status looked up when its orders change', () => {
    const pace = learnerWith([...stays(ACCEPTED, 10 * MINUTE), ...stays(OPEN, 30 * SECOND)]).pace(LIMITS);
    expect(pace.gapMs(OPEN, 0)).toBeLessThan(40 * SECOND);
    expect(pace.gapMs(ACCEPTED, 0)).toBeGreaterThan(2 * MINUTE);
    expect(pace.gapMs(ACCEPTED, 9 * MINUTE)).toBeLessThan(MINUTE);
  });

  it('keeps within its bounds, whatever was learned and whatever it is asked', () => {
    const time = () => fc.double({ min: -1e12, max: 1e12 });
    const history = fc.array(fc.record({ from: time(), to: time() }), { maxLength: 10 });
    fc.assert(
      fc.property(history, time(), fc.double({ min: 1, max: 1e9, noNaN: true }), (ended, since, worthMs) => {
        const learner = learnerWith(
          ended.map((one) => stay(OPEN, one.to, one)),
          [[OPEN, HOUR, 3]],
        );
        const gap = learner.pace({ ...LIMITS, worthMs }).gapMs(OPEN, since);
        expect(gap).toBeGreaterThanOrEqual(LIMITS.leastMs);
        expect(gap).toBeLessThanOrEqual(LIMITS.mostMs);
      }),
    );
    expect(LONGEST_GAP_MS).toBe(7 * DAY);
    expect(LONGEST_WAIT_MS).toBeGreaterThan(LONGEST_GAP_MS);
  });

  it('spaces look-ups by age if nothing is known', () => {
    const pace = new PaceLearner().pace(LIMITS);
    const gaps = [0, MINUTE, HOUR, DAY, 30 * DAY].map((since) => pace.gapMs(OPEN, since));
    expect(gaps).toEqual(gaps.toSorted((one, other) => one - other));
    expect(gaps[0]).toBeLessThan(15 * SECOND);
  });

  it('falls back to that if the history is broken', () => {
    const nothing = new PaceLearner().pace(LIMITS);
    const times = [Number.NaN, -HOUR, 1e300, Number.POSITIVE_INFINITY];
    const broken = learnerWith(times.map((to) => stay(OPEN, to, { from: -to })));
    const never = new Date(Number.NaN);
    broken.addOrder(followed(OPEN, 0, { changedAt: never, lastLookupAt: never, nextActionAt: 'soon' }), NOW);
    broken.addOrder(followed(OPEN, -DAY, { lastLookupAt: ago(HOUR), nextActionAt: '' }), NOW);
    broken.addOrder(followed(OPEN, 0, { changedAt: null, lastLookupAt: null }), NOW);
    const pace = broken.pace(LIMITS);
    for (const since of [0, MINUTE, DAY]) expect(pace.gapMs(OPEN, since)).toBe(nothing.gapMs(OPEN, since));
  });

  it('knows the statuses with the most stays, and the others share what is assumed', () => {
    const many = Array.from({ length: 500 }, (_, index) => stay({ ...OPEN, orderStatus: `S${index}` }, 30 * SECOND));
    const endedByPerson = stay({ ...OPEN, orderStatus: 'P' }, 30 * SECOND, { isByExchange: false });
    const learner = learnerWith([...many, endedByPerson, ...stays(OPEN, 30 * SECOND)]);
    for (let index = 0; index < 500; index += 1)
      learner.addOrder(followed({ ...OPEN, orderStatus: `T${index}` }, HOUR), NOW);
    const pace = learner.pace(LIMITS);
    expect(pace.statuses.length).toBeLessThanOrEqual(MOST_STATUSES + 1);
    expect(pace.statuses.reduce((sum, { orders }) => sum + orders, 0)).toBe(500);
    const nothing = new PaceLearner().pace(LIMITS).gapMs(OPEN, 0);
    expect(pace.gapMs(OPEN, 0)).not.toBe(nothing);
    expect(pace.statuses.find(({ key }) => key === statusKey(OPEN))?.stays).toBe(100);
    const assumed = pace.hazardsOf('never seen');
    expect(pace.hazardsOf(statusKey({ ...OPEN, orderStatus: 'T499' }))).toEqual(assumed);
    expect(pace.statuses.find(({ key }) => key === OTHERS)?.hazards).toEqual(assumed);
  });

  it('does not take orders that are older than the history that was read for ones that never change', () => {
    const gapWith = (historyFrom: Date | null) => {
      const learner = new PaceLearner(stays(ACCEPTED, MINUTE), historyFrom);
      for (let index = 0; index < 1_000; index += 1) learner.addOrder(followed(ACCEPTED, 20 * DAY), NOW);
      return learner.pace({ ...LIMITS, rate: 0.1, budget: 0.1 }).gapMs(ACCEPTED, 0);
    };
    const alone = learnerWith(stays(ACCEPTED, MINUTE)).pace(LIMITS).gapMs(ACCEPTED, 0);
    expect(gapWith(ago(HOUR))).toBe(alone);
    expect(gapWith(null)).toBeGreaterThan(alone);
  });

  it('does not take the decision of a person for a change of the exchange', () => {
    const given = learnerWith(stays(ACCEPTED, HOUR).map((one) => ({ ...one, isByExchange: false }))).pace(LIMITS);
    expect(given.gapMs(ACCEPTED, 30 * MINUTE)).toBeGreaterThan(
      new PaceLearner().pace(LIMITS).gapMs(ACCEPTED, 30 * MINUTE),
    );
  });

  it('is the same for the same history and the same orders, in whatever order they come', () => {
    const ended = [...stays(OPEN, 30 * SECOND), ...stays(ACCEPTED, HOUR)];
    const orders = [
      [OPEN, MINUTE, 5],
      [ACCEPTED, DAY, 50],
    ] as const;
    const one = learnerWith(ended, orders).pace(LIMITS);
    const other = learnerWith(ended.toReversed(), orders.toReversed()).pace(LIMITS);
    expect(other.priceMs).toBe(one.priceMs);
    for (const order of [OPEN, ACCEPTED]) expect(other.gapMs(order, MINUTE)).toBeCloseTo(one.gapMs(order, MINUTE), 3);
  });
});

describe('the price of a look-up', () => {
  it('is the worth of news while the budget is not used up', () => {
    const pace = learnerWith(stays(OPEN, HOUR), [[OPEN, MINUTE, 10]]).pace(LIMITS);
    expect(pace.priceMs).toBe(LIMITS.worthMs);
    expect(pace.demand).toBeLessThan(LIMITS.budget);
  });

  it('is as high as it takes to keep within the budget, most of which is used', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 500 }),
        fc.double({ min: 0.003, max: 0.02, noNaN: true }),
        (orders, budget) => {
          const groups = [
            [OPEN, MINUTE, orders],
            [ACCEPTED, HOUR, orders],
          ] as const;
          const pace = learnerWith([...spread(OPEN), ...spread(ACCEPTED)], groups).pace({
            ...LIMITS,
            budget,
          });
          expect(pace.demand).toBeLessThanOrEqual(budget);
          if (pace.priceMs > LIMITS.worthMs) expect(pace.demand).toBeGreaterThan(0.5 * budget);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is the lowest that keeps within the budget', () => {
    const orders = () => fc.integer({ min: 1, max: 1e6 });
    // Each order is looked up at least once a day, whatever it costs: that much is there, and a fifth for the others.
    const extra = () => fc.double({ min: 0.25, max: 10, noNaN: true });
    fc.assert(
      fc.property(orders(), extra(), (count, more) => {
        const groups = [{ demand: (priceMs: number) => count / Math.min(DAY, SECOND * (1 + priceMs)) }];
        const budget = (count / DAY) * (1 + more);
        const price = solvePrice(groups, { budget, rate: 2 * budget }, 2);
        expect(demandAt(groups, price)).toBeLessThanOrEqual(budget);
        expect(price === 2 || demandAt(groups, price / 1.02) > budget).toBe(true);
      }),
    );
  });

  it('counts an order once a tick at most, however often it would be worth a look-up', () => {
    const learner = learnerWith(stays(OPEN, HOUR), [[OPEN, MINUTE, 100]]);
    const demand = (tickMs: number) => learner.pace({ ...LIMITS, tickMs }).demand;
    expect(demand(HOUR)).toBeLessThan(demand(5 * SECOND));
    expect(demand(DAY)).toBeLessThan(demand(HOUR));
  });

  it('leaves an order of which nothing is expected until the end of its time under overload', () => {
    const pace = learnerWith([], [[OPEN, 20 * DAY, 1_000]]).pace({ ...LIMITS, rate: 2e-9, budget: 1e-9 });
    expect(pace.gapMs(OPEN, 20 * DAY)).toBe(LIMITS.mostMs);
  });

  it('stays within reach if orders that never change take the whole budget', () => {
    const idle = 20_000;
    const budget = idle / LIMITS.mostMs;
    const learner = learnerWith(stays(OPEN, MINUTE), [
      [ACCEPTED, 20 * DAY, idle],
      [OPEN, 0, 1],
    ]);
    const pace = learner.pace({ ...LIMITS, rate: 2 * budget, budget });
    expect(pace.gapMs(OPEN, 0)).toBeLessThan(10 * MINUTE);
    expect(pace.demand).toBeLessThan(1.3 * budget);
  });

  it('does not rise with orders that wait for a look-up which will find them gone', () => {
    const learner = learnerWith([...stays(ACCEPTED, SECOND, 1_000), ...stays(OPEN, HOUR)], [[OPEN, 0, 10]]);
    const waiting = { lastLookupAt: null, nextActionAt: ago(-HOUR).toISOString() };
    for (let index = 0; index < 1_000; index += 1) learner.addOrder(followed(ACCEPTED, HOUR, waiting), NOW);
    // That is one look-up each within two hours, not one every few seconds.
    expect(learner.pace({ ...LIMITS, budget: 1 / SECOND }).priceMs).toBe(LIMITS.worthMs);
  });
});

const AMPLE = { budget: 1, rate: 100 };
const LEAST = 0.001;

/** Orders of which some are looked up as often as the price allows, and others whatever it is. */
const group = (some: number, always = 0): PacedGroup => ({ demand: (priceMs) => always + some / priceMs });
/** The price is found to 1 %, and never too low. */
const about = (priceMs: number) => (actual: number) => actual >= priceMs * (1 - 1e-9) && actual <= priceMs * 1.01;

it('the demand of groups is that of each together', () => {
  expect(demandAt([group(6), group(2, 5)], 2)).toBe(9);
  expect(demandAt([], 2)).toBe(0);
});

describe('the price of look-ups', () => {
  it('is the least one if that does not take more than the budget', () => {
    expect(solvePrice([group(10)], { budget: 5, rate: 9 }, 2)).toBe(2);
    expect(solvePrice([group(10)], { budget: 4.9, rate: 9 }, 2)).toSatisfy(about(10 / 4.9));
  });

  it('is the lowest at which the budget is enough', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 0.7 * HOUR, noNaN: true }), (some) => {
        expect(solvePrice([group(some)], AMPLE, LEAST)).toSatisfy(about(some));
      }),
    );
  });

  it('leaves a fifth of the budget beside what is made at any price, as far as the rate allows', () => {
    expect(solvePrice([group(10, 0.9)], AMPLE, LEAST)).toSatisfy(about(10 / (0.2 + 10 / HOUR)));
    expect(solvePrice([group(10, 0.9)], { budget: 1, rate: 1.05 }, LEAST)).toSatisfy(about(10 / (0.98 * 1.05 - 0.9)));
    expect(solvePrice([group(10, 0.9)], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(10 / 0.1));
  });

  it('is an hour, or the least one, if that is too low', () => {
    expect(solvePrice([group(10, 3)], { budget: 1, rate: 1 }, LEAST)).toBe(HOUR);
    expect(solvePrice([group(10, 3)], { budget: 1, rate: 1 }, 2 * HOUR)).toBe(2 * HOUR);
    // At ten minutes it is just enough, and at no price would it be more than that.
    const bounded = { demand: (priceMs: number) => Math.max(1, (10 * MINUTE) / priceMs) };
    expect(solvePrice([bounded], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(10 * MINUTE));
    // At an hour it is just enough.
    expect(solvePrice([group(HOUR)], { budget: 1, rate: 1 }, LEAST)).toSatisfy(about(HOUR));
  });
});

describe('the prices of two kinds of orders', () => {
  it('are one if neither kind would pay less with a fifth of the budget to itself', () => {
    expect(solvePrices([[group(1)], [group(1)]], AMPLE, 5)).toEqual([5, 5]);
    const [one, other] = solvePrices([[group(30)], [group(10)]], AMPLE, LEAST);
    expect(one).toSatisfy(about(40));
    expect(other).toBe(one);
  });

  it.each([
    ['few orders of one kind pay', group(1), 5, group(100), 125],
    ['what is always made leaves the others a fifth, so that they pay', group(0.001, 0.9), 0.025, group(100), 500],
  ])('are two if one kind would pay less with a fifth of the budget to itself: %s', (_name, few, low, many, high) => {
    const [one, other] = solvePrices([[few], [many]], AMPLE, LEAST);
    expect(one).toSatisfy(about(low));
    // The price of the others depends on the first one.
    expect(Math.abs(other / high - 1)).toBeLessThan(0.02);
    expect(solvePrices([[many], [few]], AMPLE, LEAST)).toEqual([other, one]);
  });
});
