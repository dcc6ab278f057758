import { hash } from 'node:crypto';
import { findUnknownOutcome } from './rules/age.ts';
import type { FindingClassName } from './rules/classes.ts';
import { decideFindings, withoutKnownChanges, type Finding } from './rules/finding.ts';
import type { Tracking } from '../orders/rules/tracking.ts';
import { findingsOf, saveFindings } from '../store/tables/findings.ts';
import type { Transaction } from '../store/port.ts';
import { storable } from '../base/text.ts';

export type NewFindings = readonly Finding[];

export interface JudgedFindings {
  readonly found: readonly Finding[];
  /** Findings in evidence that was judged before. A known change in such evidence has not happened again. */
  readonly foundAgain?: readonly Finding[];
  readonly classes: readonly FindingClassName[];
  readonly now: Date;
}

type OrderKey = Pick<Tracking, 'account' | 'externalOrderId'>;

const LONGEST_VALUE = 300;

/** Writes findings. Resolves all other findings of kind `state` in `classes`. Returns opened and reopened findings. */
export async function recordFindings(tx: Transaction, order: OrderKey, judged: JudgedFindings): Promise<NewFindings> {
  const { account, externalOrderId } = order;
  const { found, foundAgain = [], classes, now } = judged;
  const known = await findingsOf(tx, account, externalOrderId);
  const news = [...found.map(shortened), ...withoutKnownChanges(known, foundAgain.map(shortened))];
  const changes = decideFindings(known, news, classes);
  await saveFindings(tx, { account, externalOrderId }, changes, now);
  return [...changes.opened, ...changes.reopened];
}

export async function recordUnknownOutcome(tx: Transaction, tracking: Tracking, now: Date): Promise<NewFindings> {
  const found = findUnknownOutcome(tracking);
  return await recordFindings(tx, tracking, { found, classes: ['CREATE_UNKNOWN'], now });
}

/** Shortens values, because the exchange decides their length. A hash distinguishes values with the same beginning. */
function shortened(finding: Finding): Finding {
  return { ...finding, expected: shortenedText(finding.expected), actual: shortenedText(finding.actual) };
}

function shortenedText(text: string | null): string | null {
  if (text === null || text.length <= LONGEST_VALUE) return text === null ? null : storable(text);
  return `${storable(text.slice(0, LONGEST_VALUE))}… (SHA-256 ${hash('sha256', text).slice(0, 16)})`;
}
