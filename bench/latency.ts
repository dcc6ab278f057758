import { setTimeout as delay } from 'node:timers/promises';
import { startDaemon, startSandboxChild } from './child.ts';
import { quantile, type Figure } from './figures.ts';
import { insertOrders } from './orders.ts';
import { machineMs } from './process.ts';
import { settingsFor, type Bench } from './settings.ts';

const TARGET_MS = 10;
/** Until the daemon has come to rest, and between rows; rows come at any moment between two looks of the daemon. */
const REST_MS = 1_000;
const PAUSE_MS = 200;
const SPREAD_MS = 50;

/** From just before a shop commits a new row until the exchange has the request, with a daemon that had nothing to do. */
export async function measureLatency({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  await using sandbox = await startSandboxChild(folder);
  await using daemon = await startDaemon(folder, settingsFor(sandbox.ready.url, path));
  say(`latency: ${sizes.rows} rows one at a time, process ${daemon.pid}`);
  await delay(REST_MS);
  const took: number[] = [];
  for (let row = 0; row < sizes.rows; row += 1) {
    const start = machineMs();
    const [id = ''] = insertOrders(path, `row${row}`, 1);
    took.push(Number(await sandbox.ask({ kind: 'arrival', id })) - start);
    await delay(PAUSE_MS + (SPREAD_MS * row) / sizes.rows);
  }
  return [
    {
      name: 'new row to request, median',
      unit: 'ms',
      value: quantile(took, 0.5),
      range: [Math.min(...took), Math.max(...took)],
      target: { below: TARGET_MS },
    },
    { name: 'new row to request, 95 %', unit: 'ms', value: quantile(took, 0.95) },
  ];
}
