import { onTestFinished } from 'vitest';
import { partsWith } from './parts.ts';
import { createApp, startApp, type App, type Overrides } from '../../src/app.ts';
import type { Config, SqliteDatabase } from '../../src/settings/config.ts';
import { loadConfig } from './settings.ts';
import { DEFAULT_ACCOUNT } from '../../src/accounts/rules/name.ts';
import { nextGeneration } from '../../src/store/tables/accounts.ts';
import { openStore } from '../../src/store/open.ts';
import type { AccountLease } from '../../src/store/port.ts';
import { Activities, type Activity } from '../../src/extensions/health/activity.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { type FaultPlan, startSandbox, type Sandbox } from '../../src/extensions/sandbox/server.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { SCENARIOS, type Scenario } from '../../src/extensions/sandbox/scenario.ts';
import { capturedLog, type CapturedLog } from './captured-log.ts';
import { isSqlite, newTestDatabase, type TestDatabase } from './database.ts';
import { temporaryFolder } from './folders.ts';
import type { Merchant } from './merchant.ts';
import { echo, NOT_FOUND, scriptedExchange, type ScriptedAnswer, type ScriptedExchange } from './scripted-exchange.ts';
import { testClock, type TestClock } from './test-clock.ts';
import { DAY } from './tracking.ts';

const KEY = 'test-key';

/** Settings whose database is a SQLite file. */
export type SqliteConfig = Config & { readonly database: SqliteDatabase };

/** A merchant's columns of a row. */
export interface MerchantRow {
  readonly external_order_id: string;
  readonly asset?: unknown;
  readonly bonus?: unknown;
  readonly from_currency?: unknown;
}

/** The program on a real database, with a clock that the test moves. It is gone when the test is finished. */
export interface TestProgram {
  readonly clock: TestClock;
  /** On PostgreSQL no test asks for the path of the database. */
  readonly config: SqliteConfig;
  readonly database: TestDatabase;
  readonly log: CapturedLog;
  app: App;
  /** The state of the accounts of `app`, and that of its own. */
  readonly activities: Activities;
  readonly activity: Activity;
  /** The merchant's own connection. */
  readonly merchant: Merchant;
  insert(...rows: MerchantRow[]): void;
  row(externalOrderId: string): Record<string, unknown>;
  /** `field old → new`, in order. */
  events(externalOrderId: string): string[];
  states(externalOrderId: string): unknown[];
  /** Ends the program as a crash would: nothing is closed in order, then a new one takes over. */
  restart(): Promise<void>;
  /** Starts one more on the same database: with other settings, or with something else in place of the real thing. */
  start(overrides?: Overrides, settings?: Config): Promise<App>;
}

/** The same against the sandbox. */
export interface SandboxProgram extends TestProgram {
  readonly sandbox: Sandbox;
}

/** Options of a test program. */
export interface TestProgramOptions {
  readonly environment?: Record<string, string>;
  readonly apiKey?: string;
  /** The file that holds the key, in place of it. */
  readonly apiKeyFile?: string;
  readonly clock?: TestClock;
  /** The parts in place of the real thing beside the clock and the log. */
  readonly overrides?: Overrides;
}

/** The same, and how the sandbox behaves. */
export interface SandboxProgramOptions extends TestProgramOptions {
  readonly faults?: FaultPlan;
  readonly scenario?: Scenario;
  /** Lives of orders by their id; all live `scenario` if it is undefined. */
  readonly scenarioOf?: (externalOrderId: string) => Scenario | undefined;
}

/** Starts the program against the sandbox. */
export async function testProgram(options: SandboxProgramOptions = {}): Promise<SandboxProgram> {
  const { clock = testClock(), scenario = SCENARIOS['completed'], faults } = options;
  const sandbox = await startSandbox({
    apiKey: KEY,
    clock,
    random: seededRandom(1),
    ...(faults === undefined ? {} : { faults }),
    scenarioOf: (id) => options.scenarioOf?.(id) ?? scenario,
  });
  onTestFinished(() => sandbox.close());
  return Object.assign(await start(sandbox.url, clock, options), { sandbox });
}

/** Starts the program against an exchange that the test scripts. */
export async function scriptedProgram(
  options: TestProgramOptions = {},
): Promise<{ program: TestProgram; exchange: ScriptedExchange }> {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  return { program: await start(exchange.url, options.clock ?? testClock(), options), exchange };
}

/** Returns the settings with which a command works for the same account. */
export function settingsOf({ config, database }: TestProgram): Record<string, string> {
  return {
    ORDER_SYNC_EXCHANGE_BASE_URL: config.exchange.baseUrl ?? '',
    ORDER_SYNC_EXCHANGE_API_KEY: config.exchange.apiKey ?? '',
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
    ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '10ms',
    ORDER_SYNC_DATABASE_URL: database.url,
    ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:1',
  };
}

/** The newest record of an order, as it was received. */
export function keptRecord({ merchant }: TestProgram, externalOrderId: string): unknown {
  return merchant.prepare('select body from order_records where external_order_id = ?').pluck().get(externalOrderId);
}

/** Orders that were accepted, and an exchange whose answers to look-ups the test sets, by id. */
export async function acceptedOrders(ids: readonly string[], options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  const { signal } = new AbortController();
  const answers = new Map<string, ScriptedAnswer>();
  exchange.answer = (request) =>
    request.method === 'POST' ? echo(request) : (answers.get(request.externalOrderId) ?? NOT_FOUND);
  program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  await createPass(program.app, signal);
  return {
    program,
    exchange,
    answers,
    /** Looks every order up that is followed, `afterMs` from now: a day, unless given. */
    lookUp: async (afterMs: number = DAY) => {
      program.clock.advance(afterMs);
      await followPass(program.app, 'all', signal);
    },
  };
}

async function start(url: string, clock: TestClock, options: TestProgramOptions): Promise<TestProgram> {
  const folder = temporaryFolder();
  const database = await newTestDatabase(folder);
  const log = capturedLog();
  const config = loadConfig({
    requireExchange: true,
    cwd: folder,
    env: {
      ORDER_SYNC_EXCHANGE_BASE_URL: url,
      ...(options.apiKeyFile === undefined
        ? { ORDER_SYNC_EXCHANGE_API_KEY: options.apiKey ?? KEY }
        : { ORDER_SYNC_EXCHANGE_API_KEY_FILE: options.apiKeyFile }),
      ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
      ORDER_SYNC_DATABASE_URL: database.url,
      // A new order is due at the first tick after it was accepted.
      ORDER_SYNC_FOLLOW_WORTH: '200ms',
      ORDER_SYNC_OPS_LISTEN: 'off',
      ...options.environment,
    },
  }) as SqliteConfig;
  // No test here takes the power away.
  const store = { synchronous: 'off', watch: 'off', ...options.overrides?.store } as const;
  const activities = new Activities(clock);
  const given = { clock, log: log.logger, ...partsWith(activities), ...options.overrides, store };
  const createTestApp = (overrides: Overrides & typeof given = given, settings: Config = config) =>
    isSqlite() ? createApp(settings, overrides) : drive(settings, overrides);
  const app = await createTestApp();
  const merchant = database.connect();
  const program: TestProgram = {
    clock,
    config,
    database,
    log,
    app,
    activities,
    activity: activities.of(DEFAULT_ACCOUNT),
    merchant,
    insert(...rows) {
      const insert = merchant.prepare(
        `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, bonus, created_at, next_action_at)
         values (:external_order_id, :asset, :from_currency, 'EUR', :bonus, :now, :now)`,
      );
      const rest = { asset: '1.5', from_currency: 'BTC', bonus: null, now: clock.now().toISOString() };
      for (const row of rows) insert.run({ ...rest, ...row });
    },
    row: (id) =>
      merchant.prepare('select * from merchant_orders where external_order_id = ?').get(id) as Record<string, unknown>,
    events: (id) =>
      merchant
        .prepare(
          `select concat(field, ' ', ifnull(old_value, 'null'), ' → ', ifnull(new_value, 'null')) from order_events
           where external_order_id = ? order by id`,
        )
        .pluck()
        .all(id) as string[],
    states: (id) =>
      merchant
        .prepare(`select new_value from order_events where external_order_id = ? and field = 'state' order by id`)
        .pluck()
        .all(id),
    async restart() {
      await program.app[Symbol.asyncDispose]();
      program.app = await createTestApp();
    },
    start: (overrides, settings) =>
      createTestApp(
        {
          clock,
          log: log.logger,
          ...partsWith(new Activities(clock)),
          ...overrides,
          store: { synchronous: 'off', watch: 'off', ...overrides?.store },
        },
        settings,
      ),
  };
  onTestFinished(() => program.app[Symbol.asyncDispose]());
  return program;
}

/** Drives the account as its owner, without a heartbeat: that would go by the clock that the test moves. */
async function drive(config: Config, overrides: Overrides & Required<Pick<Overrides, 'clock' | 'log'>>): Promise<App> {
  const { clock } = overrides;
  await using undo = new AsyncDisposableStack();
  const store = undo.adopt(await openStore(config.database, clock, { expect: 'current' }), (opened) => opened.close());
  const generation = await store.writer.write((tx) => nextGeneration(tx, DEFAULT_ACCOUNT));
  const accountLease: AccountLease = {
    account: DEFAULT_ACCOUNT,
    generation,
    isTrusted: () => true,
    now: () => clock.now(),
    lastOwnerUntil: undefined,
    differsIn: [],
    ending: new AbortController().signal,
    release: async () => {},
  };
  const owned = store.forAccount(DEFAULT_ACCOUNT, accountLease);
  const app = undo.use(await startApp(config, { ...overrides, store: owned, accountLease }));
  const disposal = undo.move();
  return { ...app, [Symbol.asyncDispose]: () => disposal.disposeAsync() };
}
