import { setTimeout as delay } from 'node:timers/promises';
import { OrderSync } from '../src/extensions/shop/client.ts';
import { startDaemon, startSandboxChild } from './child.ts';
import { quantile, type Figure } from './figures.ts';
import { insertOrders, orderOf } from './orders.ts';
import { machineMs } from './process.ts';
import { apiFor, settingsFor, type Bench } from './settings.ts';

const TARGET_MS = 10;
/** Until the daemon has come to rest, and between rows; rows come at any moment between two looks of the daemon. */
const REST_MS = 1_000;
const PAUSE_MS = 200;
const SPREAD_MS = 50;

/**
 * From just before a shop commits a new row, or the client asks the API to add an order, until the exchange has the request, with a
 * daemon that had nothing to do.
 */
export async function measureLatency({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  await using sandbox = await startSandboxChild(folder);
  const api = await apiFor(folder);
  await using daemon = await startDaemon(folder, { ...settingsFor(sandbox.ready.url, path), ...api.settings });
  say(`latency: ${sizes.rows} orders one at a time in each way, process ${daemon.pid}`);
  await delay(REST_MS);
  const { orders } = new OrderSync(api.access);
  const ways = {
    'new row': async (batch: string) => insertOrders(path, batch, 1),
    'orders.add over the API': async (batch: string) => {
      const { externalOrderId, asset, fromCurrency: from_currency, toCurrency: to_currency } = orderOf(batch, 0);
      // The request to the exchange may arrive before the answer.
      orders.add({ external_order_id: externalOrderId, asset, from_currency, to_currency }).catch(say);
      return [externalOrderId];
    },
  };
  const figures: Figure[] = [];
  for (const [name, add] of Object.entries(ways)) {
    const took: number[] = [];
    for (let row = 0; row < sizes.rows; row += 1) {
      const start = machineMs();
      const [id = ''] = await add(`${name.replaceAll(' ', '-')}-${row}`);
      took.push(Number(await sandbox.ask({ kind: 'arrival', id })) - start);
      await delay(PAUSE_MS + (SPREAD_MS * row) / sizes.rows);
    }
    const range = [Math.min(...took), Math.max(...took)] as const;
    const middle = { name: `${name} to request, median`, unit: 'ms', value: quantile(took, 0.5), range };
    figures.push({ ...middle, target: { atMost: TARGET_MS } });
    figures.push({ name: `${name} to request, 95 %`, unit: 'ms', value: quantile(took, 0.95) });
  }
  return figures;
}
