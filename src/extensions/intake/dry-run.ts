import type { Config } from '../../settings/config.ts';
import { paceSettings } from '../pace/settings.ts';
import { CreateWindow } from '../../accounts/rules/guard.ts';
import { stops, viewOf, type RestraintView } from '../../accounts/rules/restraints.ts';
import { DecimalSum } from '../../base/decimal.ts';
import { after } from '../../base/instant.ts';
import { checkOrder, describeProblems, NULL_ACCOUNT, WHOSE } from '../../orders/rules/check.ts';
import type { MerchantOrder } from '../../orders/rules/record.ts';
import { withoutTokens } from '../../exchange/reply.ts';
import { preOrderBody } from '../../exchange/orders.ts';
import { guardCountsFrom, readHolds } from '../../store/tables/account-holds.ts';
import { countWaiting, dueKeyOf, findOrders, FIRST_DUE } from '../../store/find-orders.ts';
import { ROW_COLUMNS, uncheckedOrderOf, type OrderRow } from '../../store/orders/order-columns.ts';
import type { Store } from '../../store/port.ts';
import { countSent } from '../../orders/pass/guard.ts';

const PAGE = 500;
/** Pairs that are summed by themselves; a shop has a few. */
const MOST_PAIRS = 200;
/** `exchange.rate.mode: paced` keeps this part of the limit. */
const PACED = 0.95;

interface PairSum {
  readonly from: string;
  readonly to: string;
  readonly assetPosition: string;
  readonly orders: number;
  readonly asset: string;
}

/** What a daemon would send for an account now. Nothing is asked or written to know it. */
export interface DryRun {
  readonly account: string;
  readonly wouldSend: {
    readonly orders: number;
    readonly later: number;
    readonly sums: readonly PairSum[];
    readonly unsummed: number;
    /** The first bodies, as they would be sent, tokens hidden. */
    readonly first: readonly { readonly externalOrderId: string; readonly body: string }[];
  };
  readonly invalid: {
    readonly orders: number;
    readonly first: readonly { readonly externalOrderId: string; readonly reason: string }[];
  };
  /** The time to send all at the limit of the rate: with creates alone, and beside the look-ups that are planned; in milliseconds. */
  readonly takesMs: number;
  readonly takesBesideLookupsMs: number;
  /** Look-ups that are due, counted up to 10,000. */
  readonly lookupsDue: number;
  readonly holds: readonly RestraintView[];
  /** The limit of `guard.*` that would stop creates, and after how many; null if none would. */
  readonly guard: { readonly afterOrders: number; readonly reason: string } | null;
  readonly olderState: string | null;
}

interface DryRunRequest {
  readonly account: string;
  readonly store: Store;
  readonly now: Date;
  readonly config: Pick<Config, 'exchange' | 'guard' | 'accounts'>;
  readonly rows: number;
}

export async function dryRun(request: DryRunRequest): Promise<DryRun> {
  const { account, store, now, config } = request;
  const { db } = store;
  const { exchange } = config;
  const { requests, interval, mode } = exchange.rate;
  const msAnOrder = interval / requests / (mode === 'paced' ? PACED : 1);
  const window = new CreateWindow({ ...config.guard, outputPosition: exchange.outputPosition });
  await countSent(db, { account, now, countsFrom: await guardCountsFrom(db, account) }, window);
  const backlog = await addUp(request, window, msAnOrder);
  const takesMs = backlog.wouldSend.orders * msAnOrder;
  const { follow } = paceSettings.of(config);
  const createShare = follow.pace === 'learned' ? 1 - follow.share : 1;
  const holds = await readHolds(db, account);
  return {
    account,
    ...backlog,
    takesMs: Math.ceil(takesMs),
    takesBesideLookupsMs: Math.ceil(takesMs / Math.max(createShare, 0.01)),
    lookupsDue: (await countWaiting(db, { account, now })).lookupsDue,
    holds: holds.filter((hold) => stops(hold, 'create') || stops(hold, 'lookup')).map(viewOf),
    olderState: (await store.mark.sign()) ?? null,
  };
}

/** Adds up what waits as if each order were taken, one after the other at the limit of the rate, in memory that does not grow with it. */
async function addUp(
  { account, store, now, config, rows }: DryRunRequest,
  window: CreateWindow,
  msAnOrder: number,
): Promise<Pick<DryRun, 'wouldSend' | 'invalid' | 'guard'>> {
  const sums = new PairSums();
  const [first, invalid]: [{ externalOrderId: string; body: string }[], { externalOrderId: string; reason: string }[]] =
    [[], []];
  let [orders, later, invalidOrders] = [0, 0, 0];
  let guard: DryRun['guard'] = null;
  for await (const row of waiting(store, account)) {
    const { external_order_id: externalOrderId, next_action_at: due } = row;
    const isOfNobody = row.state_reason === NULL_ACCOUNT && config.accounts.length > 1;
    const checked = checkOrder(uncheckedOrderOf(row));
    if (isOfNobody || !checked.ok) {
      const reason = isOfNobody || checked.ok ? WHOSE : describeProblems(checked.problems);
      invalidOrders += 1;
      if (invalid.length < rows) invalid.push({ externalOrderId, reason });
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
    sums.add(order);
  }
  const wouldSend = { orders, later, sums: sums.all(), unsummed: sums.unsummed, first };
  return { wouldSend, invalid: { orders: invalidOrders, first: invalid }, guard };
}

/** The rows that have a time, in its order: invalid ones, which are checked again, and pending ones. */
async function* waiting({ db }: Store, account: string): AsyncGenerator<OrderRow> {
  for (const state of ['invalid', 'pending'] as const) {
    for (let from = FIRST_DUE; ;) {
      const page = await findOrders(db, { account, state, after: from, by: 'due', limit: PAGE }, ROW_COLUMNS);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      const next = dueKeyOf(last);
      // SQLite reads ids that are no text otherwise than it compares them: a page of them would come again and again.
      const isStuck = next.externalOrderId === from.externalOrderId;
      from = isStuck ? { nextActionAt: `${next.nextActionAt}~`, externalOrderId: '' } : next;
    }
  }
}

class PairSums {
  readonly #sums = new Map<string, Omit<PairSum, 'asset' | 'orders'> & { orders: number; readonly sum: DecimalSum }>();
  unsummed = 0;

  add({ fromCurrency: from, toCurrency: to, assetPosition, asset }: MerchantOrder): void {
    const key = JSON.stringify([from, to, assetPosition]);
    const known = this.#sums.get(key);
    if (known === undefined && this.#sums.size >= MOST_PAIRS) {
      this.unsummed += 1;
      return;
    }
    const pair = known ?? { from, to, assetPosition, orders: 0, sum: new DecimalSum() };
    pair.orders += 1;
    pair.sum.add(asset);
    this.#sums.set(key, pair);
  }

  all(): readonly PairSum[] {
    return [...this.#sums.values()].map(({ sum, ...pair }) => ({ ...pair, asset: sum.toString() }));
  }
}
