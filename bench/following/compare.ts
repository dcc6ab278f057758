import { LEAST_GAP_MS } from '../../src/orders/rules/lookup.ts';
import { type PaceLimits } from '../../src/extensions/pace/pace.ts';
import { quantile } from '../figures.ts';
import { Oracle } from './oracle.ts';
import { roundRobin } from './round-robin.ts';
import { simulate, type Outcome } from './simulate.ts';
import { backOff, following, Learned, stepPace } from './strategies.ts';
import { SECOND, type World } from './world.ts';

/** The settings by which the worlds are followed. */
export interface FollowedBy {
  readonly worthMs: number;
  readonly share: number;
  /** The longest time between two look-ups, in milliseconds. */
  readonly longestMs: number;
}

/** The ways of following that are compared. */
export const STRATEGIES = ['roundRobin', 'backOff', 'steps', 'learned', 'oracle'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** The result of a way of following; times in seconds. */
export interface Result {
  /** How late changes were seen: the mean and the 95th percentile. */
  readonly mean: number;
  readonly late: number;
  /** Look-ups a second, and those of them that were of final orders, or of ones that had not changed for a day. */
  readonly lookups: number;
  readonly idle: number;
  /** The longest time between two look-ups of an order that was followed. */
  readonly longestWait: number;
}

/** The results of a world, with this many look-ups a second for followed orders. */
export interface Comparison {
  readonly world: string;
  readonly budget: number;
  /** Nothing is known at the beginning of the measured time. */
  readonly isUnknown: boolean;
  readonly results: Readonly<Record<Strategy, Result>>;
}

/** Follows a world in each way. Round robin makes `budget` look-ups a second; the others may make as many as the rate allows. */
export function compare(world: World, budget: number, settings: FollowedBy): Comparison {
  const rate = budget / settings.share;
  const limits: PaceLimits = {
    leastMs: LEAST_GAP_MS,
    mostMs: settings.longestMs,
    worthMs: settings.worthMs,
    budget: budget / SECOND,
    rate: rate / SECOND,
  };
  const results = {
    roundRobin: roundRobin(world, budget, limits),
    backOff: simulate(world, rate, backOff(limits)),
    steps: simulate(world, rate, following(stepPace(limits))),
    learned: simulate(world, rate, new Learned(world, limits)),
    oracle: simulate(world, rate, new Oracle(world, limits)),
  };
  const named = STRATEGIES.map((name) => [name, resultOf(results[name], world)]);
  const isUnknown = world.measuredFrom === 0;
  return { world: world.name, budget, isUnknown, results: Object.fromEntries(named) as Record<Strategy, Result> };
}

function resultOf({ delays, ...outcome }: Outcome, { measuredFrom, measuredTo }: World): Result {
  const seconds = (measuredTo - measuredFrom) / SECOND;
  return {
    mean: delays.reduce((sum, ms) => sum + ms, 0) / delays.length / SECOND,
    late: quantile(delays, 0.95) / SECOND,
    lookups: outcome.lookups / seconds,
    idle: (outcome.ofFinal + outcome.ofIdle) / seconds,
    longestWait: outcome.longestWaitMs / SECOND,
  };
}
