import { startChild, startEngine, startSandboxChild } from './child.ts';
import { middle, quantile, type Figure } from './figures.ts';
import { insertOrders } from './orders.ts';
import type { Round, Took } from './round.ts';
import type { Bench } from './settings.ts';

/** Rounds that are not counted. */
const WARM_UP = 3;

/** The targets of an order beside the same request of the bare loop: the rate at least, the CPU at most. */
const TARGETS = {
  create: { rate: 0.8, cpu: 1.2 },
  follow: { rate: 0.6, cpu: 1.6 },
  'follow, nothing new': { rate: 0.8, cpu: 1.15 },
} as const;

/** A round of the engine and the same round of the bare loop, one right after the other. */
interface Pair {
  readonly engine: Took;
  readonly bare: Took;
}

/**
 * Orders a second, created and followed, of the whole engine and of a bare loop of requests. They take turns within one
 * run, each going first half of the time: only what was measured side by side is compared. Each order is looked up once
 * when it has changed, which is the most that a look-up can cost, and once when it has not, as most are.
 */
export async function measureThroughput({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  await using sandbox = await startSandboxChild(folder);
  const { url } = sandbox.ready;
  await using engine = await startEngine(folder, url, path);
  await using bare = await startChild<Round, Took>('./bare.ts', [url], { folder, name: 'bare' });
  let aheadMs = 0;
  const measure = async (kind: Round['kind'], round: number, isTurned: boolean): Promise<Pair> => {
    if (kind === 'create') insertOrders(path, `round${round}`, sizes.orders);
    const ofEngine = () => engine.ask({ kind, batch: `round${round}`, count: sizes.orders, aheadMs });
    const ofBare = () => bare.ask({ kind, batch: `bare${round}`, count: sizes.orders, aheadMs });
    if (!isTurned) return { engine: await ofEngine(), bare: await ofBare() };
    const first = await ofBare();
    return { engine: await ofEngine(), bare: first };
  };
  const created: Pair[] = [];
  const followed: Pair[] = [];
  const unchanged: Pair[] = [];
  // The first rounds warm both sides up: the engine of V8 compiles what runs often, and a daemon runs for months.
  for (let round = 1 - WARM_UP; round <= sizes.rounds; round += 1) {
    const isTurned = round % 2 === 1;
    const create = await measure('create', round, isTurned);
    if (round > 0) created.push(create);
    for (let stage = 1; stage <= sandbox.ready.stages; stage += 1) {
      await sandbox.ask({ kind: 'next-stage' });
      aheadMs += sandbox.ready.stageMs;
      const follow = await measure('follow', round, stage % 2 === Number(isTurned));
      if (round > 0) followed.push(follow);
      // A final order is not looked up again.
      if (stage === sandbox.ready.stages) continue;
      const again = await measure('follow', round, stage % 2 !== Number(isTurned));
      if (round > 0) unchanged.push(again);
    }
    say(`throughput: round ${round} of ${sizes.rounds}`);
  }
  return [
    ...compare('create', created, sizes.orders),
    ...compare('follow', followed, sizes.orders),
    ...compare('follow, nothing new', unchanged, sizes.orders),
  ];
}

function compare(kind: keyof typeof TARGETS, pairs: readonly Pair[], orders: number): Figure[] {
  const rate = ({ ms }: Took) => (orders * 1_000) / ms;
  const cpu = (side: keyof Pair) => pairs.map((pair) => pair[side].cpuMs / orders);
  return [
    { name: `${kind}, engine`, unit: 'orders/s', ...middle(pairs.map(({ engine }) => rate(engine))) },
    { name: `${kind}, bare got`, unit: 'orders/s', ...middle(pairs.map(({ bare }) => rate(bare))) },
    {
      name: `${kind}, engine / bare`,
      unit: '',
      ...middle(pairs.map(({ engine, bare }) => rate(engine) / rate(bare))),
      target: { atLeast: TARGETS[kind].rate },
    },
    {
      name: `${kind}, CPU of the engine / bare`,
      unit: '',
      ...middle(pairs.map(({ engine, bare }) => engine.cpuMs / bare.cpuMs)),
      target: { atMost: TARGETS[kind].cpu },
    },
    { name: `${kind}, CPU of the engine`, unit: 'ms/order', ...middle(cpu('engine')) },
    { name: `${kind}, CPU of bare got`, unit: 'ms/order', ...middle(cpu('bare')) },
    {
      name: `${kind}, commits (one sync each)`,
      unit: '/order',
      value: quantile(
        pairs.map(({ engine }) => engine.commits / orders),
        0.5,
      ),
    },
  ];
}
