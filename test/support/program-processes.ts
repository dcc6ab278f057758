import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { loadConfig } from './settings.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { startSandbox, type LoggedRequest, type Sandbox } from '../../src/extensions/sandbox/server.ts';
import type { SandboxOptions } from '../../src/extensions/sandbox/exchange.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import { CLI, COMPILED, FLAGS } from './program.ts';
import { endWithUs } from './supervisor.ts';

const KEY = 'canary-key-77';

/** A daemon of its own process, with what it has said so far. */
export interface Daemon {
  readonly process: ChildProcess;
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  output(): string;
}

/** A sandbox, a database and real processes of the program. */
export interface ProgramProcesses extends AsyncDisposable {
  readonly path: string;
  readonly sandbox: Sandbox;
  readonly merchant: Database.Database;
  readonly environment: Record<string, string>;
  insert(count: number, prefix?: string): void;
  states(): Record<string, number>;
  /** Resolves when a request for which `matches` holds has arrived. */
  arrived(matches: (request: LoggedRequest) => boolean): Promise<void>;
  /** Starts the program; with `run`, resolves when it is ready. */
  start(args: string[], environment?: Record<string, string>): Promise<Daemon>;
}

/** The same for one test: all is gone when it is finished. */
export async function testProcesses(...options: Parameters<typeof programProcesses>): Promise<ProgramProcesses> {
  const on = await programProcesses(...options);
  onTestFinished(() => on[Symbol.asyncDispose]());
  return on;
}

/** Sets up a sandbox and a database in a temporary folder. */
export async function programProcesses(
  options: Partial<SandboxOptions> = {},
  environment: Record<string, string> = {},
): Promise<ProgramProcesses> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  const path = join(folder, 'orders.db');
  const watchers = new Set<(request: LoggedRequest) => void>();
  const sandbox = await startSandbox({
    apiKey: KEY,
    clock: systemClock(),
    random: seededRandom(3),
    onRequest: (request) => watchers.forEach((watcher) => watcher(request)),
    ...options,
  });
  const settings = {
    ORDER_SYNC_CONFIG: '/dev/null',
    ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url,
    ORDER_SYNC_EXCHANGE_API_KEY: KEY,
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
    ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
    ORDER_SYNC_SCHEDULE_CRON: '* * * * * *',
    // Many run at the same time.
    ORDER_SYNC_OPS_LISTEN: 'off',
    ...environment,
  };
  loadConfig({ env: settings, cwd: folder, requireExchange: true });
  await (await openStore(path, systemClock(), { expect: 'migrate' })).close();
  const merchant = new Database(path);
  const running = new Set<ChildProcess>();
  return {
    path,
    sandbox,
    merchant,
    environment: settings,
    insert(count, prefix = 'o') {
      const insert = merchant.prepare(
        `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1.5', 'BTC', 'EUR')`,
      );
      merchant.transaction(() => {
        for (let index = 0; index < count; index += 1) insert.run(`${prefix}-${index}`);
      })();
    },
    states() {
      const rows = merchant.prepare('select state, count(*) as orders from merchant_orders group by state').all();
      return Object.fromEntries(
        (rows as { state: string; orders: number }[]).map(({ state, orders }) => [state, orders]),
      );
    },
    arrived: (matches) =>
      new Promise((resolve) => {
        const watcher = (request: LoggedRequest) => {
          if (!matches(request)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
      }),
    async start(args, more = {}) {
      const env = { ...COMPILED, ...settings, ...more };
      const child = endWithUs(
        fork(CLI, args, { cwd: folder, execArgv: FLAGS, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }),
      );
      running.add(child);
      let output = '';
      child.stdout?.on('data', (chunk) => (output += String(chunk)));
      child.stderr?.on('data', (chunk) => (output += String(chunk)));
      const exit = once(child, 'close').then(([code, signal]) => ({
        code: code as number | null,
        signal: signal as string | null,
      }));
      if (args[0] === 'run') await Promise.race([once(child, 'message'), exit]);
      return { process: child, exit, output: () => output };
    },
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill('SIGKILL');
      merchant.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Holds that the history of every order begins, changes and ends as its row says, with no change recorded twice. */
export function expectSoundHistory(on: ProgramProcesses): void {
  const events = on.merchant
    .prepare('select external_order_id as id, field, old_value, new_value from order_events order by id')
    .all() as { id: string; field: string; old_value: string | null; new_value: string | null }[];
  const last = new Map<string, string | null>();
  for (const { id, field, old_value, new_value } of events) {
    const key = `${id} ${field}`;
    // The first record of an order has no events of its fields, and secrets are not shown.
    const isFirst = field.startsWith('record.') && last.get(key) === undefined;
    if (!isFirst && new_value !== 'changed' && field !== 'record.other') {
      expect([key, old_value]).toEqual([key, last.get(key) ?? (field === 'state' ? 'pending' : null)]);
    }
    last.set(key, new_value);
  }
  const rows = on.merchant
    .prepare('select external_order_id as id, state, order_status from merchant_orders')
    .all() as { id: string; state: string; order_status: string | null }[];
  for (const { id, state, order_status } of rows) {
    expect([id, last.get(`${id} state`) ?? 'pending', last.get(`${id} order.status`) ?? null]).toEqual([
      id,
      state,
      order_status,
    ]);
  }
}
