import { FINDING_CLASSES, type FindingClassName } from './classes.ts';
import type { Finding } from './finding.ts';

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

/** So many changes of one class and order are written down each by itself; the newest stands for those after it. */
const MOST_CHANGES = 50;
const COUNTED = / \(change (\d+)\)$/;

/**
 * Holds what was found now against what is written down. `judged` are the classes that could be judged now: those of
 * kind `state` that are not found any more resolve themselves, and reopen when they come back.
 */
export function decideFindings(
  known: readonly KnownFinding[],
  found: readonly Finding[],
  judged: readonly FindingClassName[],
): FindingChanges {
  const now = withCounted(known, joined(found));
  const knownAs = (finding: Finding) => known.find((one) => isSame(one, finding));
  const again = now.flatMap((finding) => {
    const before = knownAs(finding) ?? standInFor(known, finding);
    return before === undefined ? [] : [{ ...before, ...finding, comesBack: comesBack(before, finding) }];
  });
  return {
    opened: now.filter((finding) => (knownAs(finding) ?? standInFor(known, finding)) === undefined),
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

/** The finding that stands for all further changes of a class; undefined while they are few. */
function standInFor(known: readonly KnownFinding[], { class: name }: Finding): KnownFinding | undefined {
  if (FINDING_CLASSES[name].kind === 'state') return undefined;
  const before = known.filter((one) => one.class === name);
  return before.length < MOST_CHANGES ? undefined : before.at(-1);
}

/** Says of changes beyond those that are written down how many there were. */
function withCounted(known: readonly KnownFinding[], found: readonly Finding[]): readonly Finding[] {
  return found.map((finding) => {
    const standIn = known.some((one) => isSame(one, finding)) ? undefined : standInFor(known, finding);
    if (standIn === undefined) return finding;
    const before = Number(COUNTED.exec(standIn.actual ?? '')?.[1] ?? MOST_CHANGES);
    return { ...finding, actual: `${finding.actual} (change ${before + 1})` };
  });
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
