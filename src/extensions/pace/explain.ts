import { withCommas } from '../../base/words.ts';
import type { ExplainedPace } from '../../orders/pass/pace.ts';
import { statusName, type PacedOrder } from '../../orders/rules/lookup.ts';
import type { LearnedPace } from './pace.ts';
import { statusKey } from './status.ts';
import { ageBy, LONGEST_MS } from './stay-times.ts';
import { counted, inUnits } from '../documents/words.ts';

const FEW_STAYS = 10;

export function explainLearned(learned: LearnedPace, order: PacedOrder, forMs: number): ExplainedPace {
  const key = statusKey(order);
  const stays = learned.statuses.find((one) => one.key === key)?.stays ?? 0;
  const halfMs = ageBy(0.5, learned.hazardsOf(key));
  const text = learnedText({ status: statusName(order), stays, halfMs, forMs });
  return { kind: 'learned', text, learned: { stays, halfMs } };
}

/** `stays` orders left the status. Half leave within `halfMs`, which is infinite if fewer leave within `LONGEST_MS`. */
type Known = Readonly<Record<'stays' | 'halfMs' | 'forMs', number>> & { readonly status: string };

export function learnedText({ status, stays, halfMs, forMs }: Known): string {
  if (stays < FEW_STAYS) {
    const left = stays === 0 ? 'no order has' : `only ${counted(stays, 'order has', 'orders have')}`;
    const kind = status === 'accepted' ? 'state' : 'status';
    return `The order has been in the ${kind} ${status} for ${inUnits(forMs)}. The longer it stays there, the less often it is looked up, because ${left} left that ${kind} so far. That is too few to tell when this order changes.`;
  }
  const orders = status === 'accepted' ? 'accepted orders' : `orders in ${status}`;
  const isKnown = Number.isFinite(halfMs);
  const [part, withinMs] = isKnown ? (['Half', halfMs] as const) : (['Fewer than half', LONGEST_MS] as const);
  const of = `${part} of the ${withCommas(stays)} ${orders} that changed did so within ${inUnits(withinMs)}`;
  return `${of}; this one has been there, unchanged, for ${inUnits(forMs)}.`;
}
