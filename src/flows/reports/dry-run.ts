import type { Config } from '../../config/config.ts';
import { CreateWindow } from '../../domain/accounts/guard.ts';
import { stops, viewOf, type HoldView } from '../../domain/accounts/holds.ts';
import { DecimalSum } from '../../domain/decimal.ts';
import { after } from '../../domain/instant.ts';
import { checkOrder, describeProblems, NULL_ACCOUNT, WHOSE } from '../../domain/orders/check.ts';
import type { MerchantOrder } from '../../domain/record.ts';
import { withoutTokens } from '../../exchange/hidden.ts';
import { preOrderBody } from '../../exchange/orders.ts';
import { guardCountsFrom, readHolds } from '../../store/account-holds.ts';
import { dueKeyOf, findOrders, FIRST_DUE } from '../../store/find-orders.ts';
import { ROW_COLUMNS, uncheckedOrderOf, type OrderRow } from '../../store/order-columns.ts';
import { countWaiting } from '../../store/waiting-orders.ts';
import type { Store } from '../../store/port.ts';
import { countSent } from '../pass/guard.ts';

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
    /** Of them, those that wait until later. */
    readonly later: number;
    readonly sums: readonly PairSum[];
    /** Orders of pairs beyond those that are summed. */
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
  readonly holds: readonly HoldView[];
  /** The limit of `guard.*` that would stop creates, and after how many; null where none would. */
  readonly guard: { readonly afterOrders: number; readonly reason: string } | null;
  /** Why the database counts as an older copy, with which nothing is sent; null where it does not. */
  readonly olderState: string | null;
}

type DryRunConfig = Pick<Config, 'exchange' | 'guard' | 'follow' | 'accounts'>;

export async function dryRun({
  account,
  store,
  now,
  config,
  rows,
}: {
  account: string;
  store: Store;
  now: Date;
  config: DryRunConfig;
  rows: number;
}): Promise<DryRun> {
  const { db } = store;
  const { exchange, follow } = config;
  const { requests, interval, mode } = exchange.rate;
  const msAnOrder = interval / requests / (mode === 'paced' ? PACED : 1);
  const settings = { ...config.guard, outputPosition: exchange.outputPosition };
  const window = new CreateWindow(settings);
  await countSent(db, { account, now, countsFrom: await guardCountsFrom(db, account) }, window);
  const all = new Backlog(window, now, msAnOrder, rows);
  for (const state of ['invalid', 'pending'] as const) {
    for await (const row of waiting(store, account, state)) {
      if (row.state_reason === NULL_ACCOUNT && config.accounts.length > 1) all.addInvalid(row, WHOSE);
      else all.add(row);
    }
  }
  const { orders } = all;
  const createShare = follow.pace === 'learned' ? 1 - follow.share : 1;
  const holds = await readHolds(db, account);
  return {
    account,
    ...all.found(),
    takesMs: Math.ceil(orders * msAnOrder),
    takesBesideLookupsMs: Math.ceil((orders * msAnOrder) / Math.max(createShare, 0.01)),
    lookupsDue: (await countWaiting(db, { account, now })).lookupsDue,
    holds: holds.filter((hold) => stops(hold, 'create') || stops(hold, 'lookup')).map(viewOf),
    olderState: (await store.mark.sign()) ?? null,
  };
}

/** The rows of a state that have a time, in its order. */
async function* waiting({ db }: Store, account: string, state: 'pending' | 'invalid'): AsyncGenerator<OrderRow> {
  for (let from = FIRST_DUE; ;) {
    const page = await findOrders(db, { account, state, after: from, by: 'due', limit: PAGE }, ROW_COLUMNS);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    const next = dueKeyOf(last);
    // SQLite reads ids that are no text otherwise than it compares them: a page of them would come again and again.
    const isStuck = next.externalOrderId === from.externalOrderId;
    from = isStuck ? { nextActionAt: `${next.nextActionAt}~`, externalOrderId: '' } : next;
  }
}

/** Adds up what waits, in memory that does not grow with it. */
class Backlog {
  orders = 0;
  readonly #window: CreateWindow;
  readonly #now: Date;
  readonly #msAnOrder: number;
  readonly #rows: number;
  readonly #sums = new Map<string, Omit<PairSum, 'asset' | 'orders'> & { orders: number; readonly sum: DecimalSum }>();
  readonly #first: { externalOrderId: string; body: string }[] = [];
  readonly #invalid: { externalOrderId: string; reason: string }[] = [];
  #later = 0;
  #unsummed = 0;
  #invalidOrders = 0;
  #guard: DryRun['guard'] = null;

  constructor(window: CreateWindow, now: Date, msAnOrder: number, rows: number) {
    this.#window = window;
    this.#now = now;
    this.#msAnOrder = msAnOrder;
    this.#rows = rows;
  }

  add(row: OrderRow): void {
    const { external_order_id: externalOrderId } = row;
    const checked = checkOrder(uncheckedOrderOf(row));
    if (!checked.ok) return this.addInvalid(row, describeProblems(checked.problems));
    const { order } = checked;
    this.#guardAgainst(order);
    this.orders += 1;
    if ((row.next_action_at ?? '') > this.#now.toISOString()) this.#later += 1;
    if (this.#first.length < this.#rows) {
      this.#first.push({ externalOrderId, body: withoutTokens(preOrderBody(order)) });
    }
    this.#sum(order);
  }

  addInvalid({ external_order_id: externalOrderId }: OrderRow, reason: string): void {
    this.#invalidOrders += 1;
    if (this.#invalid.length < this.#rows) this.#invalid.push({ externalOrderId, reason });
  }

  found(): Pick<DryRun, 'wouldSend' | 'invalid' | 'guard'> {
    const sums = [...this.#sums.values()].map(({ sum, ...pair }) => ({ ...pair, asset: sum.toString() }));
    const wouldSend = { orders: this.orders, later: this.#later, sums, unsummed: this.#unsummed, first: this.#first };
    return { wouldSend, invalid: { orders: this.#invalidOrders, first: this.#invalid }, guard: this.#guard };
  }

  /** As if each order were taken, one after the other at the limit of the rate. */
  #guardAgainst(order: MerchantOrder): void {
    if (this.#guard !== null) return;
    const at = after(this.#now, this.orders * this.#msAnOrder);
    const decision = this.#window.decide(order, at);
    if (decision.kind === 'guarded') this.#guard = { afterOrders: this.orders, reason: decision.reason };
    else this.#window.settle(this.#window.add(order, at), true);
  }

  #sum({ fromCurrency: from, toCurrency: to, assetPosition, asset }: MerchantOrder): void {
    const key = JSON.stringify([from, to, assetPosition]);
    const known = this.#sums.get(key);
    if (known === undefined && this.#sums.size >= MOST_PAIRS) {
      this.#unsummed += 1;
      return;
    }
    const pair = known ?? { from, to, assetPosition, orders: 0, sum: new DecimalSum() };
    pair.orders += 1;
    pair.sum.add(asset);
    this.#sums.set(key, pair);
  }
}
