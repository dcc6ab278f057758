import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { quantile, type Figure } from '../figures.ts';
import type { ServerBench } from './server.ts';
import { HURRY, openShops, type Shops } from './shops.ts';

const WORKERS = 3;
const ACCOUNTS = 9;
const MEDIAN_S = 3.5;
const WORST_S = 5;
/** A kill comes at any moment between two heartbeats. */
const BEAT_MS = 1_000;
/** A request that a process has sent before it was killed may arrive this late; no worker takes an account over so early. */
const ON_ITS_WAY_MS = 1_000;
/** An account without an owner for this time counts as having none. */
const LONGEST_MS = 30_000;

/** The time from a SIGKILL until the next request of each account that the process drove arrives at the exchange. */
export async function measureTakeOver(bench: ServerBench): Promise<Figure[]> {
  const arrivals = new Arrivals();
  await using shops = await openShops(bench, 'take_over', {
    accounts: ACCOUNTS,
    settings: HURRY,
    onRequest: (account, { monotonic }) => arrivals.note(account, monotonic),
  });
  shops.begin();
  const { workers } = shops;
  await Promise.all(Array.from({ length: WORKERS }, () => workers.start()));
  const random = seededRandom(1);
  const seconds: number[] = [];
  for (let kill = 1; kill <= bench.sizes.kills; kill += 1) {
    await shops.untilFair(WORKERS);
    await delay(BEAT_MS * (1 + random()));
    seconds.push(...(await killOne(shops, arrivals)));
    bench.say(
      `accounts: worker ${kill} of ${bench.sizes.kills} killed, ${seconds
        .slice(-WORKERS)
        .map((s) => s.toFixed(2))
        .join(', ')} s`,
    );
  }
  const range = [Math.min(...seconds), Math.max(...seconds)] as const;
  return [
    { name: 'take-over, median', unit: 's', value: quantile(seconds, 0.5), range, target: { atMost: MEDIAN_S } },
    { name: `take-over, worst of ${seconds.length}`, unit: 's', value: range[1], target: { atMost: WORST_S } },
  ];
}

/** Kills the worker that has lived longest, and starts another as pm2 does. */
async function killOne(shops: Shops, arrivals: Arrivals): Promise<number[]> {
  const { workers } = shops;
  const [killed] = workers.alive;
  if (killed === undefined) throw new Error('no worker lives');
  const driven = (await shops.seen()).find(({ holder }) => holder.includes(`:${killed.process.pid}:`))?.accounts ?? [];
  const at = systemClock().monotonic();
  await workers.kill(killed);
  // Something is due in each of its accounts when it is taken over.
  const [taken] = await Promise.all([arrivals.after(driven, at), workers.start(), shops.insert()]);
  return taken;
}

/** When requests of each account arrive. */
export class Arrivals {
  #note: (account: string, at: number) => void = () => {};

  note(account: string, at: number): void {
    this.#note(account, at);
  }

  /** The seconds until the next request of each account. */
  async after(accounts: readonly string[], killedAt: number): Promise<number[]> {
    const taken = new Map<string, number>();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#note = (account, at) => {
      if (at < killedAt + ON_ITS_WAY_MS || !accounts.includes(account) || taken.has(account)) return;
      taken.set(account, (at - killedAt) / 1_000);
      if (taken.size === accounts.length) resolve();
    };
    const patience = new AbortController();
    await Promise.race([promise, delay(LONGEST_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    return accounts.map((account) => taken.get(account) ?? LONGEST_MS / 1_000);
  }
}
