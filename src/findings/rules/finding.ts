import type { AmountSettings } from '../../base/decimal.ts';
import type { ComparedRecord } from '../../orders/rules/contradictions.ts';
import { FINDING_CLASSES, type FindingClassName } from './classes.ts';
import type { Difference, RecordView } from '../../orders/rules/record.ts';
import type { FollowSettings } from '../../orders/rules/lookup.ts';
import type { OrderState } from '../../orders/rules/states.ts';

export interface Finding extends Difference {
  readonly class: FindingClassName;
}

export interface RecordContext extends ComparedRecord {
  /** The state of the order before the record; `state` is the state after the record. */
  readonly stateBefore: OrderState;
  readonly state: OrderState;
  /** False if no create was ever begun, and the order was not adopted. */
  readonly isExpected: boolean;
  readonly earlier: RecordView | null;
  readonly hashUsedBy: string | null;
  readonly orderUsedBy: string | null;
}

export interface ReconcileSettings extends AmountSettings, Pick<FollowSettings, 'finalStatuses' | 'openStatuses'> {
  /** The classes that have no findings, because the merchant ignores these classes (`reconcile.ignore`). */
  readonly ignore: readonly FindingClassName[];
}

/** Only a person acknowledges findings; the program opens and resolves them. */
export type FindingStatus = 'open' | 'acknowledged' | 'resolved';

export interface KnownFinding extends Finding {
  readonly id: number;
  readonly status: FindingStatus;
}

export interface FindingChanges {
  readonly opened: readonly Finding[];
  /** Resolved findings that are true again, and acknowledged findings that have new values or happen again. */
  readonly reopened: readonly KnownFinding[];
  /** Findings that are still open or acknowledged, perhaps with other values. */
  readonly seenAgain: readonly KnownFinding[];
  readonly resolved: readonly KnownFinding[];
}

/** The most findings of kind `change` of one class and order. The newest finding counts all further changes. */
const MOST_CHANGES = 50;
const COUNTED_FROM_THE_FIRST: readonly FindingClassName[] = ['REPLICAS_DISAGREE'];
const COUNTED = / \(change (\d+)\)$/;

/** Decides the changes of findings. Resolves known findings of kind `state` in judged classes if not found again. */
export function decideFindings(
  known: readonly KnownFinding[],
  findings: readonly Finding[],
  judged: readonly FindingClassName[],
): FindingChanges {
  const all = joined(findings);
  const placed = all.map((finding) => placedIn(known, finding));
  const again = placed.flatMap(({ before, finding }) =>
    before === undefined ? [] : [{ ...before, ...finding, comesBack: comesBack(before, finding) }],
  );
  const isOver = (one: KnownFinding) =>
    one.status !== 'resolved' && isState(one) && judged.includes(one.class) && !all.some((now) => isSame(one, now));
  return {
    opened: placed.filter(({ before }) => before === undefined).map(({ finding }) => finding),
    reopened: again.filter((one) => one.comesBack),
    seenAgain: again.filter((one) => !one.comesBack),
    resolved: known.filter(isOver),
  };
}

/** Leaves out stored changes, because a change that is found again in old evidence has not happened again. */
export function withoutKnownChanges(known: readonly KnownFinding[], findings: readonly Finding[]): readonly Finding[] {
  const isKnown = (finding: Finding) => known.some((one) => isSame(one, finding));
  return findings.filter((finding) => isState(finding) || !isKnown(finding));
}

/** True if a resolved finding is true again, or an acknowledged `error` or `warning` changes or happens again. */
function comesBack(known: KnownFinding, finding: Finding): boolean {
  if (known.status !== 'acknowledged') return known.status === 'resolved';
  if (FINDING_CLASSES[finding.class].severity === 'info') return false;
  return !isState(finding) || known.expected !== finding.expected || known.actual !== finding.actual;
}

/** `before` is the known finding that the finding continues. If a class is full, the newest finding counts changes. */
function placedIn(known: readonly KnownFinding[], finding: Finding): { before?: KnownFinding; finding: Finding } {
  const mostFindings = COUNTED_FROM_THE_FIRST.includes(finding.class) ? 1 : MOST_CHANGES;
  const same = mostFindings > 1 ? known.find((one) => isSame(one, finding)) : undefined;
  if (same !== undefined) return { before: same, finding };
  const ofClass = known.filter((one) => one.class === finding.class);
  const counter = ofClass.length < mostFindings ? undefined : ofClass.at(-1);
  if (counter === undefined) return { finding };
  const counted = Number(COUNTED.exec(counter.actual ?? '')?.[1] ?? mostFindings);
  return { before: counter, finding: { ...finding, actual: `${finding.actual} (change ${counted + 1})` } };
}

/** A `state` is the same finding whatever its values. A `change` with other values is another finding. */
function isSame(known: Finding, finding: Finding): boolean {
  if (known.class !== finding.class) return false;
  if (isState(finding)) return true;
  return known.expected === finding.expected && known.actual === finding.actual;
}

function joined(findings: readonly Finding[]): readonly Finding[] {
  const states = Map.groupBy(findings.filter(isState), (finding) => finding.class);
  const join = (before: Finding, finding: Finding): Finding => ({
    class: finding.class,
    expected: `${before.expected}; ${finding.expected}`,
    actual: `${before.actual}; ${finding.actual}`,
  });
  return [...[...states.values()].map((all) => all.reduce(join)), ...findings.filter((finding) => !isState(finding))];
}

function isState({ class: name }: Finding): boolean {
  return FINDING_CLASSES[name].kind === 'state';
}
