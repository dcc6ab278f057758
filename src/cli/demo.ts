import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { InvalidArgumentError, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { systemClock } from '../clock.ts';
import { asTable } from '../reports/format.ts';
import { summarize } from '../reports/summary.ts';
import type { Fault } from '../sandbox/faults.ts';
import { seededRandom } from '../sandbox/random.ts';
import { startSandbox, type Sandbox } from '../sandbox/server.ts';
import { countByState } from '../store/orders.ts';
import { summaryRows } from '../store/reading.ts';
import { openStore, type Store } from '../store/store.ts';
import { EXIT } from './exit.ts';
import { wholeNumber } from './options.ts';

/** What settles well within the time that a demonstration may take. */
const MOST_ORDERS = 200;
const SPEED = 4;
const LONGEST_MS = 50_000;
const REFRESH_MS = 500;
const KEY = 'demo-key';
const PAIRS = [
  ['BTC', 'EUR', '0.0125'],
  ['ETH', 'EUR', '1.503'],
  ['USDT', 'USD', '250.00'],
  ['BTC', 'USD', '0.000000012345678901'],
] as const;
/** What becomes of the answers to creates that the exchange has taken, each once among so many orders. */
const FAULTS = ['reset-after', 'error-taken', 'truncated', 'html', 'wrong-json'] as const satisfies readonly Fault[];
const EACH_FAULTY = 40;
/** States in which the demonstration has nothing more to wait for. */
const SETTLED = ['final', 'rejected', 'invalid', 'held'];

/** `order-sync demo`: the main job from end to end, on a sandbox exchange and a fresh database. */
export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('orders of a shop to their end, on a sandbox exchange with faults; needs no settings')
    .option('--keep', 'keep the database and say where it is')
    .option('--orders <n>', `so many orders, at most ${MOST_ORDERS}`, fewOrders, MOST_ORDERS)
    .addHelpText('after', '\nExample:\n  npm run demo')
    .action(async ({ keep, orders }: { keep?: boolean; orders: number }) => await demonstrate(orders, keep === true));
}

async function demonstrate(orders: number, isKept: boolean): Promise<void> {
  const clock = systemClock();
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-demo-'));
  const path = join(folder, 'demo.db');
  const sandbox = await startSandbox({ apiKey: KEY, clock, random: seededRandom(7), speed: SPEED });
  say(`A sandbox exchange listens on ${sandbox.url}; a few of its answers are lost on purpose.`);
  const store = await openStore(path, clock, { expect: 'migrate' });
  const daemon = startDaemon(folder, path, sandbox);
  try {
    await Promise.race([once(daemon, 'message'), failedStart(daemon)]);
    insertOrders(path, orders);
    say(`A shop has inserted ${orders} orders into ${path}; the daemon (process ${daemon.pid}) works on them.`);
    const isSettled = await watch(store, orders, clock.monotonic() + LONGEST_MS);
    say('');
    process.stdout.write(
      asTable((await summarize(summaryRows(store.db, { account: 'default' }))).map((line) => ({ ...line }))),
    );
    const { preOrders, duplicated } = sandbox.exchange.census();
    say(`${orders} orders, ${preOrders} pre-orders at the exchange, ${duplicated.length} created twice.`);
    if (!isSettled || duplicated.length > 0 || preOrders !== orders) process.exitCode = EXIT.look;
  } finally {
    await stopDaemon(daemon);
    await store.close();
    await sandbox.close();
    if (isKept) say(`The database is kept: ${path}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function startDaemon(folder: string, path: string, sandbox: Sandbox): ChildProcess {
  // Settings of the person who tries the demonstration must not reach it.
  return fork(fileURLToPath(new URL('../cli.ts', import.meta.url)), ['run'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ORDER_SYNC_CONFIG: '/dev/null',
      ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url,
      ORDER_SYNC_EXCHANGE_API_KEY: KEY,
      ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100',
      ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
      ORDER_SYNC_SCHEDULE_CRON: '* * * * * *',
      ORDER_SYNC_CREATE_VERIFY_AFTER: '2s,4s,8s,16s,32s',
    },
  });
}

async function failedStart(daemon: ChildProcess): Promise<never> {
  const [code] = (await once(daemon, 'exit')) as [number | null];
  throw new Error(`the daemon ended before it was ready (exit ${code})`);
}

async function stopDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await exited;
}

/** As a shop would: with a connection of its own, and nothing but the merchant's columns. */
function insertOrders(path: string, orders: number): void {
  const shop = new Database(path);
  const insert = shop.prepare(
    'insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, ?, ?, ?)',
  );
  const insertAll = shop.transaction(() => {
    for (let index = 0; index < orders; index += 1) {
      const [from, to, asset] = PAIRS[index % PAIRS.length] ?? PAIRS[0];
      insert.run(idOf(index), asset, from, to);
    }
  });
  insertAll();
  shop.close();
}

/** Now and then one whose create is taken and not answered: the sandbox knows it by its id. */
function idOf(index: number): string {
  const fault = index % EACH_FAULTY === EACH_FAULTY / 2 ? FAULTS[Math.floor(index / EACH_FAULTY)] : undefined;
  return `${fault === undefined ? 'shop' : `fault-${fault}`}-${1_000 + index}`;
}

/** Shows the counts until every order has settled or the time is up; whether all have. */
async function watch(store: Store, orders: number, until: number): Promise<boolean> {
  const clock = systemClock();
  const live = process.stdout.isTTY ? createLogUpdate(process.stdout) : undefined;
  let shown = '';
  while (clock.monotonic() < until) {
    const counts = await countByState(store.db, 'default');
    const text = [...counts].map(([state, count]) => `${state} ${count}`).join(' · ');
    if (live !== undefined) live(text);
    else if (text !== shown) say(text);
    shown = text;
    const settled = SETTLED.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
    if (settled === orders) {
      live?.done();
      return true;
    }
    await clock.sleep(REFRESH_MS);
  }
  live?.done();
  return false;
}

function fewOrders(text: string): number {
  const orders = wholeNumber(text);
  if (orders > MOST_ORDERS) throw new InvalidArgumentError(`At most ${MOST_ORDERS} are wanted.`);
  return orders;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
