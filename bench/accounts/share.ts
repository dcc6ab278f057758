import { setTimeout as delay } from 'node:timers/promises';
import type { Figure } from '../figures.ts';
import type { ServerBench } from './server.ts';
import { HURRY, openShops, type Shops } from './shops.ts';

const WORKERS = 3;
const MOST_OVER = 1;
/** The shares are fair so long after a change. */
const FAIR_AFTER_MS = 10_000;

/** How accounts are shared once a worker has joined, and once one has left in order. */
export async function measureShare(bench: ServerBench): Promise<Figure[]> {
  const accounts = bench.sizes.sharedAccounts;
  await using shops = await openShops(bench, 'fair_share', { accounts, settings: HURRY });
  shops.begin();
  const { workers } = shops;
  await Promise.all(Array.from({ length: WORKERS }, () => workers.start()));
  await shops.untilFair(WORKERS);
  await workers.start();
  const joined = await watch(shops, WORKERS + 1, accounts);
  bench.say(`accounts: a worker has joined ${WORKERS} that share ${accounts} accounts, and now one leaves`);
  workers.alive[0]?.process.kill('SIGTERM');
  const left = await watch(shops, WORKERS, accounts);
  return [...figuresOf('joined', joined), ...figuresOf('left', left)];
}

/** Watches the shares from a change on. */
async function watch(shops: Shops, workers: number, accounts: number) {
  const end = delay(FAIR_AFTER_MS);
  const fairMs = await shops.untilFair(workers);
  await end;
  const sizes = (await shops.seen()).map((worker) => worker.accounts.length);
  const undriven = accounts - sizes.reduce((sum, size) => sum + size, 0);
  return { fairS: fairMs / 1_000, over: Math.max(...sizes) - Math.min(...sizes), undriven };
}

function figuresOf(change: string, { fairS, over, undriven }: Awaited<ReturnType<typeof watch>>): Figure[] {
  const after = `${FAIR_AFTER_MS / 1_000} s after a worker ${change}`;
  return [
    { name: `most over another, ${after}`, unit: 'accounts', value: over, target: { atMost: MOST_OVER } },
    { name: `owned by no worker, ${after}`, unit: 'accounts', value: undriven, target: { atMost: 0 } },
    { name: `a worker ${change}, shares fair`, unit: 's', value: fairS },
  ];
}
