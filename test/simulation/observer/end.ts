import type { SandboxExchange } from '../../../src/sandbox/exchange.ts';
import type { Plan } from '../plan/plan.ts';
import { isForeign, quoted, type Known, type Knowledge } from './known.ts';
import type { Row } from './orders.ts';

/** Checks where every order stands once nothing has gone wrong for days. */
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
    const resends = known.creates.length > 1 && plan.onUnknown === 'resend' ? 1 : 0;
    const allowed = 1 + resends + known.careless;
    if (made.length > allowed)
      knowledge.fail('no order is created twice', `${quoted(known)} has ${made.length} pre-orders`);
    if (made.some(({ asset }) => asset !== known.asset && Number(asset) !== Number(known.asset)))
      knowledge.fail('amount exact', `${quoted(known)} ${known.asset} arrived as ${made[0]?.asset}`);
    const expected = expectedAtEnd(known, made.length > 0);
    if (!expected.includes(row.state)) {
      const what = `${quoted(known)} is ${row.state}, expected ${expected.join(' or ')}`;
      knowledge.fail('everything settles or is held', what);
    }
  }
}

function expectedAtEnd(known: Known, isMade: boolean): readonly string[] {
  const { order, asset, wasRefused, decided } = known;
  const ended = ['cancel', 'abandoned'].filter((judgement) => decided.includes(judgement));
  // An order that appears all the same is followed from when a recheck meets it, which may be late.
  if (ended.length > 0) return ['cancelled', 'abandoned', ...(isForeign(order) ? ['disputed'] : ['open', 'final'])];
  const isInvalid = !order.isValid && asset === order.asset;
  if (isInvalid) return ['invalid'];
  // A process that died between the intent and the request, or the answer and its record, leaves an unknown outcome.
  if (!isMade) return wasRefused ? ['rejected', 'held'] : ['held'];
  if (order.scenario.appearsAfterMs === null) return ['accepted', 'held'];
  if (isForeign(order)) return ['disputed'];
  // One order of those is never answered: whether it exists is not known.
  if (order.scenario.answers === 'error500') return ['accepted', 'unknown', 'held', 'final', 'open'];
  return order.scenario.steps.some(({ completed }) => completed) ? ['final'] : ['open'];
}
