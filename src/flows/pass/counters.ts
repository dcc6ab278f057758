import { FINDING_CLASSES } from '../../domain/findings/classes.ts';
import type { Finding } from '../../domain/findings/finding.ts';

/** What the program did since it was made; a pass is the difference of two readings. */
export interface Counts {
  sent: number;
  accepted: number;
  rejected: number;
  invalid: number;
  unknown: number;
  held: number;
  lookedUp: number;
  changed: number;
  final: number;
  failed: number;
  findings: number;
}

/** Counts of one process, and whether the key works. */
export class Tally {
  readonly counts: Counts = {
    sent: 0,
    accepted: 0,
    rejected: 0,
    invalid: 0,
    unknown: 0,
    held: 0,
    lookedUp: 0,
    changed: 0,
    final: 0,
    failed: 0,
    findings: 0,
  };

  /** Whether an answer showed that the key works, or that it does not; undefined before the first answer. */
  key: 'works' | 'refused' | undefined;

  /** Whether any answer ever showed that the key works. */
  keyEverWorked = false;

  /** Findings that only explain something need nobody. */
  noteFindings(findings: readonly Finding[]): void {
    this.counts.findings += findings.filter((one) => FINDING_CLASSES[one.class].severity !== 'info').length;
  }

  noteKey(key: 'works' | 'refused'): void {
    this.key = key;
    if (key === 'works') this.keyEverWorked = true;
  }
}
