import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stringify } from 'yaml';
import type { Clock } from '../../../base/clock.ts';
import { PROGRAM_FILE } from '../../../base/places.ts';
import { loadConfig, processEnvironment, type ConfigOptions } from '../../../settings/config.ts';
import { driverOf, openStore } from '../../../store/open.ts';
import type { Transaction } from '../../../store/port.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { freePorts } from '../cluster/machine.ts';
import { type Sandbox, startSandbox } from '../server.ts';
import { seededRandom } from '../random.ts';
import { insertMissing } from '../../intake/tables/inserted-orders.ts';
import { decideOrders } from '../../operate/decide-orders.ts';
import { flowSettings } from '../../../orders/pass/deps.ts';
import { STRAY_ORDER, TAMPERINGS, tamperingNamedIn, type Tampering } from '../tampering.ts';

const SPEED = 4;

type Shop = ReturnType<typeof shopsOf>[number];

/** `strays` are the orders that a shop cancels before they are sent. A report must list the findings of `expected`. */
function shopsOf(accounts: readonly string[], all: readonly DemoOrder[]) {
  return accounts.map((account, place) => {
    const own = all.filter((_order, index) => index % accounts.length === place);
    const orders = own.filter((order) => !isStray(order.external_order_id));
    const strays = own.filter((order) => isStray(order.external_order_id));
    return { account, key: `key-of-${account}`, orders, strays, expected: expectedFindings(own) };
  });
}

/** Inserts the orders of a shop. Retries until a database server has committed them. */
export async function insertOrders({ store, signal }: Stage, { account }: Shop, orders: readonly DemoOrder[]) {
  if (orders.length === 0) return;
  const insert = (tx: Transaction) => insertMissing(tx, account, orders);
  await store.forAccount(account).writer.writeUntilDurable(insert, signal, () => undefined);
}

/** Inserts the stray orders of a shop and cancels them. The exchange has these orders although they are never sent. */
export async function cancelStrays(stage: Stage, shop: Shop, say: (line: string) => void): Promise<void> {
  await insertOrders(stage, shop, shop.strays);
  const { store, clock, config } = stage;
  const deciding = { account: shop.account, store, clock, settings: flowSettings(config) };
  const targets = shop.strays.map(({ external_order_id: externalOrderId }) => ({ externalOrderId }));
  const action = { judgement: { kind: 'cancel' }, actor: 'shop', reason: 'the client changed their mind' } as const;
  for await (const result of decideOrders(deciding, targets, action))
    say(`${result.externalOrderId} is cancelled, unsent.`);
}

export const DEMO_SCENARIOS = ['clean', 'mismatch', 'bad-day'] as const;
export type DemoScenario = (typeof DEMO_SCENARIOS)[number];
export type DemoOrder = ReturnType<typeof orderOf>;

/** With more orders, some might still be under way when the time of a demonstration is over. */
export const MOST_ORDERS = 200;
export const FIRST_NUMBER = 1_000;
const PAIRS = [
  ['BTC', 'EUR', '0.0125'],
  ['ETH', 'EUR', '1.503'],
  ['USDT', 'USD', '250.00'],
  ['BTC', 'USD', '0.000000012345678901'],
  ['EUR', 'BTC', '150.00'],
  ['USD', 'ETH', '99.99'],
] as const;
/** Faults that lose the answer although the exchange took the order. */
const LOST = ['fault-reset-after', 'fault-error-taken', 'fault-truncated', 'fault-wrong-json', 'fault-html'];
/** A demonstration does not find this class, because its report does not ask the exchange for each pre-order. */
const NOT_FOLLOWED = 'PREORDER_MISSING';

export function demoOrders(scenario: DemoScenario, count: number = MOST_ORDERS): readonly DemoOrder[] {
  const tampered = Object.entries<Tampering>(TAMPERINGS).filter(([, { finding }]) => finding !== NOT_FOLLOWED);
  const names = [...LOST, ...(scenario === 'mismatch' ? tampered.map(([name]) => `tamper-${name}`) : [])];
  const spread = Math.max(1, Math.floor(count / names.length));
  return Array.from({ length: Math.max(count, names.length) }, (_, index) => {
    const named = index % spread === spread - 1 ? names[Math.floor(index / spread)] : undefined;
    return orderOf(`${named ?? 'shop'}-${FIRST_NUMBER + index}`, index);
  });
}

export function orderOf(id: string, index: number) {
  const { currencyPair } = STRAY_ORDER;
  const [from, to, asset]: readonly [string, string, string] = isStray(id)
    ? [currencyPair.fromCurrency, currencyPair.toCurrency, STRAY_ORDER.asset]
    : (PAIRS[Math.floor(index / 3) % PAIRS.length] ?? PAIRS[0]);
  return {
    external_order_id: id,
    asset,
    asset_position: 'INPUT',
    from_currency: from,
    to_currency: to,
    order_type: 'DEPOSIT',
    order_limit: null,
    payment_token: `token-of-client-${index % 20}`,
    provider_type: 'CARDPROV',
    crypto_address: `address-of-client-${index % 20}`,
    bonus: null as string | null,
  };
}

function isStray(id: string): boolean {
  return tamperingNamedIn(id)?.isStray === true;
}

export function expectedFindings(orders: readonly DemoOrder[]): readonly string[] {
  return orders.flatMap(({ external_order_id: id }) => {
    const tampering = tamperingNamedIn(id);
    return tampering === undefined ? [] : [`${tampering.finding} ${id}`];
  });
}

export type Stage = Awaited<ReturnType<typeof setStage>>;

interface StageOptions extends Pick<ConfigOptions, 'parts'> {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly accounts: readonly string[];
  readonly orders: readonly DemoOrder[];
  /** Settings of PostgreSQL. If undefined, a new SQLite file is made. */
  readonly database: object | undefined;
  /** True if the folder and the tables stay. */
  readonly isKept: boolean;
  /** True if the database server ends with the demonstration, so that its tables are not removed. */
  readonly isOwnServer: boolean;
  /** True if a dashboard is served, which the person may look at before the report. */
  readonly isHeld: boolean;
  readonly exchange?: Pick<Parameters<typeof startSandbox>[0], 'speed' | 'scenarioOf'>;
  readonly settings?: object;
}

export async function setStage(options: StageOptions) {
  const { accounts, orders, database, parts, isOwnServer, isHeld, isKept, clock, signal } = options;
  const shops = shopsOf(accounts, orders);
  await using undo = new AsyncDisposableStack();
  const [apiKey = '', ...otherKeys] = shops.map(({ key }) => key);
  const speedy = { clock, random: seededRandom(7), rejected: 0.1, speed: SPEED, ...options.exchange };
  const sandbox = undo.adopt(await startSandbox({ apiKey, otherKeys, ...speedy }), (exchange) => exchange.close());
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-demo-'));
  if (!isKept) undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settingsFile = join(folder, 'settings.yaml');
  const opsListen = isHeld ? await freeAddress() : undefined;
  const sqlite = { url: `sqlite:${join(folder, 'demo.db')}` };
  const settings = stringify({
    ...SETTINGS,
    ops: { listen: opsListen ?? 'off' },
    database: database ? { ...database, marks: join(folder, 'marks.db') } : sqlite,
    ...exchangeSettings(shops, sandbox),
    ...webhookSettings(folder),
    ...options.settings,
  });
  const heading = '# Settings of a demonstration. Its exchange ends with the demonstration.';
  writeFileSync(settingsFile, `${heading}\n${settings}`, { mode: 0o600 });
  const config = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile, parts });
  if (config.database.kind === 'postgres' && !isOwnServer) {
    const trial = undo.use(await (await driverOf(config.database)).openTrial(config.database, clock));
    if (!isKept) undo.defer(() => trial.dropTables());
  }
  const opened = await openStore(config.database, clock, { expect: 'migrate' });
  const store = undo.adopt(opened, () => opened.close());
  const disposal = undo.move();
  const place = { folder, settingsFile, config, store, opsListen, isKept };
  return { ...place, clock, signal, shops, sandbox, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}

const SETTINGS = {
  schedule: { cron: '* * * * * *' },
  create: { verifyAfter: ['2s', '4s', '8s', '16s', '32s'] },
  follow: {
    finalStatuses: ['COMPLETED', 'REJECTED'],
    // The orders of the sandbox change every few seconds, so even a look-up that saves 250 ms is worth a request.
    worth: '250ms',
    succeededStatuses: ['COMPLETED'],
    openStatuses: ['REQUEST', 'IN_PROGRESS'],
    recheckFinalAfter: ['2s', '5s', '10s'],
  },
};

function exchangeSettings(shops: readonly Shop[], sandbox: Sandbox): object {
  const exchange = { baseUrl: sandbox.url, rate: { requests: 100 } };
  const [only] = shops;
  if (shops.length === 1 && only !== undefined) return { exchange: { ...exchange, apiKey: only.key } };
  const accounts = shops.map(({ account, key }) => [account, { exchange: { apiKey: key } }]);
  return { exchange, accounts: Object.fromEntries(accounts) as object };
}

/** The environment may name receivers of events, so that a shop can receive the events of the demonstration. */
function webhookSettings(folder: string) {
  const endpoints = processEnvironment()['ORDER_SYNC_WEBHOOKS_ENDPOINTS'];
  if (endpoints === undefined) return {};
  const endpointsFile = join(folder, 'webhooks.json');
  writeFileSync(endpointsFile, endpoints, { mode: 0o600 });
  return { webhooks: { endpointsFile } };
}

export function daemonsOf({ folder, settingsFile }: Stage) {
  const running: ChildProcess[] = [];
  // The daemons do not read the settings of the person, neither the file nor the variables.
  const { npm_lifecycle_script: script, INIT_CWD: startedIn } = processEnvironment();
  const begin = () =>
    fork(PROGRAM_FILE, ['run'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ORDER_SYNC_CONFIG: settingsFile, npm_lifecycle_script: script, INIT_CWD: startedIn },
    });
  return {
    async start(count: number): Promise<readonly (number | undefined)[]> {
      const started = Array.from({ length: count }, begin);
      running.push(...started);
      await Promise.all(started.map((daemon) => Promise.race([once(daemon, 'message'), failed(daemon)])));
      return started.map(({ pid }) => pid);
    },
    /** Waits until a daemon ends by itself, and then throws `CommandError`. */
    failure: () => Promise.race(running.map(failed)),
    async kill(): Promise<number | undefined> {
      const killed = running.shift();
      if (killed !== undefined) await end(killed, 'SIGKILL');
      return killed?.pid;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(running.splice(0).map((daemon) => end(daemon, 'SIGTERM')));
    },
  };
}

async function failed(daemon: ChildProcess): Promise<never> {
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
  const { pid, exitCode, signalCode } = daemon;
  const how = `the daemon (process ${pid}) ended ${exitCode === null ? `by ${signalCode}` : `with exit code ${exitCode}`}`;
  throw new CommandError(EXIT.unavailable, `${how}, so the demonstration ends: start it again`);
}

async function end(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill(signal);
  await once(daemon, 'exit');
}

export async function freeAddress(): Promise<string> {
  const [port] = await freePorts(1);
  return `127.0.0.1:${port}`;
}
