import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { FAULT_NAMES } from './faults.ts';
import { falseClock, lockFile } from './machine.ts';
import type { Scene } from './scene.ts';

/** A stopped process wakes after one of these: some are shorter than a heartbeat lasts. */
const STOPPED_MS = [500, 2_000, 3_200, 4_500, 7_000];
/** Each account of a killed process is waited for so long: what holds it may last longer. */
const TAKE_OVER_MS = 10_000;
const LOCKED_MS = 30_000;
/** The longest that a process is left to do something before it is killed. */
const SOON_MS = 1_500;
const SHARES = [0.1, 0.2, 0.3, 0.6];
const FAULTS_AT_A_TIME = 8;
const OWNED = 75;

/** The disturbances of the processes and of everything about them; returns the reason if one cannot be done here. */
type Disturbance = (tunnel: Scene) => Promise<string | void>;

/** Every disturbance by its name. */
export const DISTURBANCES = {
  kill: async (tunnel) => {
    const { judge, ground, random, workers } = tunnel;
    await wait(SOON_MS * random());
    const killed = oneOf(workers.alive, random);
    if (killed === undefined) return;
    const driven = await accountsOf(tunnel, killed.process.pid);
    await kill(tunnel, killed);
    judge.killed(driven, performance.now());
    await workers.start();
    if (ground.postgres !== undefined) await Promise.race([judge.allDriven(), wait(TAKE_OVER_MS)]);
  },
  /** Before it is ready, three times in a row. */
  killEarly: async (tunnel) => {
    const { random, workers } = tunnel;
    for (let times = 0; times < 3; times += 1) {
      const killed = oneOf(workers.alive, random);
      if (killed !== undefined) await kill(tunnel, killed);
      workers.startEarly();
      await wait(SOON_MS * random());
    }
    await workers.start();
  },
  killWhileAsked: async (tunnel) => {
    const { random, workers } = tunnel;
    const asked = ask(tunnel);
    await wait(SOON_MS * random());
    const killed = oneOf(workers.alive, random);
    if (killed !== undefined) await kill(tunnel, killed);
    await workers.start();
    await asked;
  },
  stop: async ({ workers, random, judge }) => {
    const stopped = oneOf(workers.alive, random);
    const ms = oneOf(STOPPED_MS, random) ?? 0;
    judge.interrupted();
    stopped?.process.kill('SIGSTOP');
    await wait(ms);
    stopped?.process.kill('SIGCONT');
    judge.interrupted();
  },
  ask: (tunnel) => ask(tunnel),
  /** Only one process drives a file. */
  second: async ({ workers, judge, ground }) => {
    if (ground.postgres !== undefined) return 'workers share a server';
    const code = await workers.run(['run']);
    if (code !== OWNED) judge.fail(`a second daemon ended with ${code}`);
  },
  backUp: async ({ workers, judge, ground, folder, random }) => {
    if (ground.path === undefined) return 'a server is backed up by its own tools';
    const copy = join(folder, `copy-${random()}.db`);
    const code = await workers.run(['db', 'backup', copy]);
    if (code !== 0) return judge.fail(`db backup ended with ${code}`);
    using database = closing(new Database(copy));
    const is = database.of.pragma('integrity_check', { simple: true });
    if (is !== 'ok') judge.fail(`a backup is damaged: ${String(is)}`);
  },
  weather: async ({ front, random, say }) => {
    const drawn = Array.from({ length: FAULTS_AT_A_TIME }, () => oneOf(FAULT_NAMES, random) ?? 'lost');
    // Every tunnel must show whether waits are kept.
    const faults = ['rate-limited', ...drawn] as const;
    front.weather = { share: oneOf(SHARES, random) ?? 0, faults };
    say(`${front.weather.share * 100} % of ${faults.join(', ')}`);
    await wait(SOON_MS);
  },
  refuse: ({ front }) => front.refuse(2_000),
  hang: ({ front }) => front.hang(4_000),
  wrongCertificate: (tunnel) => liveAt(tunnel, tunnel.front.wrongUrl),
  noName: (tunnel) => liveAt(tunnel, 'https://exchange.invalid'),
  rotateKey: async ({ rotateKey, accounts, random }) => await rotateKey(oneOf(accounts, random) ?? ''),
  cut: async ({ ground, random }) => {
    if (ground.postgres === undefined) return 'a file has no connections';
    ground.postgres.way.cut(oneOf([0.2, 0.5, 1], random) ?? 1, random);
  },
  restartServer: async ({ ground }) => await restart(ground, 'fast'),
  crashServer: async ({ ground }) => await restart(ground, 'immediate'),
  fullDisk: async (tunnel) => {
    const { ground, random } = tunnel;
    if (ground.disk === undefined) return 'this process may mount no disk';
    ground.disk.fill();
    await wait(2_000 + 2_000 * random());
    if (random() < 0.5) await killAndStart(tunnel);
    ground.disk.empty();
  },
  readOnlyDisk: async (tunnel) => {
    const { ground, workers } = tunnel;
    if (ground.disk === undefined) return 'this process may mount no disk';
    await killAll(tunnel);
    ground.disk.readOnly(true);
    await workers.start();
    await wait(2_000);
    await killAll(tunnel);
    ground.disk.readOnly(false);
  },
  foreignLock: async (tunnel) => {
    const { ground, random } = tunnel;
    if (ground.path === undefined) return 'rows of a server are locked one by one';
    const over = lockFile(ground.path, LOCKED_MS);
    await wait(LOCKED_MS * random());
    if (random() < 0.5) await killAndStart(tunnel);
    await over;
  },
  falseClock: async (tunnel) => {
    const clock = falseClock(tunnel.folder);
    if (clock === undefined) return 'faketime is not installed';
    await killAndStart(tunnel, clock.environment);
    for (const offset of ['+2h', '-3h', '+0', '-10d', '+0']) {
      await wait(2_500);
      clock.set(offset);
    }
    await wait(2_500);
    await killAndStart(tunnel);
  },
} as const satisfies Record<string, Disturbance>;

/** The name of a disturbance. */
export type DisturbanceName = keyof typeof DISTURBANCES;

async function kill({ workers, judge }: Scene, worker: Scene['workers']['alive'][number]): Promise<void> {
  judge.interrupted();
  await workers.kill(worker);
  judge.interrupted();
}

async function killAll(tunnel: Scene): Promise<void> {
  for (const worker of tunnel.workers.alive) await kill(tunnel, worker);
}

async function killAndStart(tunnel: Scene, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  const killed = oneOf(tunnel.workers.alive, tunnel.random);
  if (killed !== undefined) await kill(tunnel, killed);
  await tunnel.workers.start(environment);
}

/** A process has another address of the exchange for a while. */
async function liveAt(tunnel: Scene, baseUrl: string): Promise<void> {
  await killAndStart(tunnel, { ORDER_SYNC_EXCHANGE_BASE_URL: baseUrl });
  await wait(3_000);
  const [killed] = tunnel.workers.alive.slice(-1);
  if (killed !== undefined) await kill(tunnel, killed);
}

async function restart({ postgres }: Scene['ground'], how: 'fast' | 'immediate'): Promise<string | void> {
  if (postgres === undefined) return 'a file has no server';
  await postgres.server.stop(how);
  await postgres.server.start();
}

async function accountsOf({ ground, accounts }: Scene, pid: number | undefined): Promise<readonly string[]> {
  if (ground.postgres === undefined) return accounts;
  const { rows } = await ground.postgres.pool.query<{ account: string }>(
    `select account from account_owners where holder like '%:' || $1 || ':%'`,
    [String(pid)],
  );
  return rows.map(({ account }) => account);
}

/** A person asks for something; who is asked may be killed meanwhile. */
async function ask({ workers, judge, accounts, ground, random }: Scene): Promise<void> {
  const account = oneOf(accounts, random) ?? '';
  const why = ['--account', account, '--reason', 'a person wants it'];
  const kind = Math.floor(random() * 4);
  if (kind === 0) {
    const id = `${account}:person-${random()}`;
    const order = ['--external-order-id', id, '--asset', '0.1', '--from', 'BTC', '--to', 'EUR', '--account', account];
    if ((await workers.run(['orders', 'add', ...order])) === 0) judge.inserted(account, id);
  } else if (kind === 1) {
    await workers.run(['sync', '--account', account, '--timeout', '5s']);
  } else if (kind === 2) {
    await workers.run(['pause', ...why]);
    await wait(500);
    await workers.run(['resume', ...why]);
  } else {
    const held = oneOf(
      (await ground.shop.rows()).filter((row) => row.state === 'held'),
      random,
    );
    if (held === undefined) return;
    judge.abandoned(held.id);
    const decision = ['--as', 'abandoned', '--account', held.account, '--reason', 'a person wants it'];
    await workers.run(['orders', 'resolve', held.id, ...decision]);
  }
}

function closing(of: Database.Database): Disposable & { readonly of: Database.Database } {
  return { of, [Symbol.dispose]: () => void of.close() };
}

function oneOf<Item>(items: readonly Item[], random: () => number): Item | undefined {
  return items[Math.floor(random() * items.length)];
}
