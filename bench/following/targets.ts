import type { Comparison } from './compare.ts';

const OF_STEPS = 0.5;
const OF_STEPS_UNKNOWN = 1.1;
const OF_ORACLE = 1.15;

/** The rivals of the learned pace, one after another. */
export const RATIOS = ['beside steps', 'beside oracle', '95th percentile beside round robin'] as const;
type RatioName = (typeof RATIOS)[number];

/** The delay of the learned pace as a part of that of another way of following. */
export interface Ratio {
  readonly value: number;
  readonly atMost: number;
  /** Tells whether one who knows the distributions reaches it. If a mean is not reached so, the budget does not allow it. */
  readonly byOracle: boolean;
}

/** The learned pace beside the steps and the oracle by their means, and beside round robin by the 95th percentile. */
export function ratiosOf({ results, isUnknown }: Comparison): Readonly<Record<RatioName, Ratio>> {
  const { learned, oracle, steps, roundRobin } = results;
  const ofSteps = isUnknown ? OF_STEPS_UNKNOWN : OF_STEPS;
  return {
    'beside steps': {
      value: learned.mean / steps.mean,
      atMost: ofSteps,
      byOracle: oracle.mean <= ofSteps * steps.mean,
    },
    'beside oracle': { value: learned.mean / oracle.mean, atMost: OF_ORACLE, byOracle: true },
    '95th percentile beside round robin': {
      value: learned.late / roundRobin.late,
      atMost: 1,
      byOracle: oracle.late <= roundRobin.late,
    },
  };
}

/** A ratio that is above its target, and whether the oracle's is too. */
export interface Miss extends Ratio {
  readonly name: RatioName;
  readonly world: string;
  readonly budget: number;
}

/** Every ratio that is above its target, whether the oracle reaches that or not. */
export function missesOf(comparisons: readonly Comparison[]): readonly Miss[] {
  return comparisons.flatMap((comparison) => {
    const { world, budget } = comparison;
    const ratios = ratiosOf(comparison);
    const all = RATIOS.map((name): Miss => ({ name, world, budget, ...ratios[name] }));
    return all.filter(({ value, atMost }) => !(value <= atMost));
  });
}
