import { startChild, startEngine, startSandboxChild } from '../child.ts';
import { middle, type Figure } from '../figures.ts';
import { orderOf } from '../orders.ts';
import type { Round, Took } from '../round.ts';
import { makeDatabase, type ServerBench } from './server.ts';

const TARGET_A_SECOND = 500;

/** Creates a second of one worker, every intent and result synced to the disk, in turns with a loop of bare requests. */
export async function measureCreates(bench: ServerBench): Promise<Figure[]> {
  const { folder, server, sizes, say } = bench;
  const name = 'creates';
  const url = await makeDatabase(bench, name);
  const shop = server.admin(name);
  await using sandbox = await startSandboxChild(folder);
  await using engine = await startEngine(folder, sandbox.ready.url, url);
  await using bare = await startChild<Round, Took>('./bare.ts', [sandbox.ready.url], { folder, name: 'bare' });
  const count = sizes.orders;
  const took: { readonly engine: Took; readonly bare: Took }[] = [];
  // Round 0 warms both sides up.
  for (let round = 0; round <= sizes.rounds; round += 1) {
    const batch = `round${round}`;
    const orders = Array.from({ length: count }, (_, index) => orderOf(batch, index));
    await shop.query(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
        select "externalOrderId", asset, "fromCurrency", "toCurrency" from jsonb_to_recordset($1::jsonb)
        as o ("externalOrderId" text, asset text, "fromCurrency" text, "toCurrency" text)`,
      [JSON.stringify(orders)],
    );
    const ofEngine = await engine.ask({ kind: 'create', batch, count, aheadMs: 0 });
    const ofBare = await bare.ask({ kind: 'create', batch: `bare${round}`, count, aheadMs: 0 });
    if (round > 0) took.push({ engine: ofEngine, bare: ofBare });
    say(`accounts: creates, round ${round} of ${sizes.rounds}`);
  }
  await shop.end();
  const rates = (side: 'engine' | 'bare') => took.map((one) => (count * 1_000) / one[side].ms);
  const cpu = (side: 'engine' | 'bare') => took.map((one) => one[side].cpuMs / count);
  return [
    {
      name: 'PostgreSQL: create, engine',
      unit: 'orders/s',
      ...middle(rates('engine')),
      target: { atLeast: TARGET_A_SECOND },
    },
    { name: 'PostgreSQL: create, bare got beside it', unit: 'orders/s', ...middle(rates('bare')) },
    { name: 'PostgreSQL: create, CPU of the engine', unit: 'ms/order', ...middle(cpu('engine')) },
    { name: 'PostgreSQL: create, CPU of bare got', unit: 'ms/order', ...middle(cpu('bare')) },
  ];
}
