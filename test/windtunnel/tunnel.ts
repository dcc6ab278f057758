import { setTimeout as wait } from 'node:timers/promises';
import { DISTURBANCES, type DisturbanceName } from './disturbances.ts';
import type { Ground } from './ground.ts';
import type { Judge, Verdict } from './judge.ts';
import { setScene, type Scene } from './scene.ts';

/** How much is done to the processes. */
export interface Dose {
  readonly workers: number;
  readonly accounts: number;
  /** How often each disturbance comes. */
  readonly disturbances: Readonly<Partial<Record<DisturbanceName, number>>>;
  readonly seed: number;
}

/** Each shop inserts an order so often. */
const INSERT_EVERY_MS = 800;
/** The next thing happens this long after the one before. */
const BETWEEN_MS = 700;
/** Breakers and holds of what was before may last so long, and a slow machine takes its time. */
const SETTLES_WITHIN_MS = 1_800_000;
/** A look-up that may wait for long is made at once after this time. */
const SYNC_EVERY_MS = 20_000;

/** The result of a tunnel, with its disturbances. */
export interface TunnelResult extends Verdict {
  readonly kills: number;
  readonly disturbances: number;
  readonly faults: number;
  /** The disturbances for which this machine lacks something. */
  readonly skipped: readonly string[];
}

/**
 * Has real processes drive accounts on a real database while they are killed and stopped, and while the exchange, the way to it,
 * the disk and the clock fail; then lets them come to rest, and judges from outside what became of every order.
 */
export async function runTunnel(
  groundIn: (folder: string) => Ground | Promise<Ground>,
  dose: Dose,
  say: (text: string) => void,
): Promise<TunnelResult> {
  await using undo = new AsyncDisposableStack();
  const { accounts, seed } = dose;
  const tunnel = await setScene(undo, { groundIn, accounts, seed, say });
  const { workers, front } = tunnel;

  await Promise.all(Array.from({ length: dose.workers }, () => workers.start()));
  const isOver = new AbortController();
  const inserting = insertOrders(tunnel, INSERT_EVERY_MS, isOver.signal);
  const skipped = await disturb(tunnel, dose);
  isOver.abort();
  await inserting;
  const { kills } = workers;
  await settle(tunnel, dose.workers);
  await workers.stop();
  const verdict = await tunnel.verdict();
  const disturbances = Object.values(dose.disturbances).reduce((sum, times) => sum + times, 0) - skipped.length;
  const faults = [...front.met.values()].reduce((sum, times) => sum + times, 0);
  return { ...verdict, kills, disturbances, faults, skipped };
}

/** Each shop inserts an order at this interval in milliseconds until it is over. */
export async function insertOrders(
  { accounts, ground, judge }: Pick<Scene, 'accounts' | 'ground'> & { readonly judge: Pick<Judge, 'inserted'> },
  everyMs: number,
  isOver: AbortSignal,
) {
  const insertOf = async (account: string) => {
    for (let number = 1; !isOver.aborted; number += 1) {
      const id = `${account}:${number}`;
      // If the database was away it may have been inserted all the same.
      if (await ground.shop.insert(account, id)) judge.inserted(account, id);
      await wait(everyMs, undefined, { signal: isOver }).catch(() => undefined);
    }
  };
  await Promise.all(accounts.map(insertOf));
}

/**
 * Does everything that is planned, one after the other, in an order that the seed decides; returns the disturbances that
 * cannot be done here.
 */
async function disturb(tunnel: Scene, { disturbances, workers: count }: Dose): Promise<string[]> {
  const { random, workers, say } = tunnel;
  const planned = Object.entries(disturbances) as [DisturbanceName, number][];
  const names = planned.flatMap(([name, times]) => Array.from({ length: times }, () => name));
  const skipped: string[] = [];
  // From the start something is wrong on the way to the exchange.
  for (const name of ['weather' as const, ...shuffled(names, random)]) {
    await wait(BETWEEN_MS * (0.5 + random()));
    say(name);
    const why = await DISTURBANCES[name](tunnel);
    if (typeof why === 'string') skipped.push(`${name}: ${why}`);
    // Who looks after processes starts again what has ended.
    while (workers.alive.length < count) await workers.start();
  }
  return skipped;
}

/**
 * Waits until no work is left. Faults may keep breakers open for minutes, so all begin anew, and look-ups that are planned
 * for later are made at once.
 */
export async function settle(tunnel: Scene, count: number): Promise<void> {
  const { workers, front, say } = tunnel;
  say('nothing goes wrong any more');
  front.weather = { share: 0, faults: [] };
  await workers.stop();
  await Promise.all(Array.from({ length: count }, () => workers.start()));
  await workers.run(['resume', '--account', 'all', '--reason', 'the tunnel is over']);
  await settled(tunnel);
}

/** Waits until every order is settled. Orders that may wait for long are looked up at once now and then. */
export async function settled({ ground, judge, workers, say }: Scene): Promise<void> {
  const until = Date.now() + SETTLES_WITHIN_MS;
  for (let syncAt = Date.now() + SYNC_EVERY_MS; ;) {
    const left = (await ground.shop.rows()).filter(({ state }) => !SETTLED.includes(state));
    if (left.length === 0) return;
    if (Date.now() > until) {
      judge.fail(
        `after ${SETTLES_WITHIN_MS} ms not settled: ${left.map(({ id, state }) => `${id} is ${state}`).join(', ')}`,
      );
      for (const { said } of workers.alive) say(said.slice(-2_000));
      return;
    }
    if (Date.now() > syncAt) {
      say(
        `${left.length} orders are not settled: ${left
          .slice(0, 5)
          .map(({ id, state }) => `${id} is ${state}`)
          .join(', ')}`,
      );
      for (const account of new Set(left.map((row) => row.account))) await workers.run(['sync', '--account', account]);
      syncAt = Date.now() + SYNC_EVERY_MS;
    }
    await wait(500);
  }
}

/** The judge says which orders may be in which of them. */
const SETTLED: readonly string[] = ['final', 'held', 'rejected', 'abandoned'];

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
