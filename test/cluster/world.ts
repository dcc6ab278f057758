import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Replication } from '../../src/extensions/sandbox/cluster/node.ts';
import { OWNER, PASSWORD } from '../support/postgres-server.ts';
import type { Ground } from '../windtunnel/ground.ts';
import { falseClock, type FalseClock } from '../windtunnel/machine.ts';
import type { Driven } from '../windtunnel/promoted.ts';
import { setScene } from '../windtunnel/scene.ts';
import { shopBy } from '../windtunnel/shop.ts';
import type { Worker } from '../windtunnel/workers.ts';
import { openNetwork, PORTS, type Network } from './network.ts';
import { Cluster, DATABASES, POOLER, type DatabaseName, type Primary } from './patroni.ts';

/** The machines of the workers. */
export const WORKERS = ['w1', 'w2', 'w3'] as const;
/** One of them. */
export type WorkerName = (typeof WORKERS)[number];

/** A machine for the commands of a person, which nothing disturbs. */
const DESK = 'desk';
const NAME = 'tunnel';
const LOOKS_EVERY_MS = 100;
const ANSWERS_WITHIN_MS = 60_000;

/** The needs of a world beside the cluster. */
export interface WorldNeeds {
  /** This many workers may own the account at a time: two in a split. */
  readonly owners?: number;
  /** The clock of workers, or of servers, can be set. */
  readonly falseClock?: 'worker' | 'server';
  /** Workers come to the databases through PgBouncer. */
  readonly isPooled?: boolean;
}

/** How a world is set. */
export interface WorldPlan extends WorldNeeds {
  readonly replication: Replication;
  /** `database.synchronousStandbys`. */
  readonly standbys: 0 | 1;
  readonly seed: number;
}

/** A cluster with three workers that share an account, an exchange and a shop. It stays up for many trials. */
export interface World extends Driven {
  readonly plan: WorldPlan;
  readonly network: Network;
  readonly cluster: Cluster;
  readonly machines: Map<WorkerName, Worker>;
  /** As it was last seen. */
  readonly lastPrimary: () => Primary;
  readonly start: (name: WorkerName) => Worker;
  /** The worker that drives the account. */
  readonly owner: () => Promise<WorkerName>;
  /** Checks the database; returns what is wrong with it. */
  readonly check: () => Promise<string | undefined>;
  readonly clock: FalseClock | undefined;
}

/** Starts a world; everything in it goes with `undo`. */
export async function startWorld(
  undo: AsyncDisposableStack,
  bin: string,
  plan: WorldPlan,
  say: (text: string) => void,
): Promise<World> {
  const network = undo.use(await openNetwork([...DATABASES, ...WORKERS, DESK]));
  const clock = plan.falseClock === undefined ? undefined : falseClock(network.folder);
  const { replication } = plan;
  const environment = plan.falseClock === 'server' ? clock?.environment : undefined;
  const cluster = undo.use(
    await new Cluster({
      network,
      bin,
      replication,
      database: NAME,
      environment,
      isPooled: plan.isPooled,
    }).start(),
  );
  const follower = undo.use(await followPrimary(cluster));
  const scene = await setScene(undo, {
    groundIn: () => groundOf(plan, network, follower),
    accounts: 1,
    owners: plan.owners ?? 1,
    seed: plan.seed,
    say,
    elsewhere: { exchangeHost: network.address, prefix: network.machine(DESK).prefix },
  });
  for (const name of [...WORKERS, DESK]) network.lead(name, scene.front.port, network.address);
  const [account = ''] = scene.accounts;
  const machines = new Map<WorkerName, Worker>();
  const marksOf = (name: WorkerName) => ({ ORDER_SYNC_DATABASE_MARKS: join(scene.folder, `marks-${name}.db`) });
  const start = (name: WorkerName) => {
    const wrong = plan.falseClock === 'worker' ? clock?.environment : {};
    const worker = scene.workers.startEarly({ ...marksOf(name), ...wrong }, network.machine(name).prefix);
    machines.set(name, worker);
    return worker;
  };
  await Promise.all(WORKERS.map((name) => start(name).ready));
  const query: Driven['query'] = async (sql) => (await follower.query<never>(sql)).rows;
  const owner = () => ownerOf(query, machines);
  const startEnded = () => {
    for (const [name, worker] of machines) {
      if (scene.workers.alive.includes(worker)) continue;
      say(`the worker of ${name} has ended and is started again: ${worker.said.slice(-300)}`);
      start(name);
    }
  };
  const check = async () => {
    const checked = scene.workers.begin(['db', 'check', '--chain'], marksOf(await owner()));
    return (await checked.ended) === 0 ? undefined : checked.said;
  };
  const lastPrimary = () => follower.last();
  return {
    plan,
    network,
    cluster,
    scene,
    account,
    machines,
    query,
    startEnded,
    lastPrimary,
    start,
    owner,
    check,
    clock,
  };
}

interface Follower extends AsyncDisposable {
  readonly last: () => Primary;
  /** Asks the newest primary, and waits for one. */
  readonly query: <Found extends pg.QueryResultRow>(sql: string) => Promise<{ readonly rows: readonly Found[] }>;
  readonly pool: () => pg.Pool;
}

/** Knows at any moment which server takes writes. */
async function followPrimary(cluster: Cluster): Promise<Follower> {
  let last = await cluster.healthy();
  const isOver = new AbortController();
  const following = (async () => {
    while (!isOver.signal.aborted) {
      last = (await cluster.primary()) ?? last;
      await wait(LOOKS_EVERY_MS, undefined, { signal: isOver.signal }).catch(() => undefined);
    }
  })();
  const pool = () => cluster.pool(last.name, OWNER);
  return {
    last: () => last,
    pool,
    async query<Found extends pg.QueryResultRow>(sql: string) {
      for (const late = performance.now() + ANSWERS_WITHIN_MS; ; await wait(LOOKS_EVERY_MS)) {
        try {
          return await pool().query<Found>(sql);
        } catch (error) {
          if (performance.now() > late) throw error;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      isOver.abort();
      await following;
    },
  };
}

function groundOf({ standbys, isPooled = false }: WorldPlan, network: Network, follower: Follower): Ground {
  const port = isPooled ? POOLER : PORTS.postgres;
  const hosts = DATABASES.map((name) => `${network.machine(name).address}:${port}`);
  const once = shopBy((sql, values) => follower.pool().query(sql, values));
  const patient = shopBy((sql) => follower.query(sql));
  return {
    database: {
      url: `postgres://${OWNER}@${hosts.join(',')}/${NAME}`,
      password: PASSWORD,
      tls: 'off',
      poolSize: 8,
      synchronousStandbys: standbys,
    },
    shop: { ...patient, insert: once.insert, async [Symbol.asyncDispose]() {} },
    async [Symbol.asyncDispose]() {},
  };
}

async function ownerOf(query: Driven['query'], machines: ReadonlyMap<WorkerName, Worker>): Promise<WorkerName> {
  for (;;) {
    const [row] = await query<{ holder: string | null }>('select holder from account_owners');
    for (const [name, worker] of machines) if (row?.holder?.includes(`:${worker.process.pid}:`)) return name;
    await wait(LOOKS_EVERY_MS);
  }
}

/** Tells which machines of the database are none of these. */
export function others(...names: readonly DatabaseName[]): readonly DatabaseName[] {
  return DATABASES.filter((name) => !names.includes(name));
}
