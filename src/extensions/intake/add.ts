import { isLosslessNumber } from 'lossless-json';
import { sameDecimal } from '../../base/decimal.ts';
import { HIDDEN, quote } from '../../base/text.ts';
import { checkOrder, describeProblems, type CheckedOrder } from '../../orders/rules/check.ts';
import type { MerchantOrder } from '../../orders/rules/record.ts';
import { columnsOf, ORDER_COLUMNS, uncheckedOrderOf, trackingOf } from '../../store/orders/order-columns.ts';
import type { OrderColumn, OrderColumns } from '../../store/orders/order-columns.ts';
import { insertOrder } from './tables/inserted-orders.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { readOrder, saveDecision } from '../../store/orders/orders.ts';
import { readFollowed } from '../../store/orders/orders-with-records.ts';
import { recordAnswer } from '../../orders/follow.ts';
import { tellLookup } from '../../orders/pass/outcomes.ts';
import { done, invalid, type Result } from '../api/envelope.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Inserts one order by its columns. An order with the same content stays as it is; `1.50` and `1.5` are the same. */
export async function addOrder({ store, account }: Pick<FlowDeps, 'store' | 'account'>, fields: Fields) {
  const checked = checkFields(fields);
  if (!checked.ok) return { kind: 'invalid', why: describeProblems(checked.problems) } as const;
  const { externalOrderId } = checked.order;
  const columns = columnsOf(checked.order);
  const there = await store.writer.write((tx) => insertOrder(tx, account, columns));
  if (there === undefined) return { kind: 'inserted', externalOrderId, state: 'pending' } as const;
  const different = differences(columns, there).join(', ');
  if (different === '') return { kind: 'present', externalOrderId, state: there.state } as const;
  return { kind: 'differs', why: `${quote(externalOrderId)} is in the table with another ${different}` } as const;
}

const HIDDEN_TOKEN = `is ${HIDDEN}, which stands for a token that was not shown; orders export --reveal writes the token`;

/** Checks an order by its columns. Numbers may be `LosslessNumber`; a missing column has the default of the table. */
export function checkFields(fields: Fields): CheckedOrder {
  const given = ORDER_COLUMNS.map((column) => [column, fields[column] ?? null] as const);
  const texts = given.map(([column, value]) => [column, isLosslessNumber(value) ? value.value : value]);
  const { assetPosition, orderType, ...order } = uncheckedOrderOf(Object.fromEntries(texts));
  const usual = { assetPosition: assetPosition ?? 'INPUT', orderType: orderType ?? 'DEPOSIT' };
  const checked = checkOrder({ ...order, ...usual });
  if (!checked.ok) return checked;
  const fieldsOf = Object.entries(checked.order) as readonly [keyof MerchantOrder, string | null][];
  const problems = fieldsOf
    .filter(([, value]) => value?.includes('\0') === true)
    .map(([field]) => ({ field, reason: 'contains a NUL character, which PostgreSQL does not take' }));
  if (checked.order.paymentToken === HIDDEN) problems.push({ field: 'paymentToken', reason: HIDDEN_TOKEN });
  return problems.length === 0 ? checked : { ok: false, problems };
}

const AMOUNTS: readonly OrderColumn[] = ['asset', 'order_limit', 'bonus'];

/** Lists the columns in which two orders differ. Amounts of equal value do not differ. */
export function differences(one: OrderColumns, other: OrderColumns): readonly OrderColumn[] {
  const isSame = (column: OrderColumn) =>
    one[column] === other[column] || (AMOUNTS.includes(column) && sameDecimal(one[column], other[column]));
  return ORDER_COLUMNS.filter((column) => !isSame(column));
}

/**
 * Inserts an order that exists at the exchange, in one transaction with its record, so that no pass finds it pending
 * and creates it. Does not insert an order that the exchange does not find, nor change an order that is in the table.
 */
export async function adoptOrder(deps: FlowDeps, fields: Fields, signal?: AbortSignal): Promise<Result> {
  const { account, store, exchange, clock } = deps;
  const checked = checkFields(fields);
  if (!checked.ok) return invalid(describeProblems(checked.problems));
  const { externalOrderId } = checked.order;
  const answered = (result: 'adopted' | 'present' | 'absent', state: string | null) =>
    done({ external_order_id: externalOrderId, result, state });
  const there = await readOrder(store.db, account, externalOrderId);
  if (there !== undefined) return answered('present', there.state);
  const lookup = await exchange.lookUpOrder(externalOrderId, signal);
  if (lookup === undefined) return { kind: 'unknown', why: 'look-ups are paused for now' };
  const { answer } = lookup;
  if (answer.kind === 'unanswered') return { kind: 'unknown', why: answer.why };
  if (answer.kind === 'absent') return answered('absent', null);
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
  if (made.kind === 'present') return answered('present', made.state);
  tellLookup(deps, lookup, made.recorded);
  return answered('adopted', made.recorded.decision.tracking.state);
}
