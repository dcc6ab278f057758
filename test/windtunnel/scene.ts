import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from '../support/settings.ts';
import type { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { startSandbox, type Sandbox } from '../../src/extensions/sandbox/server.ts';
import { openStore } from '../../src/store/open.ts';
import { Front } from './front.ts';
import type { Ground } from './ground.ts';
import { Judge, type Verdict } from './judge.ts';
import { Workers } from './workers.ts';

const RATE = { requests: 20, intervalMs: 1_000 };
const CONCURRENCY = 4;

const SETTINGS = {
  schedule: { cron: '* * * * * *' },
  create: { verifyAfter: ['1s', '2s', '4s', '8s'], pauseAfterUnknown: 1_000_000 },
  follow: { finalStatuses: ['COMPLETED', 'REJECTED'], openStatuses: ['REQUEST', 'IN_PROGRESS'], recheckFinalAfter: [] },
  ops: { listen: 'off' },
};

interface SceneOptions {
  readonly groundIn: (folder: string) => Ground | Promise<Ground>;
  readonly accounts: number;
  readonly seed: number;
  readonly say: (text: string) => void;
  /** More settings, in place of those of every scene. */
  readonly settings?: object;
  /** The most processes that may own an account at a time, each at its rate: 1. */
  readonly owners?: number;
  /** The file that starts another version, which makes the tables and is started first. */
  readonly program?: string;
  /** If workers are on machines of their own: the address of the exchange for them, and what the commands of a person begin with. */
  readonly elsewhere?: { readonly exchangeHost: string; readonly prefix: readonly string[] };
}

/** A database, an exchange behind a front, and the program's settings for both: what real processes are tried in. */
export interface Scene {
  readonly folder: string;
  readonly say: (text: string) => void;
  readonly random: () => number;
  readonly ground: Ground;
  readonly workers: Workers;
  readonly accounts: readonly string[];
  readonly front: Front;
  readonly judge: Judge;
  /** Sets another key of an account, from now on the only one that is taken. */
  readonly rotateKey: (account: string) => Promise<void>;
  /** The exchange as an account has it. */
  readonly exchangeOf: (account: string) => SandboxExchange;
  /**
   * Checks the database and says what became of every order, once the processes have ended. They may have been broken off, so that
   * orders are not settled.
   */
  readonly verdict: (how?: { readonly isBrokenOff: boolean }) => Promise<Verdict>;
}

/** Sets a scene in which no process runs yet; `undo` removes it. */
export async function setScene(undo: AsyncDisposableStack, options: SceneOptions): Promise<Scene> {
  const { groundIn, seed, say, owners = 1, elsewhere } = options;
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-tunnel-'));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const ground = undo.use(await groundIn(folder));
  const accounts = Array.from({ length: options.accounts }, (_, at) => `shop-${String(at + 1).padStart(2, '0')}`);
  const random = seededRandom(seed + 1);
  const judge = new Judge({ ...RATE, requests: RATE.requests * owners, concurrency: CONCURRENCY }, say);
  const sandbox = undo.adopt(await startSandboxOf(accounts, seed), (exchange) => exchange.close());
  const front = undo.use(
    await new Front({ exchange: sandbox.url, random, watcher: judge, host: elsewhere?.exchangeHost }).start(),
  );
  const rotateKey = keysOf(folder, front);
  for (const account of accounts) await rotateKey(account);
  const settingsFile = join(folder, 'settings.yaml');
  const settings = { ...settingsOf(folder, accounts, ground, front), ...options.settings };
  writeFileSync(settingsFile, stringify(settings), { mode: 0o600 });
  const config = loadConfig({ requireExchange: true, cwd: folder, env: {}, file: settingsFile });
  const fail = (what: string) => judge.fail(what);
  const tookMemory = (bytes: number) => judge.tookMemory(bytes);
  const workers = undo.use(new Workers({ folder, settingsFile, fail, tookMemory, prefix: elsewhere?.prefix }));
  workers.program = options.program;
  if (options.program !== undefined) await workers.run(['db', 'migrate']);
  else await (await openStore(config.database, systemClock(), { expect: 'migrate' })).close();
  const exchangeOf = (account: string) => sandbox.exchanges.get(exchangeKeyOf(account)) ?? sandbox.exchange;
  const verdict = async ({ isBrokenOff } = { isBrokenOff: false }) => {
    const check = workers.begin(['db', 'check', '--chain']);
    const code = await check.ended;
    if (code !== 0) judge.fail(`db check --chain ended with ${code}: ${check.said}`);
    return await judge.judge({ shop: ground.shop, exchangeOf, isBrokenOff });
  };
  return { folder, say, random, ground, workers, accounts, front, judge, rotateKey, exchangeOf, verdict };
}

async function startSandboxOf(accounts: readonly string[], seed: number): Promise<Sandbox> {
  const [apiKey = '', ...otherKeys] = accounts.map(exchangeKeyOf);
  return await startSandbox({
    apiKey,
    otherKeys,
    clock: systemClock(),
    random: seededRandom(seed),
    rejected: 0.1,
    speed: 20,
  });
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
