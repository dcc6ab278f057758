import { fillDatabase, HASH, NUMBERS } from './large-database.ts';
import type { Bench } from './settings.ts';

/** A million orders are 100,000 in 30 days. */
const DAYS = 300;
const DAY_MS = 86_400_000;
/** Prime to the number of orders: ids come in no order of time. */
const SCRAMBLE = 611_953;

const PAIRS = [
  ['BTC', 'EUR', '0.0125'],
  ['ETH', 'EUR', '1.503'],
  ['USDT', 'USD', '250.05'],
  ['BTC', 'USD', '0.33333333'],
] as const;
const STATES = ['pending', 'sending', 'accepted', 'final'];

/** A record as the exchange sends it, as SQL. */
const RECORD_BODY = `'{"externalOrderId":"' || id || '","merchant":{"id":"m1"},"order":{"id":"order-' || id || '","number":7,"orderType":"DEPOSIT",
"exchangeType":"SELL","status":"REQUEST","resultMessage":"","submitByResident":true,"creationDate":"' || begin || '",
"modificationDate":"' || end || '","completionDate":"' || end || '","serverDate":"' || end || '","exchangeOperation":{"currencyPair":{
"fromCurrency":"' || from_currency || '","toCurrency":"' || to_currency || '"},"inputAsset":' || input || ',"outputAsset":512.25,"ratio":40980.0},
"cryptoTransaction":{"currency":"' || from_currency || '","externalCryptoAddress":"bc1qexampleexampleexampleexample","internalCryptoAddress":
"bc1qinternalinternalinternalinternal","fee":0.00001,"feePaymentEnabledByClient":false,"status":"NEW","transactionHash":null},
"fiatTransaction":{"currency":"' || to_currency || '","internalToken":"t-' || id || '","link":"https://example.test/' || id || '","orderIdentity":"i-' || id || '",
"paymentToken":"11111111-2222-3333-4444-555555555555","paymentType":"P2P","processingBank":"BANK","providerType":"CARDPROV",
"resultMessage":"","status":"NEW"}},"percent":1.5,"percentEnabled":true,"reward":0.5}'`;

/** Fills a new database with the orders of the days before `until`, which agree with the exchange but for one in a thousand. */
export function fillWithReportedOrders({ path, sizes, say }: Bench, until: Date): void {
  fillDatabase(path, sizes.reported, fillsOf(sizes.reported, until), say);
}

/** One row a table of each order, events one a state that it had, findings one a thousand orders. */
function fillsOf(orders: number, until: Date): readonly string[] {
  const pair = (place: number) =>
    `case i % ${PAIRS.length} ${PAIRS.map((of, at) => `when ${at} then '${of[place]}'`).join(' ')} end`;
  const beginMs = `${until.getTime() - DAYS * DAY_MS} + i * ${DAYS * DAY_MS} / ${orders}`;
  const time = (ms: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', (${ms}) / 1000.0, 'unixepoch')`;
  // Otherwise each use of a column would compute it again.
  const made = `${NUMBERS}, made as materialized (select i, printf('shop-%07d', i * ${SCRAMBLE} % ${orders}) as id,
    ${pair(0)} as from_currency, ${pair(1)} as to_currency, ${pair(2)} as asset, ${pair(2)} || iif(i % 1000 = 999, '1', '') as input,
    iif(i % 20, 'final', iif(i % 40, 'open', 'accepted')) as state, 'order-' || i as order_id,
    ${time('begin_ms')} as begin, ${time('begin_ms + 600000 + i % 1000 * 7000')} as end
    from (select i, ${beginMs} as begin_ms from n))`;
  return [
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, state, pre_order_id, exchange_type,
      order_id, order_status, crypto_status, fiat_status, attempts, next_action_at, last_lookup_at, created_at, updated_at,
      sent_at, changed_at, modification_date)
      ${made} select id, asset, from_currency, to_currency, state, 'pre-' || i, 'SELL', iif(state = 'accepted', null, order_id),
      iif(state = 'accepted', null, 'REQUEST'), 'NEW', 'NEW', 1, null, end, begin, end, begin, end, end from made`,
    `insert into pre_orders (account, external_order_id, body, received_at)
      ${made} select 'default', id, printf('{"id":"pre-%d","externalOrderId":"%s","filler":"%300s"}', i, id, ''), begin from made`,
    `insert into order_records (account, external_order_id, body, received_at, merchant_id, creation_date, completion_date,
      completed_at, input_asset, output_asset, from_currency, to_currency, fee, reward, compared_at)
      ${made} select 'default', id, ${RECORD_BODY}, end, 'm1', begin, end, end, input, '512.25', from_currency, to_currency, '0.00001', '0.5', end
      from made where state <> 'accepted'`,
    `insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at)
      ${made} select 'default', 'AMOUNT_MISMATCH', 'error', id, asset, input, end, end from made where i % 1000 = 999`,
    `insert into events (account, type, subject, field, old_value, new_value, observed_at, exchange_time, source,
      previous_hash, hash) ${made} select 'default', 'order', id, 'state', old, new, iif(key = ${STATES.length - 1}, end, begin), end, 'lookup', '${HASH}', '${HASH}'
      from made, (select key, value as new, lag(value) over (order by key) as old from json_each('${JSON.stringify(STATES)}'))`,
  ];
}
