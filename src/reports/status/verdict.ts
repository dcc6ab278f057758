import type { Problem, ProblemCode } from './problem.ts';
import { problemsOf } from './problems.ts';
import type { Reading } from './status.ts';

/** How order-sync does, in one word, the gravest last. */
export type StatusEnd = 'well' | 'look' | 'out-of-reach' | 'key-refused';

/** How order-sync does, and why. */
export interface StatusVerdict {
  readonly end: StatusEnd;
  /** The worst first. */
  readonly reasons: readonly (Problem & { readonly end: Exclude<StatusEnd, 'well'> })[];
}

const ENDS: Readonly<Partial<Record<ProblemCode, Exclude<StatusEnd, 'well'>>>> = {
  'key-refused': 'key-refused',
  'out-of-reach': 'out-of-reach',
};

/** Judges a reading by its problems. */
export function judgeStatus(reading: Reading): StatusVerdict {
  const reasons = problemsOf(reading).map((problem) => ({ end: ENDS[problem.code] ?? 'look', ...problem }));
  const end = (['key-refused', 'out-of-reach', 'look'] as const).find((grave) =>
    reasons.some((one) => one.end === grave),
  );
  return { end: end ?? 'well', reasons };
}
