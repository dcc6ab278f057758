import { describe, expect, it } from 'vitest';
import { LEAST_GAP_MS, type PacedOrder } from '../../../src/orders/rules/lookup.ts';
import { PaceLearner, type LearnedPace } from '../../../src/extensions/pace/pace.ts';
import { statusKey, type FollowedOrder } from '../../../src/extensions/pace/status.ts';
import { leaving } from '../../../src/extensions/pace/stay-times.ts';
import { ACCEPTED, ago, followed, learnerWith, LIMITS, NOW, OPEN, stay, stays } from '../../support/paces.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const ENDED = [...stays(OPEN, HOUR), ...stays(ACCEPTED, 3 * MINUTE)];

/** A pace learned from such stays alone, and the orders that are followed. */
function paceWith(...orders: readonly FollowedOrder[]): LearnedPace {
  const learner = new PaceLearner(ENDED, NOW);
  for (const order of orders) learner.addOrder(order, NOW);
  return learner.pace(LIMITS);
}

function statusOf(pace: LearnedPace, order: PacedOrder) {
  return pace.statuses.find(({ key }) => key === statusKey(order)) ?? expect.fail('the status is not known');
}

/** Orders of an age that will be looked up again after a gap. */
const orders = (count: number, ageMs: number, gapMs: number) =>
  Array.from({ length: count }, () => followed(OPEN, ageMs, { nextActionAt: ago(-gapMs).toISOString() }));

describe('what is known of a status', () => {
  it('is how many orders have left it, and how many are in it', () => {
    const byPerson = stay(OPEN, MINUTE, { isByExchange: false });
    const { statuses } = learnerWith(
      [...stays(OPEN, HOUR, 7), byPerson],
      [
        [OPEN, MINUTE, 5],
        [OPEN, DAY, 2],
        [ACCEPTED, HOUR, 3],
      ],
    ).pace(LIMITS);
    expect(statuses.map(({ key, stays: ended, orders: left }) => [key, ended, left])).toEqual([
      [statusKey(OPEN), 7, 7],
      [statusKey(ACCEPTED), 0, 3],
    ]);
  });
});

describe('the look-ups that a status takes', () => {
  it('are those of its orders, if these are looked up at its pace', () => {
    const gapMs = paceWith().gapMs(OPEN, MINUTE);
    const { demand, news, hazards } = statusOf(paceWith(...orders(50, MINUTE, gapMs)), OPEN);
    expect(demand * gapMs).toBeCloseTo(50, 3);
    expect(news / demand).toBeCloseTo(leaving(hazards, MINUTE, gapMs), 6);
  });

  it('are those of its orders of each age together, and of all statuses those of each', () => {
    const [young, old] = [orders(50, MINUTE, MINUTE), orders(20, 20 * DAY, HOUR)];
    const accepted = followed(ACCEPTED, MINUTE);
    const [one, other, third] = [paceWith(...young), paceWith(...old), paceWith(accepted)];
    const all = paceWith(...old, ...young, accepted);
    expect(statusOf(all, OPEN).demand * SECOND).toBeCloseTo((one.demand + other.demand) * SECOND, 9);
    expect(statusOf(all, OPEN).news * SECOND).toBeCloseTo(
      (statusOf(one, OPEN).news + statusOf(other, OPEN).news) * SECOND,
      9,
    );
    expect(all.demand * SECOND).toBeCloseTo((one.demand + other.demand + third.demand) * SECOND, 9);
  });

  it('count an order that is overdue by how long it has waited', () => {
    const waiting = followed(OPEN, 20 * MINUTE, {
      lastLookupAt: ago(10 * MINUTE),
      nextActionAt: ago(9 * MINUTE).toISOString(),
    });
    expect(paceWith(waiting).demand).toBe(paceWith(...orders(1, 10 * MINUTE, 10 * MINUTE)).demand);
  });

  it('count an order that is due at once no more than one that is due as soon as may be', () => {
    expect(paceWith(...orders(1, HOUR, 0)).demand).toBe(paceWith(...orders(1, HOUR, LEAST_GAP_MS)).demand);
    expect(paceWith(...orders(1, HOUR, LEAST_GAP_MS + SECOND)).demand).toBeLessThan(
      paceWith(...orders(1, HOUR, LEAST_GAP_MS)).demand,
    );
  });
});

describe('a pace learned again from the same stays', () => {
  it('knows nothing of the orders that were followed', () => {
    const learner = new PaceLearner(ENDED, ago(30 * DAY));
    const alone = learner.pace(LIMITS);
    for (let index = 0; index < 100; index += 1) learner.addOrder(followed(OPEN, 20 * DAY), NOW);
    const again = learner.again().pace(LIMITS);
    expect(again.gapMs(OPEN, HOUR)).toBe(alone.gapMs(OPEN, HOUR));
    expect(statusOf(again, OPEN)).toMatchObject({ stays: 100, orders: 0, demand: 0 });
  });

  it('counts of each order the time that lies in the same part of the history', () => {
    const gapsWith = (learner: PaceLearner) => {
      for (let index = 0; index < 100; index += 1) learner.addOrder(followed(OPEN, 20 * DAY), NOW);
      const pace = learner.pace({ ...LIMITS, mostMs: 100 * DAY });
      return [DAY, 15 * DAY].map((age) => pace.gapMs(OPEN, age));
    };
    const froms = [NOW, ago(10 * DAY), null];
    const gaps = froms.map((from) => gapsWith(new PaceLearner(ENDED, from)));
    expect(froms.map((from) => gapsWith(new PaceLearner(ENDED, from).again()))).toEqual(gaps);
    const [none, half, whole] = gaps as [number[], number[], number[]];
    expect(half[0]).toBe(none[0]);
    expect(whole[0]).toBeGreaterThan(half[0]!);
    expect(half[1]).toBeGreaterThan(none[1]!);
  });
});

it.each([
  [ACCEPTED, OPEN],
  [OPEN, ACCEPTED],
])('the price is the higher one if the orders of one kind are too many: %j', (many, few) => {
  const crowd = [
    [many, MINUTE, 500],
    [few, MINUTE, 1],
  ] as const;
  const pace = learnerWith(ENDED, crowd).pace({ ...LIMITS, budget: 0.01 / SECOND, rate: 0.02 / SECOND });
  expect(statusOf(pace, few).priceMs).toBeLessThan(statusOf(pace, many).priceMs);
  expect(pace.priceMs).toBe(statusOf(pace, many).priceMs);
});
