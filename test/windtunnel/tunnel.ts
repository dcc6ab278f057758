import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { stringify } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/config.ts';
import { seededRandom } from '../../src/sandbox/random.ts';
import { startSandbox, type LoggedRequest, type Sandbox } from '../../src/sandbox/server.ts';
import { openStore } from '../../src/store/open.ts';
import { OWNER, PASSWORD, type PostgresServer } from '../support/postgres-server.ts';
import { Judge, type Verdict } from './judge.ts';
import { openWay, type Way } from './way.ts';
import { Workers } from './workers.ts';

/** How much is done to the processes. */
export interface Dose {
  readonly workers: number;
  readonly accounts: number;
  readonly kills: number;
  readonly stops: number;
  readonly cuts: number;
  /** Of the server: in order, and as a crash. */
  readonly restarts: number;
  readonly crashes: number;
  readonly seed: number;
}

export const RATE = { requests: 20, intervalMs: 1_000 };
const CONCURRENCY = 4;
/** Each shop inserts an order so often. */
const INSERT_EVERY_MS = 400;
/** The next thing happens this long after the one before. */
const BETWEEN_MS = 700;
/** A stopped process wakes after one of these: some are shorter than a heartbeat lasts. */
const STOPPED_MS = [500, 2_000, 3_200, 4_500, 7_000];
const SETTLES_WITHIN_MS = 600_000;

const SETTINGS = {
  schedule: { cron: '* * * * * *' },
  create: { verifyAfter: ['1s', '2s', '4s', '8s'], pauseAfterUnknown: 1_000_000 },
  follow: { finalStatuses: ['COMPLETED', 'REJECTED'], openStatuses: ['REQUEST', 'IN_PROGRESS'], recheckFinalAfter: [] },
  log: { level: 'warn' },
};

/** What a tunnel has at hand. */
interface Tunnel {
  readonly dose: Dose;
  readonly say: (text: string) => void;
  readonly random: () => number;
  readonly server: PostgresServer;
  readonly shop: pg.Pool;
  readonly way: Way;
  readonly workers: Workers;
  readonly accounts: readonly string[];
  readonly sandbox: Sandbox;
  readonly judge: Judge;
}

/**
 * Has real processes share accounts of a real server while they are killed and stopped, their connections cut and the server
 * restarted; then lets them come to rest, and judges from outside what became of every order.
 */
export async function runTunnel(server: PostgresServer, dose: Dose, say: (text: string) => void): Promise<Verdict> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-tunnel-'));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const accounts = Array.from({ length: dose.accounts }, (_, index) => `shop-${String(index + 1).padStart(2, '0')}`);
  const [apiKey = '', ...otherKeys] = accounts.map(keyOf);
  const judge = new Judge(RATE);
  const sandbox = undo.adopt(
    await startSandbox({
      apiKey,
      otherKeys,
      clock: systemClock(),
      random: seededRandom(dose.seed),
      speed: 20,
      onRequest: (request: LoggedRequest) => judge.arrived(request),
    }),
    (exchange) => exchange.close(),
  );
  const admin = undo.adopt(server.admin(), (pool) => pool.end());
  await admin.query(`create database tunnel owner ${OWNER}`);
  const way = undo.use(await openWay(server.port));
  const settingsFile = join(folder, 'settings.yaml');
  writeFileSync(settingsFile, stringify(settingsOf(accounts, sandbox.url, way.port)), { mode: 0o600 });
  const config = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile });
  await (await openStore(config.database, systemClock(), { expect: 'migrate' })).close();
  const shop = undo.adopt(shopOf(server), (pool) => pool.end());
  const workers = undo.use(new Workers(folder, settingsFile));
  const random = seededRandom(dose.seed + 1);
  const tunnel: Tunnel = { dose, say, random, server, shop, way, workers, accounts, sandbox, judge };

  await Promise.all(Array.from({ length: dose.workers }, () => workers.start()));
  const isOver = new AbortController();
  const inserting = Promise.all(accounts.map((account) => insertOrders(tunnel, account, isOver.signal)));
  await disturb(tunnel);
  isOver.abort();
  await inserting;
  say('nothing happens any more');
  await settle(tunnel);
  const exitCodes = await workers.stop();
  return await judge.judge({
    shop,
    sandbox,
    accounts: new Map(accounts.map((name) => [name, keyOf(name)])),
    exitCodes,
  });
}

function keyOf(account: string): string {
  return `key-of-${account}`;
}

function settingsOf(accounts: readonly string[], baseUrl: string, port: number): object {
  return {
    ...SETTINGS,
    database: { url: `postgres://${OWNER}@127.0.0.1:${port}/tunnel`, password: PASSWORD, poolSize: 8 },
    exchange: { baseUrl, rate: { requests: RATE.requests }, concurrency: CONCURRENCY, timeout: '3s' },
    accounts: Object.fromEntries(accounts.map((name) => [name, { exchange: { apiKey: keyOf(name) } }])),
  };
}

/** The shops' own connections, which nobody cuts. */
function shopOf({ folder, port }: PostgresServer): pg.Pool {
  const pool = new pg.Pool({ host: folder, port, user: OWNER, database: 'tunnel', max: 4 });
  return pool.on('error', () => undefined);
}

async function insertOrders({ shop, judge }: Tunnel, account: string, isOver: AbortSignal): Promise<void> {
  for (let number = 1; !isOver.aborted; number += 1) {
    const id = `${account}:${number}`;
    const columns = 'account, external_order_id, asset, from_currency, to_currency';
    const isInserted = await shop
      .query(`insert into merchant_orders (${columns}) values ($1, $2, '1.5', 'BTC', 'EUR') on conflict do nothing`, [
        account,
        id,
      ])
      .then(
        () => true,
        () => false,
      );
    // Where the server was away it may have been inserted all the same.
    if (isInserted) judge.inserted(account, id);
    await wait(INSERT_EVERY_MS, undefined, { signal: isOver }).catch(() => undefined);
  }
}

/** Does everything that is planned, one after the other, in an order that the seed decides. */
async function disturb(tunnel: Tunnel): Promise<void> {
  const { dose, random } = tunnel;
  const kinds = [
    ...Array.from({ length: dose.kills }, () => killOne),
    ...Array.from({ length: dose.stops }, () => stopOne),
    ...Array.from({ length: dose.cuts }, () => cutSome),
    ...Array.from({ length: dose.restarts }, () => restartFast),
    ...Array.from({ length: dose.crashes }, () => crashServer),
  ];
  for (const kind of shuffled(kinds, random)) {
    await wait(BETWEEN_MS * (0.5 + random()));
    await kind(tunnel);
  }
}

async function killOne({ workers, random, judge, shop, say }: Tunnel): Promise<void> {
  const killed = oneOf(workers.alive, random);
  if (killed === undefined) return;
  const driven = await shop
    .query<{ account: string }>(`select account from account_owners where holder like '%:' || $1 || ':%'`, [
      String(killed.process.pid),
    ])
    .then(({ rows }) => rows.map(({ account }) => account));
  await workers.kill(killed);
  judge.killed(driven, performance.now());
  say(`killed ${killed.process.pid}, which drove ${driven.length} accounts`);
  // The next thing happens when they are driven again: how long that takes is seen.
  await Promise.all([workers.start(), judge.allDriven()]);
}

async function stopOne({ workers, random, say }: Tunnel): Promise<void> {
  const stopped = oneOf(workers.alive, random);
  if (stopped === undefined) return;
  const ms = oneOf(STOPPED_MS, random) ?? 0;
  say(`stopped ${stopped.process.pid} for ${ms} ms`);
  stopped.process.kill('SIGSTOP');
  await wait(ms);
  stopped.process.kill('SIGCONT');
}

async function cutSome({ way, random, say }: Tunnel): Promise<void> {
  say(`cut ${way.cut(oneOf([0.2, 0.5, 1], random) ?? 1, random)} connections`);
}

async function restartFast({ server, say }: Tunnel): Promise<void> {
  await server.stop('fast');
  await server.start();
  say('restarted the server');
}

async function crashServer({ server, say }: Tunnel): Promise<void> {
  await server.stop('immediate');
  await server.start();
  say('crashed the server');
}

/** Waits until nothing is left to be done, for as long as things move on. */
async function settle({ shop, say, judge, workers }: Tunnel): Promise<void> {
  const until = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const { rows } = await shop.query<{ state: string; orders: string }>(
      `select state, count(*) as orders from merchant_orders group by state order by state`,
    );
    const left = rows.filter(({ state }) => !['final', 'held'].includes(state));
    if (left.length === 0) return;
    if (Date.now() > until) {
      judge.fail(`after ${SETTLES_WITHIN_MS} ms not settled: ${JSON.stringify(left)}`);
      for (const { said } of workers.alive) say(said.slice(-2_000));
      return;
    }
    await wait(500);
  }
}

function oneOf<Item>(items: readonly Item[], random: () => number): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
