import Database from 'better-sqlite3';

const PAIRS = [
  { fromCurrency: 'BTC', toCurrency: 'EUR', asset: '0.0125' },
  { fromCurrency: 'ETH', toCurrency: 'EUR', asset: '1.503' },
  { fromCurrency: 'USDT', toCurrency: 'USD', asset: '250.05' },
] as const;

/** Order number `index` of a batch. */
export function orderOf(batch: string, index: number) {
  const pair = PAIRS[index % PAIRS.length] ?? PAIRS[0];
  return {
    externalOrderId: `${batch}-${String(index).padStart(6, '0')}`,
    ...pair,
    assetPosition: 'INPUT',
    orderType: 'DEPOSIT',
  };
}

/** Puts a batch into the merchant's table, as a shop would: with a connection of its own. */
export function insertOrders(path: string, batch: string, count: number): void {
  const shop = new Database(path);
  const insert = shop.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
     values (:externalOrderId, :asset, :fromCurrency, :toCurrency)`,
  );
  shop.transaction(() => {
    for (let index = 0; index < count; index += 1) insert.run(orderOf(batch, index));
  })();
  shop.close();
}
