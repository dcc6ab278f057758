import { isLosslessNumber } from 'lossless-json';
import { sameDecimal } from '../../base/decimal.ts';
import { checkOrder, describeProblems, type CheckedOrder } from '../../orders/rules/check.ts';
import type { MerchantOrder } from '../../orders/rules/record.ts';
import {
  columnsOf,
  ORDER_COLUMNS,
  uncheckedOrderOf,
  type OrderColumn,
  type OrderColumns,
  trackingOf,
} from '../../store/orders/order-columns.ts';
import { insertOrder } from './tables/inserted-orders.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { readOrder, saveDecision } from '../../store/orders/orders.ts';
import { readFollowed } from '../../store/orders/orders-with-records.ts';
import { recordAnswer } from '../../orders/follow.ts';
import { tellLookup } from '../../orders/pass/outcomes.ts';

type Addition =
  | { readonly kind: 'inserted' | 'present'; readonly externalOrderId: string; readonly state: string }
  /** Another order has its id; the columns that differ. */
  | { readonly kind: 'differs'; readonly externalOrderId: string; readonly columns: readonly string[] }
  | { readonly kind: 'invalid'; readonly why: string };

/** Inserts one order by its columns. An order with the same content stays as it is; `1.50` and `1.5` are the same. */
export async function addOrder(
  { store, account }: Pick<FlowDeps, 'store' | 'account'>,
  fields: Readonly<Record<string, unknown>>,
): Promise<Addition> {
  const checked = checkFields(fields);
  if (!checked.ok) return { kind: 'invalid', why: describeProblems(checked.problems) };
  const { externalOrderId } = checked.order;
  const columns = columnsOf(checked.order);
  const there = await store.writer.write((tx) => insertOrder(tx, account, columns));
  if (there === undefined) return { kind: 'inserted', externalOrderId, state: 'pending' };
  const different = differences(columns, there);
  if (different.length > 0) return { kind: 'differs', externalOrderId, columns: different };
  return { kind: 'present', externalOrderId, state: there.state };
}

/** Checks an order by its columns. Numbers may be `LosslessNumber`; what is left out has the default of the table. */
export function checkFields(fields: Readonly<Record<string, unknown>>): CheckedOrder {
  const given = ORDER_COLUMNS.map((column) => [column, fields[column] ?? null] as const);
  const texts = given.map(([column, value]) => [column, isLosslessNumber(value) ? value.value : value]);
  const order = uncheckedOrderOf(Object.fromEntries(texts));
  const checked = checkOrder({
    ...order,
    assetPosition: order.assetPosition ?? 'INPUT',
    orderType: order.orderType ?? 'DEPOSIT',
  });
  if (!checked.ok) return checked;
  const fieldsOf = Object.entries(checked.order) as readonly [keyof MerchantOrder, string | null][];
  const problems = fieldsOf
    .filter(([, value]) => value?.includes('\0') === true)
    .map(([field]) => ({ field, reason: 'holds a NUL character, which PostgreSQL does not take' }));
  return problems.length === 0 ? checked : { ok: false, problems };
}

const AMOUNTS: readonly OrderColumn[] = ['asset', 'order_limit', 'bonus'];

/** Lists the columns in which two orders differ; amounts that are the same number do not. */
export function differences(one: OrderColumns, other: OrderColumns): readonly OrderColumn[] {
  return ORDER_COLUMNS.filter(
    (column) => one[column] !== other[column] && !(AMOUNTS.includes(column) && sameDecimal(one[column], other[column])),
  );
}

type Adoption =
  /** `present`: it stood in the table. */
  | { readonly kind: 'adopted' | 'present'; readonly externalOrderId: string; readonly state: string }
  | { readonly kind: 'absent'; readonly externalOrderId: string }
  | { readonly kind: 'unanswered'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/**
 * Takes over an order that exists at the exchange, in one transaction with its record, so that it is never pending. An
 * order that the exchange does not find is not inserted; one that stands in the table stays.
 */
export async function adoptOrder(
  deps: FlowDeps,
  fields: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Adoption> {
  const { account, store, exchange, clock } = deps;
  const checked = checkFields(fields);
  if (!checked.ok) return { kind: 'invalid', why: describeProblems(checked.problems) };
  const { externalOrderId } = checked.order;
  const there = await readOrder(store.db, account, externalOrderId);
  if (there !== undefined) return { kind: 'present', externalOrderId, state: there.state };
  const lookup = await exchange.lookUpOrder(externalOrderId, signal);
  if (lookup === undefined) return { kind: 'unanswered', why: 'look-ups are paused for now' };
  const { answer } = lookup;
  if (answer.kind === 'unanswered') return { kind: 'unanswered', why: answer.why };
  if (answer.kind === 'absent') return { kind: 'absent', externalOrderId };
  const random = clock.random();
  const made = await store.writer.write(async (tx) => {
    const meanwhile = await insertOrder(tx, account, columnsOf(checked.order));
    if (meanwhile !== undefined) return { kind: 'present', state: meanwhile.state } as const;
    const row = await readFollowed(tx, account, externalOrderId);
    if (row === undefined) throw new Error('the order that was just inserted is missing');
    const now = clock.now();
    const inserted = trackingOf(row);
    const adopting = { tracking: { ...inserted, adoptedAt: now }, events: [] };
    const before = await saveDecision(tx, inserted, adopting, now);
    return { kind: 'adopted', recorded: await recordAnswer(tx, deps, { row, before, answer, now }, random) } as const;
  });
  if (made.kind === 'present') return { ...made, externalOrderId };
  tellLookup(deps, lookup, made.recorded);
  return { kind: 'adopted', externalOrderId, state: made.recorded.decision.tracking.state };
}
