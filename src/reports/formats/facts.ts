import type { Fact, ReportDocument } from './document.ts';

/** What the report is about stands at its top, the other facts at its end. */
const SCOPE_FACTS: readonly string[] = ['period', 'from', 'to', 'as_of', 'asOf', 'account'];
/** The verdict says them. */
const VERDICT_FACTS: readonly string[] = ['verdict', 'because'];

/** The facts for the top of a report for people, in their order there. */
export function scopeFacts({ facts }: ReportDocument): readonly Fact[] {
  return SCOPE_FACTS.flatMap((scopeKey) => facts.filter(({ key, value }) => key === scopeKey && value !== null));
}

/** The facts for the end of a report for people. */
export function otherFacts({ facts, verdict }: ReportDocument): readonly Fact[] {
  return facts.filter(
    ({ key, value }) =>
      value !== null && !SCOPE_FACTS.includes(key) && (verdict === undefined || !VERDICT_FACTS.includes(key)),
  );
}
