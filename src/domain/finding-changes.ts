import { FINDING_CLASSES, type FindingClassName } from './finding-classes.ts';
import type { Finding } from './reconcile.ts';

/** Where a finding stands; a person acknowledges, everything else happens by itself. */
export type FindingStatus = 'open' | 'acknowledged' | 'resolved';

/** A finding that is written down. */
export interface KnownFinding extends Finding {
  readonly id: number;
  readonly status: FindingStatus;
}

/** What is to be written about the findings of one order. */
export interface FindingChanges {
  readonly opened: readonly Finding[];
  /** Seen again; `status` is `open` where it was resolved, and stays as it is otherwise. */
  readonly seenAgain: readonly KnownFinding[];
  readonly resolved: readonly KnownFinding[];
}

/**
 * Holds what was found now against what is written down. `judged` are the classes that could be judged now: those of
 * kind `state` that are not found any more resolve themselves, and reopen when they come back.
 */
export function decideFindings(
  known: readonly KnownFinding[],
  found: readonly Finding[],
  judged: readonly FindingClassName[],
): FindingChanges {
  const now = joined(found);
  const knownAs = (finding: Finding) => known.find((one) => isSame(one, finding));
  return {
    opened: now.filter((finding) => knownAs(finding) === undefined),
    seenAgain: now.flatMap((finding) => {
      const before = knownAs(finding);
      if (before === undefined) return [];
      return [{ ...before, ...finding, status: before.status === 'resolved' ? ('open' as const) : before.status }];
    }),
    resolved: known.filter(
      (one) =>
        one.status !== 'resolved' &&
        FINDING_CLASSES[one.class].kind === 'state' &&
        judged.includes(one.class) &&
        !now.some((finding) => isSame(one, finding)),
    ),
  };
}

/** A state is one finding, whatever its values; a change is a finding of its own with each pair of values. */
function isSame(known: Finding, finding: Finding): boolean {
  if (known.class !== finding.class) return false;
  if (FINDING_CLASSES[finding.class].kind === 'state') return true;
  return known.expected === finding.expected && known.actual === finding.actual;
}

/** Several values of one state class stand in one finding. */
function joined(found: readonly Finding[]): readonly Finding[] {
  const states = new Map<FindingClassName, Finding>();
  const changes: Finding[] = [];
  for (const finding of found) {
    const before = states.get(finding.class);
    if (FINDING_CLASSES[finding.class].kind === 'change') changes.push(finding);
    else if (before === undefined) states.set(finding.class, finding);
    else {
      states.set(finding.class, {
        class: finding.class,
        expected: `${before.expected}; ${finding.expected}`,
        actual: `${before.actual}; ${finding.actual}`,
      });
    }
  }
  return [...states.values(), ...changes];
}
