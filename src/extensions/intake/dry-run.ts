import type { Config } from '../../settings/config.ts';
import { paceSettings } from '../pace/settings.ts';
import { CreateWindow } from '../guard/create-window.ts';
import { stops, viewOf } from '../../accounts/rules/restraints.ts';
import { DecimalSum } from '../../base/decimal.ts';
import { after } from '../../base/instant.ts';
import { sumOf } from '../../base/words.ts';
import { ACCOUNT_UNCLEAR, checkOrder, describeProblems, NULL_ACCOUNT } from '../../orders/rules/check.ts';
import type { MerchantOrder } from '../../orders/rules/record.ts';
import { preOrderBody } from '../../exchange/orders.ts';
import { readHolds } from '../../store/tables/account-holds.ts';
import { countWaiting, dueKeyOf, findOrders, FIRST_DUE, readNewInvalid } from '../../store/find-orders.ts';
import { ROW_COLUMNS, uncheckedOrderOf, type OrderRow } from '../../store/orders/order-columns.ts';
import type { Store } from '../../store/port.ts';
import { countSent, guardCountsFrom, settingsOf } from '../guard/create-guard.ts';
import { withoutTokens } from '../documents/hidden-tokens.ts';

const PAGE = 500;
/** The most currency pairs with a sum of their own. */
const MOST_PAIRS = 200;
/** With `exchange.rate.mode: paced`, a daemon uses only this part of the limit: `USED` in `rate-window.ts`. */
const PACED = 0.95;

/** The creates that a daemon would send for an account, now or later. A dry run sends and writes nothing. */
export type DryRun = Awaited<ReturnType<typeof dryRun>>;

interface DryRunRequest {
  readonly account: string;
  readonly store: Store;
  readonly now: Date;
  readonly config: Pick<Config, 'exchange' | 'accounts'>;
  /** The number of bodies, and of invalid orders, that are shown. */
  readonly rows: number;
}

export async function dryRun(request: DryRunRequest) {
  const { account, store, now, config } = request;
  const { db } = store;
  const { exchange } = config;
  const { requests, interval, mode } = exchange.rate;
  const msAnOrder = interval / requests / (mode === 'paced' ? PACED : 1);
  const window = new CreateWindow(settingsOf(config));
  await countSent(db, { account, now, countsFrom: await guardCountsFrom(db, account) }, window);
  const backlog = await addUp(request, window, msAnOrder);
  const takesMs = backlog.wouldSend.orders * msAnOrder;
  const { follow } = paceSettings.of(config);
  const createShare = follow.pace === 'learned' ? 1 - follow.share : 1;
  const holds = await readHolds(db, account);
  return {
    account,
    ...backlog,
    /** The number of invalid orders that were inserted in the last 24 hours and are not corrected, at most 10,000. */
    newInvalid: (await readNewInvalid(db, [account], now))?.orders ?? 0,
    takesMs: Math.ceil(takesMs),
    takesBesideLookupsMs: Math.ceil(takesMs / Math.max(createShare, 0.01)),
    /** The number of look-ups that are due, at most 10,000. */
    lookupsDue: (await countWaiting(db, { account, now })).lookupsDue,
    holds: holds.filter((hold) => stops(hold, 'create') || stops(hold, 'lookup')).map(viewOf),
    olderState: (await store.mark.sign()) ?? null,
  };
}

/** Adds up the waiting orders as if they were sent one by one at the rate limit. The memory has a fixed size. */
async function addUp({ account, store, now, config, rows }: DryRunRequest, window: CreateWindow, msAnOrder: number) {
  const pairs = new Map<string, ReturnType<typeof newSum>>();
  const first: { externalOrderId: string; body: string }[] = [];
  const invalid = { orders: 0, first: [] as { externalOrderId: string; reason: string }[] };
  let [orders, later] = [0, 0];
  /** The limit of `guard.*` that would stop creates, and after how many orders; null if no limit stops them. */
  let guard: { afterOrders: number; reason: string } | null = null;
  for await (const row of waiting(store, account)) {
    const { external_order_id: externalOrderId, next_action_at: due } = row;
    const isAccountUnclear = row.state_reason === NULL_ACCOUNT && config.accounts.length > 1;
    const checked = checkOrder(uncheckedOrderOf(row));
    if (isAccountUnclear || !checked.ok) {
      const reason = isAccountUnclear || checked.ok ? ACCOUNT_UNCLEAR : describeProblems(checked.problems);
      invalid.orders += 1;
      if (invalid.first.length < rows) invalid.first.push({ externalOrderId, reason });
      continue;
    }
    const { order } = checked;
    const at = after(now, orders * msAnOrder);
    if (guard === null) {
      const decision = window.decide(order, at);
      if (decision.kind === 'guarded') guard = { afterOrders: orders, reason: decision.reason };
      else window.settle(window.add(order, at), true);
    }
    orders += 1;
    if ((due ?? '') > now.toISOString()) later += 1;
    if (first.length < rows) first.push({ externalOrderId, body: withoutTokens(preOrderBody(order)) });
    addToPair(pairs, order);
  }
  const sums = [...pairs.values()].map((sum) => ({ ...sum, asset: sum.asset.toString() }));
  const unsummed = orders - sumOf(sums, (sum) => sum.orders);
  return { wouldSend: { orders, later, sums, unsummed, first }, invalid, guard };
}

/** Yields corrected invalid rows, which a daemon checks again, and then pending rows. Both are in order of due time. */
async function* waiting({ db }: Store, account: string): AsyncGenerator<OrderRow> {
  for (const state of ['invalid', 'pending'] as const) {
    for (let from = FIRST_DUE; ;) {
      const page = await findOrders(db, { account, state, after: from, by: 'due', limit: PAGE }, ROW_COLUMNS);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      const next = dueKeyOf(last);
      // If an id is not text, SQLite compares it in another form than it returns, so the same page would come again.
      const isStuck = next.externalOrderId === from.externalOrderId;
      from = isStuck ? { nextActionAt: `${next.nextActionAt}~`, externalOrderId: '' } : next;
    }
  }
}

function newSum({ fromCurrency: from, toCurrency: to, assetPosition }: MerchantOrder) {
  return { from, to, assetPosition, orders: 0, asset: new DecimalSum() };
}

function addToPair(sums: Map<string, ReturnType<typeof newSum>>, order: MerchantOrder): void {
  const key = JSON.stringify([order.fromCurrency, order.toCurrency, order.assetPosition]);
  const sum = sums.get(key) ?? newSum(order);
  sum.orders += 1;
  sum.asset.add(order.asset);
  if (sums.size < MOST_PAIRS) sums.set(key, sum);
}
