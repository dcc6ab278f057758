import got from 'got';
import { serve } from './child.ts';
import { orderOf } from './orders.ts';
import { timed, type Round } from './round.ts';
import { CONCURRENCY, KEY } from './settings.ts';

/** The measure for the engine: got in a loop, with the same requests, and nothing that is kept. */
const [url = ''] = process.argv.slice(2);
const client = got.extend({ prefixUrl: url, headers: { 'x-api-key': KEY }, retry: { limit: 0 } });

async function create(batch: string, index: number): Promise<void> {
  const { asset, fromCurrency, toCurrency, ...rest } = orderOf(batch, index);
  const json = { ...rest, asset: Number(asset), currencyPair: { fromCurrency, toCurrency } };
  await client.post('api/v1/merchant/orders/request', { json }).json();
}

async function lookUp(batch: string, index: number): Promise<void> {
  const { externalOrderId } = orderOf(batch, index);
  await client.get(`api/v1/merchant/orders?externalOrderId=${externalOrderId}`).json();
}

serve<Round>({}, async ({ kind, batch, count }) => {
  const request = kind === 'create' ? create : lookUp;
  const took = await timed(async () => {
    let next = 0;
    const worker = async () => {
      while (next < count) {
        next += 1;
        await request(batch, next - 1);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  });
  return { ...took, commits: 0 };
});
