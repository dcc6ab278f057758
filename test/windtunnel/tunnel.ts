import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/config.ts';
import { seededRandom } from '../../src/sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { openStore } from '../../src/store/open.ts';
import { DISTURBANCES, type DisturbanceName } from './disturbances.ts';
import { Front } from './front.ts';
import type { Ground } from './ground.ts';
import { Judge, type Verdict } from './judge.ts';
import { Workers } from './workers.ts';

/** How much is done to the processes. */
export interface Dose {
  readonly workers: number;
  readonly accounts: number;
  /** How often each disturbance comes. */
  readonly disturbances: Readonly<Partial<Record<DisturbanceName, number>>>;
  readonly seed: number;
}

const RATE = { requests: 20, intervalMs: 1_000 };
const CONCURRENCY = 4;
/** Each shop inserts an order so often. */
const INSERT_EVERY_MS = 400;
/** The next thing happens this long after the one before. */
const BETWEEN_MS = 700;
/** Breakers and holds of what was before may last so long, and a slow machine takes its time. */
const SETTLES_WITHIN_MS = 1_800_000;
/** What may wait for long is looked up at once after this time. */
const SYNC_EVERY_MS = 20_000;

const SETTINGS = {
  schedule: { cron: '* * * * * *' },
  create: { verifyAfter: ['1s', '2s', '4s', '8s'], pauseAfterUnknown: 1_000_000 },
  follow: { finalStatuses: ['COMPLETED', 'REJECTED'], openStatuses: ['REQUEST', 'IN_PROGRESS'], recheckFinalAfter: [] },
  ops: { listen: 'off' },
};

/** What a tunnel has at hand. */
export interface Tunnel {
  readonly folder: string;
  readonly say: (text: string) => void;
  readonly random: () => number;
  readonly ground: Ground;
  readonly workers: Workers;
  readonly accounts: readonly string[];
  readonly front: Front;
  readonly judge: Judge;
  /** Gives an account another key, from now on the only one that is taken. */
  readonly rotateKey: (account: string) => Promise<void>;
}

/** What came of a tunnel, with what was done in it. */
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
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-tunnel-'));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const ground = undo.use(await groundIn(folder));
  const accounts = Array.from({ length: dose.accounts }, (_, index) => `shop-${String(index + 1).padStart(2, '0')}`);
  const random = seededRandom(dose.seed + 1);
  const judge = new Judge(RATE);
  const sandbox = undo.adopt(await startSandboxOf(accounts, dose.seed), (exchange) => exchange.close());
  const front = undo.use(await new Front({ exchange: sandbox.url, random, watcher: judge }).start());
  const rotateKey = keysOf(folder, front);
  for (const account of accounts) await rotateKey(account);
  const settingsFile = join(folder, 'settings.yaml');
  writeFileSync(settingsFile, stringify(settingsOf(folder, accounts, ground, front)), { mode: 0o600 });
  const config = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile });
  await (await openStore(config.database, systemClock(), { expect: 'migrate' })).close();
  const fail = (what: string) => judge.fail(what);
  const workers = undo.use(new Workers({ folder, settingsFile, fail, tookMemory: (bytes) => judge.tookMemory(bytes) }));
  const tunnel: Tunnel = { folder, say, random, ground, workers, accounts, front, judge, rotateKey };

  await Promise.all(Array.from({ length: dose.workers }, () => workers.start()));
  const isOver = new AbortController();
  const inserting = Promise.all(accounts.map((account) => insertOrders(tunnel, account, isOver.signal)));
  const skipped = await disturb(tunnel, dose);
  isOver.abort();
  await inserting;
  const { kills } = workers;
  await settle(tunnel, dose);
  await workers.stop();
  await checkDatabase(tunnel);
  const keys = new Map(accounts.map((name) => [name, exchangeKeyOf(name)]));
  const verdict = await judge.judge({ shop: ground.shop, sandbox, accounts: keys });
  const disturbances = Object.values(dose.disturbances).reduce((sum, times) => sum + times, 0) - skipped.length;
  const faults = [...front.met.values()].reduce((sum, times) => sum + times, 0);
  return { ...verdict, kills, disturbances, faults, skipped };
}

async function startSandboxOf(accounts: readonly string[], seed: number): Promise<Sandbox> {
  const [apiKey = '', ...otherKeys] = accounts.map(exchangeKeyOf);
  return await startSandbox({ apiKey, otherKeys, clock: systemClock(), random: seededRandom(seed), speed: 20 });
}

function exchangeKeyOf(account: string): string {
  return `canary-exchange-key-of-${account}`;
}

function keyFileOf(folder: string, account: string): string {
  return join(folder, `${account}.key`);
}

function keysOf(folder: string, front: Front): (account: string) => Promise<void> {
  let number = 0;
  return async (account) => {
    const old = [...front.keys].find(([, taken]) => taken === exchangeKeyOf(account))?.[0];
    const key = `canary-key-${(number += 1)}-of-${account}`;
    const file = keyFileOf(folder, account);
    writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    front.keys.set(key, exchangeKeyOf(account));
    if (old !== undefined) front.keys.delete(old);
  };
}

function settingsOf(folder: string, accounts: readonly string[], { database }: Ground, { url }: Front): object {
  const accountOf = (name: string) => [name, { exchange: { apiKeyFile: keyFileOf(folder, name) } }];
  return {
    ...SETTINGS,
    database,
    exchange: { baseUrl: url, rate: { requests: RATE.requests }, concurrency: CONCURRENCY, timeout: '3s' },
    accounts: Object.fromEntries(accounts.map(accountOf)),
  };
}

async function insertOrders({ ground, judge }: Tunnel, account: string, isOver: AbortSignal): Promise<void> {
  for (let number = 1; !isOver.aborted; number += 1) {
    const id = `${account}:${number}`;
    // Where the database was away it may have been inserted all the same.
    if (await ground.shop.insert(account, id)) judge.inserted(account, id);
    await wait(INSERT_EVERY_MS, undefined, { signal: isOver }).catch(() => undefined);
  }
}

/** Does everything that is planned, one after the other, in an order that the seed decides; gives what cannot be done here. */
async function disturb(tunnel: Tunnel, { disturbances, workers: count }: Dose): Promise<string[]> {
  const { random, workers, say } = tunnel;
  const planned = Object.entries(disturbances) as [DisturbanceName, number][];
  const names = planned.flatMap(([name, times]) => Array.from({ length: times }, () => name));
  const skipped: string[] = [];
  for (const name of shuffled(names, random)) {
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
 * Waits until nothing is left to be done. What was wrong may keep breakers open for minutes, so all begin anew, and what is
 * planned for later is looked up at once.
 */
async function settle(tunnel: Tunnel, { workers: count }: Dose): Promise<void> {
  const { ground, judge, workers, front, say } = tunnel;
  say('nothing goes wrong any more');
  front.weather = { share: 0, faults: [] };
  await workers.stop();
  await Promise.all(Array.from({ length: count }, () => workers.start()));
  await workers.run(['resume', '--account', 'all', '--reason', 'the tunnel is over']);
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

/** The judge says which of them may be where. */
const SETTLED: readonly string[] = ['final', 'held', 'rejected', 'abandoned'];

async function checkDatabase({ workers, judge }: Tunnel): Promise<void> {
  const check = workers.begin(['db', 'check', '--chain']);
  const code = await check.ended;
  if (code !== 0) judge.fail(`db check --chain ended with ${code}: ${check.said}`);
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
