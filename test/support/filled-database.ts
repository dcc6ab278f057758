import Database from 'better-sqlite3';
import { newDatabase } from './folders.ts';
import type { Merchant } from './merchant.ts';
import { unguarded } from './unguarded.ts';

/** An order and the last record of the exchange; a missing field is that of an order that agrees and is final. */
export interface ReconciledOrder {
  readonly id: string;
  readonly account?: string;
  readonly asset?: string;
  readonly position?: string;
  readonly from?: string;
  readonly to?: string;
  readonly paymentToken?: string;
  readonly state?: string;
  readonly outcome?: string;
  readonly createdAt?: string;
  readonly changedAt?: string | null;
  readonly sentAt?: string | null;
  readonly lastLookupAt?: string | null;
  readonly modificationDate?: string | null;
  readonly preOrderId?: string | null;
  readonly staleDate?: string | null;
  readonly attempts?: number;
  readonly resends?: number;
  /** The id of the fail-over that left the order in doubt. */
  readonly failOver?: number;
  /** Null if there is no record. */
  readonly record?: {
    readonly input?: string | null;
    readonly from?: string | null;
    readonly to?: string | null;
    readonly output?: string | null;
    readonly fee?: string | null;
    readonly reward?: string | null;
    readonly receivedAt?: string;
    readonly comparedAt?: string | null;
    /** Null if its completion date cannot be read. */
    readonly completedAt?: string | null;
  } | null;
}

/** A finding as it is written down. */
export interface WrittenFinding {
  /** The id of its order; null if the finding is about the account. */
  readonly id: string | null;
  readonly class: string;
  readonly severity?: string;
  readonly status?: string;
  readonly firstSeenAt?: string;
  readonly changedAt?: string | null;
  readonly resolvedAt?: string | null;
  readonly reason?: string | null;
  readonly expected?: string;
}

export const CREATED_AT = '2026-01-05T10:00:00.000Z';
export const LOOKED_UP_AT = '2026-01-05T12:00:00.000Z';
export const AS_OF = '2026-01-06T00:00:00.000Z';

/** Makes a database and puts the orders into it in their order; rows go through the triggers but for those of moves. */
export async function filledDatabase(
  path: string,
  orders: readonly ReconciledOrder[],
  findings: readonly WrittenFinding[] = [],
): Promise<void> {
  await newDatabase(path);
  const sqlite = new Database(path);
  fillDatabase(sqlite, orders, findings);
  sqlite.close();
}

/** Puts the orders into a database that is empty. */
export function fillDatabase(
  merchant: Merchant,
  orders: readonly ReconciledOrder[],
  findings: readonly WrittenFinding[] = [],
): void {
  unguarded(merchant, () => {
    for (const order of orders) insertOrder(merchant, order);
    for (const finding of findings) insertFinding(merchant, finding);
  });
}

function insertOrder(merchant: Merchant, order: ReconciledOrder): void {
  const { id, asset = '1.50', from = 'BTC', to = 'EUR', createdAt = CREATED_AT, record = {} } = order;
  const changedAt = order.changedAt === undefined ? LOOKED_UP_AT : order.changedAt;
  merchant
    .prepare(
      `insert into merchant_orders (account, external_order_id, asset, asset_position, from_currency, to_currency, payment_token)
       values (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(order.account ?? 'default', id, asset, order.position ?? 'INPUT', from, to, order.paymentToken ?? null);
  merchant
    .prepare(
      `update merchant_orders set revision = revision + 1, state = :state, created_at = :createdAt, pre_order_id = :preOrderId, order_status = :status, outcome = :outcome, changed_at = :changedAt,
       sent_at = :sentAt, last_lookup_at = :lastLookupAt, modification_date = :modificationDate, stale_date = :staleDate,
       attempts = :attempts, resends = :resends, fail_over = :failOver where account = :account and external_order_id = :id`,
    )
    .run({
      id,
      account: order.account ?? 'default',
      createdAt,
      state: order.state ?? 'final',
      preOrderId: order.preOrderId === undefined ? `pre-${id}` : order.preOrderId,
      outcome: order.outcome ?? null,
      status: record === null ? null : 'REQUEST',
      changedAt,
      sentAt: order.sentAt === undefined ? createdAt : order.sentAt,
      lastLookupAt: order.lastLookupAt === undefined ? LOOKED_UP_AT : order.lastLookupAt,
      modificationDate: order.modificationDate ?? LOOKED_UP_AT,
      staleDate: order.staleDate ?? null,
      attempts: order.attempts ?? 1,
      resends: order.resends ?? 0,
      failOver: order.failOver ?? null,
    });
  if (record === null) return;
  const { input = asset, fee = '0.001', receivedAt = LOOKED_UP_AT, comparedAt = LOOKED_UP_AT } = record;
  merchant
    .prepare(
      `insert into order_records (account, external_order_id, body, received_at, input_asset, output_asset, from_currency,
       to_currency, fee, reward, creation_date, completion_date, completed_at, compared_at)
       values ('default', :id, '{}', :receivedAt, :input, :output, :from, :to, :fee, :reward, :createdAt, :receivedAt, :completedAt, :comparedAt)`,
    )
    .run({
      id,
      receivedAt,
      input,
      from: record.from === undefined ? from : record.from,
      to: record.to === undefined ? to : record.to,
      output: record.output === undefined ? '100' : record.output,
      fee,
      reward: record.reward === undefined ? '0.5' : record.reward,
      createdAt,
      completedAt: record.completedAt === undefined ? receivedAt : record.completedAt,
      comparedAt,
    });
}

function insertFinding(merchant: Merchant, finding: WrittenFinding): void {
  merchant
    .prepare(
      `insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at,
       status, changed_at, resolved_at, reason) values ('default', :class, :severity, :id, :expected, 'something else',
       :firstSeenAt, :firstSeenAt, :status, :changedAt, :resolvedAt, :reason)`,
    )
    .run({
      severity: 'error',
      status: 'open',
      firstSeenAt: LOOKED_UP_AT,
      changedAt: null,
      resolvedAt: null,
      reason: null,
      expected: 'something',
      ...finding,
    });
}
