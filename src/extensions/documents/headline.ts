import type { Tone } from '../../cli/shared/terminal.ts';
import type { OrderState } from '../../orders/rules/states.ts';
import { toneOf } from './document.ts';

interface Words {
  readonly verb?: 'is' | 'was';
  readonly brief: string;
  /** What the brief words leave open, with the punctuation before it. */
  readonly more?: string;
}

const WORDS: Readonly<Record<string, Words>> = {
  pending: { brief: 'waiting to be sent' },
  sending: { brief: 'on its way to the exchange' },
  unknown: { brief: 'unconfirmed', more: ': it is not known whether the exchange has it, and order-sync looks it up' },
  held: { brief: 'held for a person to decide', more: ': it is not known whether the exchange has it' },
  accepted: { brief: 'at the exchange as a pre-order', more: ', which has not become an order yet' },
  open: { brief: 'open at the exchange' },
  disputed: { brief: 'disputed', more: ': the order at the exchange contradicts the row, and a person must decide' },
  final: { brief: 'final, but it is not known whether it paid' },
  rejected: { verb: 'was', brief: 'refused by the exchange' },
  invalid: { brief: 'invalid and not sent' },
  cancelled: { verb: 'was', brief: 'cancelled before it was sent' },
  abandoned: { verb: 'was', brief: 'abandoned' },
} satisfies Record<OrderState, Words>;
const ENDS: ReadonlyMap<string | null, string> = new Map([
  ['succeeded', 'paid'],
  ['failed', 'failed'],
]);

export interface HeadlineFacts {
  readonly state: string;
  readonly outcome: string | null;
}

/** What became of an order, in the few words of a list. Each surface says it in these words. */
export function headlineOf({ state, outcome }: HeadlineFacts): string {
  return (state === 'final' ? ENDS.get(outcome) : undefined) ?? wordsOf(state).brief;
}

/** The same in a sentence without its full stop. `since`, an ISO 8601 time, is that of the newest change of the state. */
export function headlineSentence(order: HeadlineFacts, since?: string): string {
  const { verb = 'is', brief, more = '' } = wordsOf(order.state);
  const words = headlineOf(order);
  if (words !== brief) return `The order ${words}`;
  if (since === undefined || verb === 'was' || order.state === 'final') return `The order ${verb} ${brief}${more}`;
  return `The order has been ${brief} since ${since.slice(0, 19).replace('T', ' ')} UTC${more}`;
}

/** A final order is no good news as long as it is not known whether it paid. */
export function headlineTone({ state, outcome }: HeadlineFacts): Tone {
  if (state !== 'final') return toneOf('state', state);
  return outcome === null ? 'info' : toneOf('outcome', outcome);
}

function wordsOf(state: string): Words {
  return (Object.hasOwn(WORDS, state) ? WORDS[state] : undefined) ?? { brief: state };
}
