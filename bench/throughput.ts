import { startChild, type Child } from './child.ts';
import { median } from './figures.ts';
import type { Round, Took } from './round.ts';

const KEY = 'bench-key';
const ROUNDS = 6;
const ORDERS = 1_200;

export interface Comparison {
  readonly enginePerSecond: number;
  readonly barePerSecond: number;
  readonly ratio: number;
  readonly engineCpuMs: number;
  readonly bareCpuMs: number;
}

export async function measureThroughput(folder: string, path: string, say: (text: string) => void) {
  await using sandbox = await startChild<{ url: string; stages: number }>('./sandbox.ts', [KEY], {
    folder,
    name: 'sandbox',
  });
  const args = [sandbox.ready.url, KEY, path];
  await using engine = await startChild('./engine.ts', args, { folder, name: 'engine' });
  await using bare = await startChild('./bare.ts', args, { folder, name: 'bare' });
  const sides = [engine, bare] as const;
  const rounds: Record<Round['kind'], { engine: Took; bare: Took }[]> = { create: [], follow: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const batch = `round${round}`;
    const ask = async (kind: Round['kind'], isTurned: boolean) => {
      const order = isTurned ? sides.toReversed() : sides;
      const took = new Map<Child, Took>();
      for (const side of order) {
        const mine = side === engine ? batch : `bare-${batch}`;
        took.set(side, await side.ask<Took>({ kind, batch: mine, count: ORDERS } satisfies Round));
      }
      return { engine: took.get(engine)!, bare: took.get(bare)! };
    };
    const created = await ask('create', round % 2 === 1);
    const followed = [];
    for (let stage = 1; stage <= sandbox.ready.stages; stage += 1) {
      await sandbox.ask({});
      followed.push(await ask('follow', false));
      if (stage < sandbox.ready.stages) followed.push(await ask('follow', true));
    }
    if (round === 0) continue;
    rounds.create.push(created);
    rounds.follow.push(...followed);
    say(`round ${round}: create ${show([created])}, follow ${show(followed)}`);
  }
  return { create: compare(rounds.create), follow: compare(rounds.follow) };
}
function show(r: { engine: Took; bare: Took }[]) {
  const c = compare(r);
  return `${c.enginePerSecond.toFixed(0)}/${c.barePerSecond.toFixed(0)} = ${c.ratio.toFixed(3)} cpu ${c.engineCpuMs.toFixed(3)}/${c.bareCpuMs.toFixed(3)}`;
}
function compare(r: { engine: Took; bare: Took }[]): Comparison {
  const rate = ({ ms }: Took) => (ORDERS * 1_000) / ms;
  return {
    enginePerSecond: median(r.map((x) => rate(x.engine))),
    barePerSecond: median(r.map((x) => rate(x.bare))),
    ratio: median(r.map((x) => rate(x.engine) / rate(x.bare))),
    engineCpuMs: median(r.map((x) => x.engine.cpuMs / ORDERS)),
    bareCpuMs: median(r.map((x) => x.bare.cpuMs / ORDERS)),
  };
}
