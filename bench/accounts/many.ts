import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { middle, quantile, type Figure } from '../figures.ts';
import { cpuMsOf } from '../process.ts';
import { fillOrders } from './fill.ts';
import type { ServerBench } from './server.ts';
import { accountOf, openShops, type SeenWorker, type Shops } from './shops.ts';
import { Arrivals } from './take-over.ts';

/** One of this many accounts is busy when a worker is killed. */
const BUSY_EACH = 100;
/** Shops insert for so long before a worker is killed. */
const BUSY_MS = 20_000;
const FAIR_AFTER_MS = 10_000;
const LOOK_MS = 200;
const TARGETS = { percent: 1, statements: 15, takenS: 3.5, nextS: 4.5, over: 1 };

/** Many accounts on one server that real processes share, each with orders of years: what they cost idle, and how one follows another. */
export async function measureMany(bench: ServerBench): Promise<Figure[]> {
  const { accounts, workers, orders, kills } = bench.sizes.many;
  const arrivals = new Arrivals();
  const busy = Array.from({ length: Math.ceil(accounts / BUSY_EACH) }, (_, index) => accountOf(index * BUSY_EACH));
  await using shops = await openShops(bench, 'many', {
    accounts,
    busy,
    onRequest: (account, { monotonic }) => arrivals.note(account, monotonic),
  });
  await fillOrders(shops.admin, { orders, accounts, isHalfPending: false }, bench.say);
  await Promise.all(Array.from({ length: workers }, () => shops.workers.start()));
  const startS = (await shops.untilFair(workers)) / 1_000;
  bench.say(`accounts: ${workers} workers share ${accounts} accounts with ${orders} orders`);
  const idle = await watchIdle(bench, shops);
  shops.begin();
  await delay(BUSY_MS);
  const taken: TakenOver[] = [];
  for (let kill = 1; kill <= kills; kill += 1) {
    taken.push(await killOne(shops, busy, arrivals));
    bench.say(`accounts: worker ${kill} of ${kills} killed`);
  }
  const name = `${workers} workers, ${accounts} accounts`;
  return [
    { name: `${name}: all driven`, unit: 's', value: startS },
    ...idle.map((figure) => ({ ...figure, name: `${name}: ${figure.name}` })),
    ...takenOver(taken).map((figure) => ({ ...figure, name: `${name}: ${figure.name}` })),
  ];
}

async function watchIdle({ sizes, say }: ServerBench, { admin, workers }: Shops): Promise<Figure[]> {
  say(`accounts: idle for ${(sizes.many.settleMs + sizes.idleMs) / 1_000} s`);
  await delay(sizes.many.settleMs);
  const cpu = () => workers.alive.map(({ process }) => cpuMsOf(process.pid ?? 0));
  const [cpuBefore, before, start] = [cpu(), await transactions(admin), performance.now()];
  await delay(sizes.idleMs);
  const [cpuAfter, after, ms] = [cpu(), await transactions(admin), performance.now() - start];
  const percents = cpuAfter.map((used, index) => (100 * (used - (cpuBefore[index] ?? 0))) / ms);
  return [
    { name: 'an idle worker, CPU', unit: '% of a core', ...middle(percents), target: { atMost: TARGETS.percent } },
    {
      name: 'statements while idle',
      unit: '/s',
      value: ((after - before) * 1_000) / ms,
      target: { atMost: TARGETS.statements },
    },
  ];
}

/** The transactions of the database: an idle worker runs one statement in each. */
async function transactions(admin: pg.Pool): Promise<number> {
  const { rows } = await admin.query<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.count);
}

interface TakenOver {
  /** From the kill until each account of the killed worker was claimed, in seconds. */
  readonly claimed: readonly number[];
  /** From the kill until the next request of each of its busy accounts, in seconds. */
  readonly arrived: readonly number[];
  /** Most accounts of a worker over another, after the time for it. */
  readonly over: number;
}

function takenOver(all: readonly TakenOver[]): Figure[] {
  const [claimed, arrived] = [all.flatMap((one) => one.claimed), all.flatMap((one) => one.arrived)];
  return [
    { name: 'SIGKILL until claimed', unit: 's', ...middle(claimed), target: { atMost: TARGETS.takenS } },
    { name: 'SIGKILL until the next request', unit: 's', ...middle(arrived), target: { atMost: TARGETS.nextS } },
    { name: 'SIGKILL until the next request, 95 %', unit: 's', value: quantile(arrived, 0.95) },
    {
      name: `most accounts over, ${FAIR_AFTER_MS / 1_000} s after a start`,
      unit: 'accounts',
      ...middle(all.map(({ over }) => over)),
      target: { atMost: TARGETS.over },
    },
  ];
}

/** Kills the worker that has lived longest, and once its accounts are taken over starts another, which takes its share. */
async function killOne(shops: Shops, busy: readonly string[], arrivals: Arrivals): Promise<TakenOver> {
  const { workers, admin } = shops;
  const [killed] = workers.alive;
  if (killed === undefined) throw new Error('no worker lives');
  const isKilled = ({ holder }: SeenWorker) => holder.includes(`:${killed.process.pid}:`);
  const { holder = '', accounts = [] } = (await shops.seen()).find(isKilled) ?? {};
  const driven = busy.filter((account) => accounts.includes(account));
  const at = systemClock().monotonic();
  await workers.kill(killed);
  const arriving = arrivals.after(driven, at);
  const claimed = await claimedAfter(admin, holder, accounts);
  const arrived = await arriving;
  await workers.start();
  await delay(FAIR_AFTER_MS);
  const sizes = (await shops.seen()).map((worker) => worker.accounts.length);
  return { claimed, arrived, over: Math.max(...sizes) - Math.min(...sizes) };
}

/** By the database's own times, which are read when all is over. */
async function claimedAfter(admin: pg.Pool, holder: string, accounts: readonly string[]): Promise<readonly number[]> {
  const { rows: now } = await admin.query<{ ms: number }>(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  );
  for (;;) {
    const { rows } = await admin.query<{ account: string; at: string }>(
      `select account, granted_at as at from account_owners where account = any($1) and holder is not null and holder <> $2`,
      [accounts, holder],
    );
    if (rows.length === accounts.length) return rows.map(({ at }) => (Date.parse(at) - (now[0]?.ms ?? 0)) / 1_000);
    await delay(LOOK_MS);
  }
}
