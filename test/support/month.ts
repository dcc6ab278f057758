import Database from 'better-sqlite3';
import { newDatabase } from './folders.ts';
import type { Merchant } from './merchant.ts';
import { unguarded } from './unguarded.ts';

/** The month and the moment of its report. */
export const MONTH = { from: '2026-03-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' } as const;
export const MONTH_AS_OF = '2026-04-01T06:00:00.000Z';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const HASH = '0'.repeat(64);
/** Each with the usual amount, its decimal places, the rate, and the usual minutes from the order to its end. */
const PAIRS = [
  ['USDT', 'EUR', 250, 2, 0.92, 25],
  ['BTC', 'EUR', 0.0125, 8, 61_500, 70],
  ['ETH', 'EUR', 1.5, 6, 3_100, 45],
  ['USDT', 'USD', 400, 2, 0.99, 18],
  ['EUR', 'BTC', 900, 2, 0.0000161, 240],
] as const;
/** Orders that are not final, by their place in the month. */
const STATES: Readonly<Record<number, string>> = {
  1100: 'unknown',
  1320: 'rejected',
  1340: 'invalid',
  1360: 'cancelled',
  1380: 'abandoned',
  1400: 'held',
  1410: 'disputed',
  1440: 'unknown',
  1499: 'pending',
};
/** Findings by the place of their order; the two values are what was expected and what came. */
const FINDINGS: Readonly<Record<number, readonly [name: string, severity: string, expected: string, actual: string]>> =
  {
    97: ['AMOUNT_MISMATCH', 'error', '', ''],
    330: ['AMOUNT_MISMATCH', 'error', '', ''],
    331: ['AMOUNT_MISMATCH', 'error', '', ''],
    902: ['AMOUNT_MISMATCH', 'error', '', ''],
    610: ['ADDRESS_CHANGED', 'error', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE', 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC'],
    705: ['TX_HASH_REUSED', 'error', 'a hash of its own', 'the hash of shop-000704'],
    850: ['TERMINAL_REOPENED', 'warning', 'COMPLETED', 'IN_PROGRESS'],
    1201: ['STUCK', 'warning', 'a change within 1 h', 'none for 2 d'],
    1260: ['STUCK', 'warning', 'a change within 1 h', 'none for 1 d'],
    1300: ['ORDER_MISSING', 'warning', 'an order within 1 d', 'none for 3 d'],
    444: ['TERMS_CHANGED', 'warning', 'percent 1.5', 'percent 1.7'],
    12: ['STATUS_UNMAPPED', 'info', 'a known status', 'ON_REVIEW'],
    13: ['RATE_INCONSISTENT', 'info', '0.9200', '0.9199'],
  };
/** The texts of ids that no form may lay out badly. */
const ODD_IDS: Readonly<Record<number, string>> = {
  705: 'tenant-north-europe/shop-000705/2026-03-15/9f1c2a7e-5b1d-4a3e-8c11-2d0b7f3a9e55',
  1300: '=HYPERLINK("http://example.test";"order")',
};

/** A generator that always makes the same numbers, from 0 to 1. */
function numbers(): () => number {
  let seed = 20_260_301;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
}

/** Makes a database of a month of orders, by default 1,500: most are final and agree, a few of everything else. */
export async function monthDatabase(path: string, orders = 1_500): Promise<void> {
  await newDatabase(path);
  const sqlite = new Database(path);
  fillMonth(sqlite, orders);
  sqlite.close();
}

/** Puts the month into a database that is empty. */
export function fillMonth(merchant: Merchant, orders = 1_500): void {
  const random = numbers();
  unguarded(merchant, () => {
    const insert = inserter(merchant);
    for (let index = 0; index < orders; index += 1)
      insert(index, Date.parse(MONTH.from) + ((index + random()) / orders) * 31 * DAY_MS, random);
  });
}

function inserter(sqlite: Merchant) {
  const row = sqlite.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, ?, ?, ?)`,
  );
  const moved =
    sqlite.prepare(`update merchant_orders set revision = revision + 1, state = :state, state_reason = :reason, outcome = :outcome,
    created_at = :begin, updated_at = :end, sent_at = :sent, changed_at = :end, last_lookup_at = :lookedUp, order_status = :status,
    pre_order_id = :preOrderId, modification_date = :dated where external_order_id = :id`);
  const record =
    sqlite.prepare(`insert into order_records (account, external_order_id, body, received_at, input_asset, output_asset,
    from_currency, to_currency, fee, reward, creation_date, completion_date, completed_at, compared_at) values ('default', :id, '{}',
    :end, :input, :output, :from, :to, '0.0001', '0.5', :sent, :done, :done, :end)`);
  const event =
    sqlite.prepare(`insert into events (account, type, subject, field, old_value, new_value, observed_at, exchange_time,
    source, previous_hash, hash) values ('default', 'order', ?, ?, ?, ?, ?, ?, ?, '${HASH}', '${HASH}')`);
  const finding =
    sqlite.prepare(`insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at,
    last_seen_at) values ('default', ?, ?, ?, ?, ?, ?, ?)`);
  return (index: number, beginMs: number, random: () => number) => {
    const [from, to, usual, places, rate, minutes] = PAIRS[Math.floor(random() ** 1.6 * PAIRS.length)] ?? PAIRS[0];
    const id = ODD_IDS[index] ?? `shop-${String(index).padStart(6, '0')}`;
    const amount = usual * (0.2 + 2 * random());
    const asset = amount.toFixed(places);
    const found = FINDINGS[index];
    const input = found?.[0] === 'AMOUNT_MISMATCH' ? (amount * 1.01).toFixed(places) : asset;
    const waits = random() ** 3 * 12 + 0.4;
    const at = (ms: number) => new Date(beginMs + ms).toISOString();
    const sentMs = 1_000 + random() * 4_000;
    const takenMs = sentMs + random() * 10 * MINUTE_MS;
    const doneMs = takenMs + minutes * MINUTE_MS * waits;
    const seenMs = doneMs + random() ** 2 * 10 * MINUTE_MS;
    const isOver = beginMs + seenMs < Date.parse(MONTH_AS_OF) && found?.[0] !== 'STUCK';
    const state = STATES[index] ?? (found?.[0] === 'ORDER_MISSING' ? 'accepted' : isOver ? 'final' : 'open');
    const isAtExchange = state === 'final' || state === 'open' || state === 'disputed';
    const [begin, sent] = [at(0), at(sentMs)];
    const end = state === 'final' ? at(seenMs) : at(takenMs);
    const hasFailed = random() < 0.06;
    const outcome = state === 'final' ? (hasFailed ? 'failed' : random() < 0.01 ? null : 'succeeded') : null;
    const status = state === 'final' ? (hasFailed ? 'REJECTED' : 'COMPLETED') : isAtExchange ? 'IN_PROGRESS' : null;
    row.run(id, asset, from, to);
    const wasSent = !['pending', 'invalid', 'cancelled'].includes(state);
    const takenAtMs = isAtExchange ? takenMs - random() * MINUTE_MS : takenMs;
    moved.run({
      id,
      state,
      reason: state === 'invalid' ? 'asset: must be positive' : null,
      outcome,
      begin,
      end,
      status,
      sent: wasSent ? sent : null,
      lookedUp: wasSent && state !== 'unknown' ? MONTH_AS_OF : null,
      dated: isAtExchange ? at(state === 'final' ? doneMs : takenAtMs) : null,
      preOrderId: wasSent && !['unknown', 'rejected', 'held'].includes(state) ? `pre-${index}` : null,
    });
    const events: (readonly [field: string, before: string | null, after: string, ms: number, datedMs?: number])[] = [];
    if (wasSent)
      events.push(
        ['state', 'pending', 'sending', sentMs],
        ['state', 'sending', isAtExchange ? 'accepted' : state, sentMs + 300],
      );
    if (isAtExchange)
      events.push(['state', 'accepted', 'open', takenMs], ['order.status', null, 'IN_PROGRESS', takenMs, takenAtMs]);
    if (state === 'final')
      events.push(['order.status', 'IN_PROGRESS', status ?? '', seenMs, doneMs], ['state', 'open', 'final', seenMs]);
    for (const [field, before, after, ms, datedMs] of events)
      event.run(
        id,
        field,
        before,
        after,
        at(ms),
        datedMs === undefined ? null : at(datedMs),
        field === 'state' && ms < takenMs ? 'create' : 'lookup',
      );
    if (isAtExchange)
      record.run({
        id,
        end,
        input,
        output: (amount * rate).toFixed(to === 'BTC' ? 8 : 2),
        from,
        to,
        sent: at(takenMs),
        done: state === 'final' ? at(doneMs) : null,
      });
    if (found === undefined) return;
    const [name, severity, expected, actual] = found;
    finding.run(name, severity, id, expected || asset, actual || input, end, MONTH_AS_OF);
  };
}
