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
  /** Were resolved and came back, were acknowledged with other values than they have now, or happened again. */
  readonly reopened: readonly KnownFinding[];
  /** Stand as they stood, perhaps with other values. */
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
  const again = now.flatMap((finding) => {
    const before = knownAs(finding);
    return before === undefined ? [] : [{ ...before, ...finding, comesBack: comesBack(before, finding) }];
  });
  return {
    opened: now.filter((finding) => knownAs(finding) === undefined),
    reopened: again.filter((one) => one.comesBack),
    seenAgain: again.filter((one) => !one.comesBack),
    resolved: known.filter(
      (one) =>
        one.status !== 'resolved' &&
        FINDING_CLASSES[one.class].kind === 'state' &&
        judged.includes(one.class) &&
        !now.some((finding) => isSame(one, finding)),
    ),
  };
}

/** What is found where nothing happened, only something that had happened was looked at once more. */
export function withoutKnownChanges(known: readonly KnownFinding[], found: readonly Finding[]): readonly Finding[] {
  const isKnown = (finding: Finding) => known.some((one) => isSame(one, finding));
  return found.filter((finding) => FINDING_CLASSES[finding.class].kind === 'state' || !isKnown(finding));
}

/**
 * What a person acknowledged is what he saw: an amount that is wrong by more is another matter, and so is what happens
 * once more.
 */
function comesBack(known: KnownFinding, finding: Finding): boolean {
  if (known.status !== 'acknowledged') return known.status === 'resolved';
  if (FINDING_CLASSES[finding.class].kind === 'change') return true;
  const isAnother = known.expected !== finding.expected || known.actual !== finding.actual;
  return isAnother && FINDING_CLASSES[finding.class].severity !== 'info';
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
