import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import type { Overrides } from '../../src/app.ts';
import { loadConfig } from './settings.ts';
import { runDaemon } from './daemon.ts';
import { capturedLog, type CapturedLog } from './captured-log.ts';
import { newDatabase, temporaryFolder } from './folders.ts';
import { echo, NOT_FOUND, refusal, scriptedExchange, type ScriptedExchange } from './scripted-exchange.ts';
import { testClock, type TestClock } from './test-clock.ts';
import { SECOND } from './tracking.ts';

/** Ticks once a year, so that a test moves on what it is about alone. */
const YEARLY = '0 0 1 1 *';

/** Several accounts in one database, at one exchange that knows each by its key, and a daemon for all of them. */
export interface ManyAccounts {
  readonly folder: string;
  readonly path: string;
  /** The file of settings. */
  readonly file: string;
  readonly clock: TestClock;
  readonly log: CapturedLog;
  readonly exchange: ScriptedExchange;
  /** The merchants' own connection. */
  readonly merchant: Database.Database;
  insert(account: string, externalOrderId: string): void;
  stateOf(account: string, externalOrderId: string): unknown;
  /** Moves the clock, a tenth of a second at a time, until this holds. */
  until(holds: () => boolean): Promise<void>;
  /** Milliseconds go by, a tenth of a second at a time. */
  pass(ms: number): Promise<void>;
  /** Starts the daemon, and resolves when it is ready; `stop` resolves when it has ended. */
  start(overrides?: Overrides): Promise<{ stop(): Promise<void>; readonly ended: Promise<void> }>;
}

/** Sets up accounts with these settings, YAML each; an account without a key has its name as the key. */
export async function manyAccounts(accounts: Readonly<Record<string, string>>): Promise<ManyAccounts> {
  const folder = temporaryFolder();
  const path = join(folder, 'orders.db');
  await newDatabase(path);
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  exchange.answer = (request) => {
    const key = String(request.headers['x-api-key']);
    if (!(key in accounts)) return refusal(401);
    return request.method === 'POST' ? echo(request, { id: `p-${key}-${request.externalOrderId}` }) : NOT_FOUND;
  };
  const settings = Object.entries(accounts).map(([name, own]) => `  ${name}: {${own === '' ? keyOf(name) : own}}`);
  const file = join(folder, 'accounts.yaml');
  writeFileSync(
    file,
    `exchange: {baseUrl: '${exchange.url}', rate: {requests: 100000}}
schedule: {cron: '${YEARLY}'}
reconcile: {cron: '${YEARLY}'}
links: {cron: '${YEARLY}'}
ops: {listen: off}
database: {url: 'sqlite:${path}'}
accounts:\n${settings.join('\n')}\n`,
    { mode: 0o600 },
  );
  // The test clock is behind that of the files.
  utimesSync(file, 0, 0);
  const config = loadConfig({ env: {}, cwd: folder, file, requireExchange: true });
  const [clock, log, merchant] = [testClock(), capturedLog(), new Database(path)];
  onTestFinished(() => void merchant.close());
  const insert = merchant.prepare(
    `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency, created_at, next_action_at)
     values (?, ?, '1.5', 'BTC', 'EUR', ?, ?)`,
  );
  const state = merchant
    .prepare('select state from merchant_orders where account = ? and external_order_id = ?')
    .pluck();
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += SECOND / 10) {
      clock.advance(SECOND / 10);
      for (let turns = 0; turns < 3; turns += 1) await clock.turn();
    }
  };
  return {
    folder,
    path,
    file,
    clock,
    log,
    exchange,
    merchant,
    insert: (account, id) => void insert.run(account, id, clock.now().toISOString(), clock.now().toISOString()),
    stateOf: (account, id) => state.get(account, id),
    pass,
    until: async (holds) => {
      while (!holds()) await pass(SECOND / 10);
    },
    start: async (overrides) => {
      const stop = new AbortController();
      const ready = Promise.withResolvers<void>();
      const store = { synchronous: 'off', watch: 'off', ...overrides?.store } as const;
      const ended = runDaemon(config, stop.signal, ready.resolve, { clock, log: log.logger, ...overrides, store });
      const end = async () => {
        stop.abort();
        await ended;
      };
      onTestFinished(() => end().catch(() => undefined));
      await Promise.race([ready.promise, ended]);
      return { stop: end, ended };
    },
  };
}

/** The setting of an account's key. */
export function keyOf(key: string): string {
  return `exchange: {apiKey: ${key}}`;
}
