import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { runProgram, startDaemon, startSandboxChild } from './child.ts';
import type { Figure } from './figures.ts';
import { orderOf } from './orders.ts';
import { peakMemoryMib } from './process.ts';
import { settingsFor, type Bench } from './settings.ts';

const TARGET_MIB = 250;
/** With requests in flight, which V8 copies less often the more room it has. */
const WORKING_TARGET_MIB = 300;
const LOOK_MS = 500;
/** On a slow machine the rest of the backlog tells nothing new. */
const LONGEST_MS = 60_000;

/** Memory of an import of many rows, and of the daemon with all of them waiting, until they are sent. */
export async function measureMemory({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  await using sandbox = await startSandboxChild(folder);
  const settings = settingsFor(sandbox.ready.url, path);
  const file = join(folder, 'orders.csv');
  await pipeline(Readable.from(csv(sizes.backlog)), createWriteStream(file));
  say(`memory: an import of ${sizes.backlog} rows`);
  const imported = await runProgram(folder, ['orders', 'import', file], settings);
  say('memory: the daemon works through them');
  const worked = await workThrough(folder, sandbox.ready.url, path);
  return [
    {
      name: `import of ${sizes.backlog} rows, memory`,
      unit: 'MiB',
      value: imported.peakMib,
      target: { below: TARGET_MIB },
    },
    { name: `import of ${sizes.backlog} rows, time`, unit: 's', value: imported.ms / 1_000 },
    {
      name: `daemon with ${sizes.backlog} rows waiting, memory`,
      unit: 'MiB',
      value: worked.peakMib,
      target: { below: WORKING_TARGET_MIB },
    },
    { name: 'of these rows it sent', unit: 'orders', value: worked.sent },
    { name: 'in', unit: 's', value: worked.ms / 1_000 },
  ];
}

async function workThrough(folder: string, url: string, path: string) {
  const shop = new Database(path, { readonly: true });
  const count = shop.prepare(`select count(*) from merchant_orders where state = 'pending'`).pluck();
  const pending = () => Number(count.get());
  const before = pending();
  const start = performance.now();
  try {
    await using daemon = await startDaemon(folder, settingsFor(url, path));
    let peakMib = 0;
    while (pending() > 0 && performance.now() - start < LONGEST_MS) {
      await delay(LOOK_MS);
      peakMib = peakMemoryMib(daemon.pid) ?? peakMib;
    }
    return { peakMib, sent: before - pending(), ms: performance.now() - start };
  } finally {
    shop.close();
  }
}

function* csv(rows: number): Generator<string> {
  yield 'external_order_id,asset,from_currency,to_currency\n';
  for (let index = 0; index < rows; index += 1) {
    const { externalOrderId, asset, fromCurrency, toCurrency } = orderOf('backlog', index);
    yield `${externalOrderId},${asset},${fromCurrency},${toCurrency}\n`;
  }
}
