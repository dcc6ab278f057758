import { instantMs } from '../../base/instant.ts';
import { counted, inUnits, withCommas } from '../../base/words.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { trackingOf } from '../../store/orders/order-columns.ts';
import { readOrder } from '../../store/orders/orders.ts';
import type { LearningPace } from './follow-pace.ts';
import { readHistory } from './learn-pace.ts';
import { PaceLearner } from './pace.ts';
import { isPaced } from '../../orders/rules/states.ts';
import { statusKey, statusName } from './status.ts';
import { ageBy, LONGEST_MS } from './stay-times.ts';

type ExplainDeps = Pick<FlowDeps, 'account' | 'store' | 'clock'> & { readonly pace: LearningPace };

/** With fewer stays than these nothing is said of how long they took. */
const FEW_STAYS = 10;

/** What decides when an order is looked up, for programs and for people; undefined if it is looked up at no pace. */
export async function explainPace(
  { pace, ...deps }: ExplainDeps,
  externalOrderId: string,
  { asOf, signal }: { readonly asOf: Date; readonly signal: AbortSignal },
) {
  const row = await readOrder(deps.store.db, deps.account, externalOrderId);
  const order = row && trackingOf(row);
  const since = instantMs(row?.changed_at ?? null);
  if (order === undefined || since === undefined || !isPaced(order.state)) return undefined;
  const status = statusName(order);
  const facts = { kind: pace.isEveryTick ? 'every-tick' : 'learned', status, since: row?.changed_at };
  if (pace.isEveryTick) {
    return { facts, text: 'It is looked up at each tick of schedule.cron (follow.pace).' };
  }
  const { stays: ended, from } = await readHistory(deps, signal);
  const learned = new PaceLearner(ended, from).pace(pace.limits);
  const key = statusKey(order);
  const stays = learned.statuses.find((one) => one.key === key)?.stays ?? 0;
  const halfMs = ageBy(0.5, learned.hazardsOf(key));
  const forMs = Math.max(0, asOf.getTime() - since);
  return { facts: { ...facts, stays, halfMs }, text: learnedText({ status, stays, halfMs, forMs }) };
}

/** `stays` have ended in the status, half of them within `halfMs`, which is infinite if that is not known. */
export function learnedText({
  status,
  stays,
  halfMs,
  forMs,
}: Record<'stays' | 'halfMs' | 'forMs', number> & { readonly status: string }): string {
  if (stays < FEW_STAYS) {
    const known = stays === 0 ? 'no order has been seen to leave it' : `only ${counted(stays, 'order')} left it`;
    return `Not much is known of ${status} yet, as ${known}. Until then look-ups are spaced by how long an order has been there: this one for ${inUnits(forMs)} so far.`;
  }
  const orders = status === 'accepted' ? 'accepted orders' : `orders in ${status}`;
  const isKnown = Number.isFinite(halfMs);
  const [part, withinMs] = isKnown ? (['Half', halfMs] as const) : (['Fewer than half', LONGEST_MS] as const);
  const of = `${part} of the ${withCommas(stays)} ${orders} that changed did so within ${inUnits(withinMs)}`;
  return `${of}; this one has been there, unchanged, for ${inUnits(forMs)}.`;
}
