import type { SandboxExchange } from '../../../src/extensions/sandbox/exchange.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedSettings } from '../plan/settings.ts';
import { isAgeKnown, isForeign } from './contradictions.ts';
import { quoted, type Known, type Knowledge } from './known.ts';
import type { Row } from './orders.ts';

/** Checks the state of every order once nothing has gone wrong for days. */
export function checkEnd(
  plan: Plan,
  knowledge: Knowledge,
  rows: ReadonlyMap<string, Row>,
  exchange: SandboxExchange,
): void {
  for (const known of knowledge.all) {
    const row = rows.get(known.order.id);
    if (row === undefined) return;
    const made = exchange.preOrdersOf(known.order.id);
    const resends = known.creates.length > 1 && plan.settings.onUnknown === 'resend' ? 1 : 0;
    const allowed = 1 + resends + known.careless + known.doubled;
    if (made.length > allowed)
      knowledge.fail('no order is created twice', `${quoted(known)} has ${made.length} pre-orders`);
    if (made.some(({ asset }) => asset !== known.asset && Number(asset) !== Number(known.asset)))
      knowledge.fail('amount exact', `${quoted(known)} ${known.asset} arrived as ${made[0]?.asset}`);
    const isMerchantUnclear = knowledge.isMerchantUnclear && made.length > 0;
    const expected = [...expectedAtEnd(known, made.length > 0, plan), ...(isMerchantUnclear ? ['disputed'] : [])];
    if (!expected.includes(row.state)) {
      const what = `${quoted(known)} is ${row.state}, expected ${expected.join(' or ')}`;
      knowledge.fail('everything settles or is held', what);
    }
  }
}

function expectedAtEnd(known: Known, isMade: boolean, plan: Plan): readonly string[] {
  const { settings } = plan;
  const { order, asset, wasRefused, decided } = known;
  const isOurs = decided.includes('ours');
  const isDisputed = isForeign(order, settings) && !isOurs;
  const isUnclear = !isAgeKnown(known, plan);
  // The newest record of an order that seems to have ended may be another's: it is looked at a few times more, and not for ever.
  const mayStayDisputed = isDisputed || isUnclear || known.wasContradicted;
  const found = [
    ...(mayStayDisputed ? ['disputed'] : []),
    ...(!isDisputed || isUnclear ? foundStates(known, settings) : []),
  ];
  // One order of those is never answered: whether it exists, and how it went on, is not known.
  const isUnanswered = order.scenario.answers === 'error500' || order.answeredBy !== null;
  const ended = ['cancel', 'abandoned'].filter((judgement) => decided.includes(judgement));
  // An order that appears all the same is followed from when a recheck meets it, which may be late.
  if (ended.length > 0)
    return ['cancelled', 'abandoned', 'disputed', ...found, ...(isUnanswered ? ['open', 'final'] : [])];
  const isInvalid = !order.isValid && asset === order.asset;
  if (isInvalid && known.isTakenForSent) return ['held', 'unknown', 'invalid'];
  if (isInvalid) return ['invalid'];
  // A process that died between the intent and the request, or the answer and its record, leaves an unknown outcome.
  if (!isMade) return ['held', ...(wasRefused ? ['rejected'] : []), ...(isUnanswered ? ['unknown'] : [])];
  const givenUp = settings.giveUpAfter === undefined ? [] : ['abandoned'];
  if (order.scenario.appearsAfterMs === null)
    return ['accepted', 'held', ...(isUnanswered ? ['unknown'] : []), ...givenUp];
  if (isUnanswered) return ['accepted', 'unknown', 'held', 'final', 'open', 'disputed', ...givenUp];
  return [...found, ...givenUp];
}

/** The states that the life of an order and the settings lead to. */
function foundStates({ order, statusesGiven }: Known, { finalStatuses, openStatuses }: PlannedSettings): string[] {
  let [status, isCompleted] = ['REQUEST', false];
  const states = order.scenario.steps.map((step) => {
    status = step.order ?? status;
    isCompleted = step.completed ?? isCompleted;
    return finalStatuses.includes(status) || (isCompleted && !openStatuses.includes(status)) ? 'final' : 'open';
  });
  const own = ['REQUEST', ...order.scenario.steps.map((step) => step.order)];
  // An order that an odd answer calls final is looked at a few times more, and not for ever.
  const isMisled = finalStatuses.some((one) => statusesGiven.has(one) && !own.includes(one));
  const last = states.at(-1) ?? 'open';
  // Another's record, which a person has said to be ours, may be of an order that ended long ago.
  const isOfAnother = order.scenario.answers === 'foreign';
  return states.includes('final') || isMisled || isOfAnother ? [last, 'final'] : [last];
}
