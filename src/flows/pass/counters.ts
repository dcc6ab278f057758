import { FINDING_CLASSES } from '../../domain/findings/classes.ts';
import type { Finding } from '../../domain/findings/finding.ts';

const NOTHING = {
  sent: 0,
  accepted: 0,
  rejected: 0,
  invalid: 0,
  unknown: 0,
  held: 0,
  disputed: 0,
  lookedUp: 0,
  changed: 0,
  final: 0,
  failed: 0,
  findings: 0,
};

export type Counters = typeof NOTHING;

export function newCounters(): Counters {
  return { ...NOTHING };
}

/** Findings that only explain something are not counted. */
export function countFindings(counters: Counters, findings: readonly Finding[]): void {
  counters.findings += findings.filter((one) => FINDING_CLASSES[one.class].severity !== 'info').length;
}
