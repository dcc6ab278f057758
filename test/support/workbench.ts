import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { createApp, type App, type Overrides } from '../../src/app.ts';
import { loadConfig, type Config } from '../../src/config/config.ts';
import type { FaultPlan } from '../../src/sandbox/faults/faults.ts';
import { seededRandom } from '../../src/sandbox/random.ts';
import { SCENARIOS, type Scenario } from '../../src/sandbox/orders/scenario.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { newDatabase } from './new-database.ts';
import { testClock, type TestClock } from './test-clock.ts';

const KEY = 'test-key';

/** A merchant's columns of a row. */
export interface MerchantRow {
  readonly external_order_id: string;
  readonly asset?: unknown;
  readonly bonus?: unknown;
  readonly from_currency?: unknown;
}

/** The program against a sandbox, on a real database file, with a clock that the test moves. */
export interface Workbench extends AsyncDisposable {
  readonly clock: TestClock;
  readonly sandbox: Sandbox;
  readonly config: Config;
  app: App;
  /** The merchant's own connection. */
  readonly merchant: Database.Database;
  insert(...rows: MerchantRow[]): void;
  row(externalOrderId: string): Record<string, unknown>;
  /** `field old → new`, in order. */
  events(externalOrderId: string): string[];
  states(externalOrderId: string): unknown[];
  /** Ends the program as a crash would: nothing is closed in order, then a new one takes over. */
  restart(): Promise<void>;
}

/** Options of a workbench. */
export interface WorkbenchOptions {
  readonly environment?: Record<string, string>;
  readonly faults?: FaultPlan;
  readonly scenario?: Scenario;
  /** Lives of orders by their id; all live `scenario` where it is undefined. */
  readonly scenarioOf?: (externalOrderId: string) => Scenario | undefined;
  readonly apiKey?: string;
  readonly clock?: TestClock;
  /** What stands in place of the real thing beside the clock. */
  readonly overrides?: Overrides;
}

/** Sets up a workbench in a temporary folder. */
export async function workbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  const clock = options.clock ?? testClock();
  const scenario = options.scenario ?? SCENARIOS['completed'];
  const sandbox = await startSandbox({
    apiKey: KEY,
    clock,
    random: seededRandom(1),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    scenarioOf: (id) => options.scenarioOf?.(id) ?? scenario,
  });
  const config = loadConfig({
    requireExchange: true,
    cwd: folder,
    env: {
      ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url,
      ORDER_SYNC_EXCHANGE_API_KEY: options.apiKey ?? KEY,
      ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
      ORDER_SYNC_DATABASE_URL: `sqlite:${join(folder, 'orders.db')}`,
      ...options.environment,
    },
  });
  await newDatabase(config.database.path);
  // No test here takes the power away.
  const store = { synchronous: 'off', ...options.overrides?.store } as const;
  const start = () => createApp(config, { clock, log: pino({ level: 'silent' }), ...options.overrides, store });
  const app = await start();
  const merchant = new Database(config.database.path);
  const bench: Workbench = {
    clock,
    sandbox,
    config,
    app,
    merchant,
    insert(...rows) {
      const insert = merchant.prepare(
        `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, bonus, created_at, next_action_at)
         values (?, ?, ?, 'EUR', ?, ?, ?)`,
      );
      const now = clock.now().toISOString();
      for (const row of rows)
        insert.run(
          row.external_order_id,
          'asset' in row ? row.asset : '1.5',
          'from_currency' in row ? row.from_currency : 'BTC',
          row.bonus ?? null,
          now,
          now,
        );
    },
    row: (id) =>
      merchant.prepare('select * from merchant_orders where external_order_id = ?').get(id) as Record<string, unknown>,
    events: (id) =>
      (
        merchant
          .prepare('select field, old_value, new_value from order_events where external_order_id = ? order by id')
          .all(id) as Record<string, unknown>[]
      ).map(({ field, old_value, new_value }) => `${String(field)} ${String(old_value)} → ${String(new_value)}`),
    states: (id) =>
      merchant
        .prepare(`select new_value from order_events where external_order_id = ? and field = 'state' order by id`)
        .pluck()
        .all(id),
    async restart() {
      await bench.app[Symbol.asyncDispose]();
      bench.app = await start();
    },
    async [Symbol.asyncDispose]() {
      merchant.close();
      await bench.app[Symbol.asyncDispose]();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return bench;
}
