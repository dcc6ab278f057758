import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { OWNER, PASSWORD } from '../support/postgres-server.ts';
import { until } from '../windtunnel/promoted.ts';
import { PORTS } from './network.ts';
import { others, WORKERS, type World, type WorkerName } from './world.ts';

/** A trial of a cell: what is done may differ from one to the next. */
export interface Turn {
  readonly world: World;
  /** From 0. */
  readonly number: number;
  /** Something is lost about now: the next request is waited for. */
  readonly lost: () => void;
}

/** The disturbance of the machines. The trial heals, plugs in and starts again whatever is missing afterwards. */
export type Disturbance = (turn: Turn) => Promise<void>;

/** Longer than any heartbeat and lease. */
const CUT_MS = 10_000;
const ETCD_GONE_MS = 15_000;
const SPLIT_MS = 20_000;
const STEPS_BEHIND_MS = [0, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 1_000, 2_000, 3_000];
const EXHAUSTED_MS = 8_000;
const POOLER_GONE_MS = 5_000;
const CLOCK_MS = 6_000;
/** The effect of a full disk on a server shows in this time. */
const FULL_MS = 20_000;

/** Every row of the matrix. */
export const DISTURBANCES = {
  async 'worker-killed'({ world, lost }) {
    const owner = await world.owner();
    lost();
    await killWorker(world, owner);
  },
  'worker-stopped-1s': (turn) => stopOwner(turn, 1_000),
  'worker-stopped-5s': (turn) => stopOwner(turn, 5_000),
  'worker-stopped-30s': (turn) => stopOwner(turn, 30_000),
  'primary-lost': async (turn) => await losePrimary(turn),
  'primary-and-owner-lost': async (turn) => await losePrimary(turn, await turn.world.owner()),
  async 'standby-behind'(turn) {
    const { world, number } = turn;
    const primary = world.lastPrimary().name;
    // A synchronous standby that receives nothing has every commit wait: the other one falls behind.
    const behind =
      world.plan.replication === 'asynchronous' ? others(primary) : [await world.cluster.standbyOf(primary, 'async')];
    for (const name of behind) world.network.cut(primary, name, 'of_postgres');
    const ms = STEPS_BEHIND_MS[number % STEPS_BEHIND_MS.length] ?? 0;
    world.scene.say(`${behind.join(' and ')} receive nothing for ${ms} ms`);
    const owner = await world.owner();
    await wait(ms);
    await losePrimary(turn, owner);
  },
  async 'switch-over'({ world, lost }) {
    const primary = world.lastPrimary();
    lost();
    const refusal = await world.cluster.switchOver(primary.name, await world.cluster.standbyOf(primary.name, 'sync'));
    if (refusal !== undefined) throw new Error(`Patroni refuses to switch over: ${refusal}`);
    await promoted(world, primary.timeLine);
  },
  /** It has commits that no standby has, comes back by pg_rewind, and is the primary once more. */
  async 'old-primary-back'(turn) {
    const { world } = turn;
    const { name } = world.lastPrimary();
    for (const standby of others(name)) world.network.cut(name, standby, 'of_postgres');
    await wait(1_000);
    await losePrimary(turn);
    world.network.heal();
    world.cluster.bringBack(name);
    const primary = await world.cluster.healthy();
    if ((await world.cluster.standbyOf(primary.name, 'sync')) !== name && world.plan.replication !== 'asynchronous')
      return;
    const refusal = await world.cluster.switchOver(primary.name, name);
    if (refusal !== undefined) world.scene.say(`Patroni refuses to switch back: ${refusal}`);
    else await promoted(world, primary.timeLine);
  },
  /** Patroni of the old primary stands still, so that nothing ends PostgreSQL there. A watchdog would. */
  async split({ world, number }) {
    const { network, cluster } = world;
    const { name, timeLine } = world.lastPrimary();
    const owner = await world.owner();
    const left = number % 2 === 0 ? owner : (WORKERS.find((one) => one !== owner) ?? owner);
    world.scene.say(`${left} is left with ${name}`);
    cluster.on(name).signal('patroni', 'SIGSTOP');
    for (const here of [name, left]) {
      const there = here === name ? [...others(name), ...WORKERS.filter((one) => one !== left)] : others(name);
      for (const one of there) cutBoth(world, here, one, 'both');
    }
    await promoted(world, timeLine);
    await wait(SPLIT_MS);
    await cluster.on(name).kill('patroni');
    network.heal();
  },
  async 'etcd-lost'({ world, lost }) {
    const primary = world.lastPrimary().name;
    lost();
    await Promise.all(others(primary).map((name) => world.cluster.on(name).kill('etcd')));
    await wait(ETCD_GONE_MS);
    for (const name of others(primary)) world.cluster.on(name).start('etcd');
  },
  async 'worker-database-cut'({ world, number, lost }) {
    const owner = await world.owner();
    lost();
    for (const name of others()) cutBoth(world, owner, name, directionOf(number));
    await wait(CUT_MS);
    world.network.heal();
  },
  async 'worker-exchange-cut'({ world, number, lost }) {
    const owner = await world.owner();
    lost();
    cutBoth(world, owner, 'harness', directionOf(number));
    await wait(CUT_MS);
    world.network.heal();
  },
  async 'primary-standby-cut'({ world, number, lost }) {
    const primary = world.lastPrimary().name;
    const standby = await world.cluster.standbyOf(primary, 'sync');
    lost();
    cutBoth(world, primary, standby, directionOf(number));
    await wait(CUT_MS);
    world.network.heal();
  },
  async 'disk-full'({ world, lost }) {
    const primary = world.lastPrimary().name;
    lost();
    world.cluster.diskOf(primary).fill();
    await world.cluster.useUpLog(primary);
    await wait(FULL_MS);
    world.cluster.diskOf(primary).empty();
  },
  async 'worker-clock'({ world, number }) {
    for (const offset of number % 2 === 0 ? ['+1h', '+0'] : ['-1h', '+0']) {
      world.clock?.set(offset);
      await wait(CLOCK_MS);
    }
  },
  async 'server-clock'({ world }) {
    for (const offset of ['-10m', '+0']) {
      world.clock?.set(offset);
      await wait(CLOCK_MS);
      const [row] = await world.query<{ now: Date }>('select clock_timestamp() as now');
      world.scene.say(`the server says ${row?.now.toISOString()}, it is ${new Date().toISOString()}`);
    }
  },
  async 'pooler-killed'({ world, lost }) {
    const primary = world.lastPrimary().name;
    lost();
    await world.cluster.on(primary).kill('pgbouncer');
    await wait(POOLER_GONE_MS);
    world.cluster.on(primary).start('pgbouncer');
  },
  async 'connections-exhausted'({ world, number, lost }) {
    const host = world.network.machine(world.lastPrimary().name).address;
    const taken: pg.Client[] = [];
    lost();
    for (const over = performance.now() + EXHAUSTED_MS; performance.now() < over;) {
      const client = new pg.Client({
        host,
        port: PORTS.postgres,
        user: OWNER,
        password: PASSWORD,
        database: 'postgres',
      });
      client.on('error', () => undefined);
      const isTaken = await client.connect().then(
        () => true,
        () => false,
      );
      if (isTaken) taken.push(client);
      else await wait(50);
      if (!isTaken && number % 2 === 1 && world.machines.size === WORKERS.length) await killOwner(world);
    }
    await Promise.all(taken.map((client) => client.end()));
  },
} as const satisfies Record<string, Disturbance>;

/** A row of the matrix. */
export type RowName = keyof typeof DISTURBANCES;

type Direction = 'both' | 'out' | 'in';

function directionOf(number: number): Direction {
  return (['both', 'out', 'in'] as const)[number % 3] ?? 'both';
}

function cutBoth({ network }: World, here: string, there: string, direction: Direction): void {
  if (direction !== 'in') network.cut(here, there);
  if (direction !== 'out') network.cut(there, here);
}

async function killOwner(world: World): Promise<void> {
  await killWorker(world, await world.owner());
}

async function killWorker({ machines, scene }: World, name: WorkerName): Promise<void> {
  const worker = machines.get(name);
  machines.delete(name);
  scene.judge.interrupted();
  if (worker !== undefined && scene.workers.alive.includes(worker)) await scene.workers.kill(worker);
  scene.judge.interrupted();
}

async function stopOwner({ world, lost }: Turn, ms: number): Promise<void> {
  const worker = world.machines.get(await world.owner());
  world.scene.judge.interrupted();
  lost();
  worker?.process.kill('SIGSTOP');
  await wait(ms);
  worker?.process.kill('SIGCONT');
  world.scene.judge.interrupted();
}

/** The machine of the primary is lost, and that of a worker; resolves when another server takes writes. */
async function losePrimary({ world, lost }: Turn, worker?: WorkerName): Promise<void> {
  const { name, timeLine } = world.lastPrimary();
  lost();
  await Promise.all([world.cluster.lose(name), worker === undefined ? undefined : killWorker(world, worker)]);
  world.scene.say(worker === undefined ? `${name} is lost` : `${name} and ${worker} are lost`);
  await promoted(world, timeLine);
}

/** Resolves when a server takes writes on a later time-line. */
async function promoted(world: World, timeLine: number): Promise<void> {
  await until(world, 'another primary', async () => world.lastPrimary().timeLine > timeLine);
  const { name, timeLine: next } = world.lastPrimary();
  world.scene.say(`${name} is the primary on time-line ${next}`);
}
