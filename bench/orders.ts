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

/** Puts a batch into the merchant's table, as a shop would: with a connection of its own. The ids. */
export function insertOrders(path: string, batch: string, count: number): string[] {
  const shop = new Database(path);
  const insert = shop.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
     values (:externalOrderId, :asset, :fromCurrency, :toCurrency)`,
  );
  const orders = Array.from({ length: count }, (_, index) => orderOf(batch, index));
  shop.transaction(() => orders.forEach((order) => insert.run(order)))();
  shop.close();
  return orders.map(({ externalOrderId }) => externalOrderId);
}
