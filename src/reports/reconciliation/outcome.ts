/** The outcomes of orders that exist at the exchange: reports have one sum for each, under these names. */
export const OUTCOMES = ['succeeded', 'failed', 'open', 'outcome_unknown'] as const;
/** What became of an order: `outcome_unknown` where it is final and nothing says whether it paid. */
export type Outcome = (typeof OUTCOMES)[number];

/** The outcome of an order, `disputed`, or null where the exchange shows no order for it. */
export function outcomeOf({ state, outcome }: { readonly state: string | null; readonly outcome: string | null }) {
  if (state === 'final') return outcome === 'succeeded' || outcome === 'failed' ? outcome : 'outcome_unknown';
  return state === 'open' || state === 'disputed' ? state : null;
}

/** The sum of amounts that all have one outcome, under its name, and zero under the others. */
export function sumsByOutcome(outcome: string | null, sum: string): Readonly<Record<Outcome, string>> {
  return Object.fromEntries(OUTCOMES.map((one) => [one, one === outcome ? sum : '0'])) as Record<Outcome, string>;
}
