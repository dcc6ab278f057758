import { COLUMN_OF, columnsOf, trackingOf } from '../../store/order-columns.ts';
import { insertOrder } from '../../store/inserted-orders.ts';
import { readOrder } from '../../store/orders.ts';
import { readFollowed } from '../../store/orders-with-records.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { checkFields } from './add.ts';
import { recordAnswer } from './follow.ts';
import { tellLookup } from '../pass/outcomes.ts';

type Adoption =
  /** `present`: it stood in the table. */
  | { readonly kind: 'adopted' | 'present'; readonly externalOrderId: string; readonly state: string }
  | { readonly kind: 'absent'; readonly externalOrderId: string }
  | { readonly kind: 'unanswered'; readonly why: string }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/**
 * Takes over an order that exists at the exchange: it is looked up, and inserted with what the exchange says of it in one
 * transaction, so that it is never pending and never created. One that the exchange does not find is not inserted, one
 * that stands in the table is left as it is.
 */
export async function adoptOrder(
  deps: FlowDeps,
  fields: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Adoption> {
  const { account, store, exchange, clock } = deps;
  const checked = checkFields(fields);
  if (!checked.ok) {
    return { kind: 'invalid', problems: checked.problems.map(({ field, reason }) => `${COLUMN_OF[field]} ${reason}`) };
  }
  const { externalOrderId } = checked.order;
  const there = await readOrder(store.db, account, externalOrderId);
  if (there !== undefined) return { kind: 'present', externalOrderId, state: there.state };
  const lookup = await exchange.lookUpOrder(externalOrderId, signal);
  if (lookup === undefined) return { kind: 'unanswered', why: 'look-ups are held back for now' };
  const { answer } = lookup;
  if (answer.kind === 'unanswered') return { kind: 'unanswered', why: answer.why };
  if (answer.kind === 'absent') return { kind: 'absent', externalOrderId };
  const random = clock.random();
  const made = await store.writer.write(async (tx) => {
    const meanwhile = await insertOrder(tx, account, columnsOf(checked.order));
    if (meanwhile !== undefined) return { kind: 'present', state: meanwhile.state } as const;
    const row = await readFollowed(tx, account, externalOrderId);
    if (row === undefined) throw new Error('an order that was just inserted is not there');
    const now = clock.now();
    const before = { ...trackingOf(row), adoptedAt: now };
    return { kind: 'adopted', recorded: await recordAnswer(tx, deps, { row, before, answer, now }, random) } as const;
  });
  if (made.kind === 'present') return { ...made, externalOrderId };
  tellLookup(deps, lookup, made.recorded);
  return { kind: 'adopted', externalOrderId, state: made.recorded.decision.tracking.state };
}
