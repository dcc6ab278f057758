import type { Tone } from '../../cli/shared/terminal.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import { toneOf } from './document.ts';

/** `brief` is the state in a few words. `more` ends the sentence, and begins with punctuation. */
const WORDS: Readonly<Record<OrderState, readonly [brief: string, more?: string]>> = {
  pending: ['waiting to be sent'],
  sending: ['on its way to the exchange'],
  unknown: ['an unknown outcome', ': order-sync looks it up'],
  held: ['held for a person to decide', ': it is not known whether the exchange has it'],
  accepted: ['at the exchange as a pre-order', ': the exchange has shown no order for it yet'],
  open: ['open at the exchange'],
  disputed: ['disputed', ': the order at the exchange contradicts the row, and a person must decide'],
  final: ['is final, but it is not known whether it paid'],
  rejected: ['was refused by the exchange'],
  invalid: ['is invalid and was not sent'],
  cancelled: ['was cancelled before it was sent'],
  abandoned: ['was abandoned'],
};
/** States whose words contain the verb. The sentence of such a state has no duration. */
const WITH_VERB: readonly string[] = ['final', 'rejected', 'invalid', 'cancelled', 'abandoned'] satisfies OrderState[];
const OUTCOME_WORDS = { succeeded: ['paid', 'was paid'], failed: ['failed', 'failed'] } as const;

export type HeadlineFacts = Readonly<{ state: string; outcome: string | null }>;

export function shownId(externalOrderId: string): string {
  return externalOrderId === '' ? '(empty id)' : externalOrderId;
}

/** Returns the outcome of a final order if the outcome is known, else the state, in a few words. */
export function headlineOf(facts: HeadlineFacts): string {
  return outcomeWordsOf(facts)?.[0] ?? wordsOf(facts.state)[0];
}

export function headlineSentence(facts: HeadlineFacts, since?: string): string {
  const [brief, more = ''] = wordsOf(facts.state);
  if (WITH_VERB.includes(facts.state)) return `The order ${outcomeWordsOf(facts)?.[1] ?? brief}`;
  const [verb, verbWithSince] = facts.state === 'unknown' ? ['has', 'has had'] : ['is', 'has been'];
  if (since === undefined) return `The order ${verb} ${brief}${more}`;
  return `The order ${verbWithSince} ${brief} since ${since}${more}`;
}

/** A final order is `info`, not `good`, as long as its outcome is not known. */
export function headlineTone({ state, outcome }: HeadlineFacts): Tone {
  if (state !== 'final') return toneOf('state', state);
  return outcome === null ? 'info' : toneOf('outcome', outcome);
}

function outcomeWordsOf({ state, outcome }: HeadlineFacts) {
  return state === 'final' && (outcome === 'succeeded' || outcome === 'failed') ? OUTCOME_WORDS[outcome] : undefined;
}

function wordsOf(state: string): readonly [brief: string, more?: string] {
  return Object.hasOwn(WORDS, state) ? WORDS[state as OrderState] : [state];
}
