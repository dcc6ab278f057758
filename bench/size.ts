import { PARTS } from '../test/support/parts.ts';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createApp } from '../src/app.ts';
import { loadConfig } from '../test/support/settings.ts';
import { syncOnce } from '../src/orders/sync.ts';
import { createLog } from '../src/base/log.ts';
import { runProgram, startDaemon } from './child.ts';
import type { Figure } from './figures.ts';
import { fillWithFinalOrders } from './large-database.ts';
import { settingsFor, type Bench } from './settings.ts';

const TARGET_SECONDS = 1;
const TARGET_STALL_MS = 50;
/** Nothing is asked of the exchange: nothing is due. */
const NOBODY = 'http://127.0.0.1:9';

/** A start and a pass over a database with many orders of which none is followed. */
export async function measureSize({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  fillWithFinalOrders(path, sizes.large, say);
  const settings = settingsFor(NOBODY, path);
  await runProgram(folder, ['db', 'accept-restore', '--yes', '--assume-not-sent', '--reason', 'made here'], settings);
  say('size: sync, the daemon, and a pass in this process');
  const { ms } = await runProgram(folder, ['sync', '--json'], settings);
  const begin = performance.now();
  const daemon = await startDaemon(folder, settingsFor(NOBODY, path));
  const readyMs = performance.now() - begin;
  await daemon[Symbol.asyncDispose]();
  const orders = `${sizes.large} orders`;
  return [
    { name: `sync of ${orders}, none followed`, unit: 's', value: ms / 1_000, target: { below: TARGET_SECONDS } },
    { name: `daemon with ${orders}, ready`, unit: 's', value: readyMs / 1_000, target: { below: TARGET_SECONDS } },
    {
      name: `start and pass over ${orders}, longest stall`,
      unit: 'ms',
      value: await longestStallMs(settings, folder),
      target: { below: TARGET_STALL_MS },
    },
  ];
}

/** The longest time for which the event loop stood still. */
async function longestStallMs(settings: Record<string, string>, folder: string): Promise<number> {
  const config = loadConfig({ requireExchange: true, env: settings, cwd: folder });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  {
    await using app = await createApp(config, {
      log: createLog('silent'),
      ...PARTS,
    });
    await syncOnce(app, 'all', new AbortController().signal);
  }
  delays.disable();
  return delays.max / 1e6;
}
