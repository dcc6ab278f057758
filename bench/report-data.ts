import Database from 'better-sqlite3';
import { systemClock } from '../src/base/clock.ts';
import { openStore } from '../src/store/sqlite/store.ts';
import { withoutTriggers } from './large-database.ts';

const EVENTS_AN_ORDER = 4;
/** Orders begin here and are spread over so many days: a million of them are 80,000 a month. */
const FIRST_DAY = Date.parse('2025-01-01T00:00:00.000Z');
const DAYS = 380;

const BATCH = 50_000;
/** Prime to the number of orders: ids come in no order of time. */
const SCRAMBLE = 611_953;
const PAIRS = [
  ['BTC', 'EUR', '0.0125'],
  ['ETH', 'EUR', '1.503'],
  ['USDT', 'USD', '250.05'],
  ['BTC', 'USD', '0.33333333'],
] as const;
/** As long as a hash. */
const HASH = '0'.repeat(64);
const STATES = ['accepted', 'open', 'final'] as const;

/** Fills a new database with orders that agree with the exchange but for one in a thousand. */
export async function buildReportDatabase(path: string, orders: number, say: (text: string) => void): Promise<void> {
  await (await openStore(path, systemClock(), { expect: 'migrate' })).close();
  const sqlite = new Database(path);
  withoutTriggers(sqlite, () => {
    const insert = inserter(sqlite, orders);
    for (let begin = 0; begin < orders; begin += BATCH) {
      sqlite.transaction(() => {
        for (let index = begin; index < Math.min(begin + BATCH, orders); index += 1) insert(index);
      })();
      say(`reports: ${Math.min(begin + BATCH, orders)} orders made`);
    }
  });
  sqlite.close();
}

function inserter(sqlite: Database.Database, orders: number): (index: number) => void {
  const order =
    sqlite.prepare(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency, state,
    pre_order_id, exchange_type, order_id, order_status, crypto_status, fiat_status, attempts, next_action_at,
    last_lookup_at, created_at, updated_at, sent_at, changed_at, modification_date) values (:id, :asset, :from, :to, :state,
    :preOrderId, 'SELL', :orderId, :status, 'NEW', 'NEW', 1, null, :end, :begin, :end, :begin, :end, :end)`);
  const record = sqlite.prepare(`insert into order_records (account, external_order_id, body, received_at, merchant_id,
    creation_date, completion_date, input_asset, output_asset, from_currency, to_currency, fee, reward, compared_at)
    values ('default', :id, :body, :end, 'm1', :begin, :end, :input, '512.25', :from, :to, '0.00001', '0.5', :end)`);
  const preOrder = sqlite.prepare(
    `insert into pre_orders (account, external_order_id, body, received_at) values ('default', :id, :body, :begin)`,
  );
  const event = sqlite.prepare(`insert into events (account, type, subject, field, old_value, new_value, observed_at,
    exchange_time, source, previous_hash, hash) values ('default', 'order', ?, 'state', ?, ?, ?, ?, 'lookup', :hash, :hash)`);
  const finding = sqlite.prepare(`insert into findings (account, class, severity, external_order_id, expected, actual,
    first_seen_at, last_seen_at) values ('default', 'AMOUNT_MISMATCH', 'error', ?, ?, ?, ?, ?)`);
  return (index) => {
    const [from, to, asset] = PAIRS[index % PAIRS.length] ?? PAIRS[0];
    const id = `shop-${String((index * SCRAMBLE) % orders).padStart(7, '0')}`;
    const begin = new Date(FIRST_DAY + Math.floor((index / orders) * DAYS * 86_400_000)).toISOString();
    const end = new Date(Date.parse(begin) + 600_000 + (index % 1_000) * 7_000).toISOString();
    const state = STATES[index % 20 === 0 ? (index % 40 === 0 ? 0 : 1) : 2] ?? 'final';
    const isWrong = index % 1_000 === 999;
    const input = isWrong ? `${asset}1` : asset;
    const orderId = state === 'accepted' ? null : `order-${index}`;
    const body = recordBody({ id, from, to, input, begin, end });
    order.run({
      id,
      asset,
      from,
      to,
      state,
      preOrderId: `pre-${index}`,
      orderId,
      status: orderId && 'REQUEST',
      begin,
      end,
    });
    preOrder.run({ id, begin, body: body.slice(0, 400) });
    if (state !== 'accepted') record.run({ id, body, begin, end, input, from, to });
    if (isWrong) finding.run(id, asset, input, end, end);
    let before: string | null = null;
    for (const after of ['pending', 'sending', 'accepted', 'open'].slice(0, EVENTS_AN_ORDER)) {
      event.run(id, before, after, begin, end, { hash: HASH });
      before = after;
    }
  };
}

function recordBody(order: Readonly<Record<'id' | 'from' | 'to' | 'input' | 'begin' | 'end', string>>): string {
  const { id, from, to, input, begin, end } = order;
  return `{"externalOrderId":"${id}","merchant":{"id":"m1"},"order":{"id":"order-${id}","number":7,"orderType":"DEPOSIT",
"exchangeType":"SELL","status":"REQUEST","resultMessage":"","submitByResident":true,"creationDate":"${begin}",
"modificationDate":"${end}","completionDate":"${end}","serverDate":"${end}","exchangeOperation":{"currencyPair":{
"fromCurrency":"${from}","toCurrency":"${to}"},"inputAsset":${input},"outputAsset":512.25,"ratio":40980.0},
"cryptoTransaction":{"currency":"${from}","externalCryptoAddress":"bc1qexampleexampleexampleexample","internalCryptoAddress":
"bc1qinternalinternalinternalinternal","fee":0.00001,"feePaymentEnabledByClient":false,"status":"NEW","transactionHash":null},
"fiatTransaction":{"currency":"${to}","internalToken":"t-${id}","link":"https://example.test/${id}","orderIdentity":"i-${id}",
"paymentToken":"11111111-2222-3333-4444-555555555555","paymentType":"P2P","processingBank":"BANK","providerType":"CARDPROV",
"resultMessage":"","status":"NEW"}},"percent":1.5,"percentEnabled":true,"reward":0.5}`;
}
