import { partsWith } from '../support/parts.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Logger } from 'pino';
import { createApp, type App } from '../../src/app.ts';
import { Activities } from '../../src/extensions/health/activity.ts';
import { loadConfig } from '../support/settings.ts';
import type { HttpRequest, HttpResponse, Transport } from '../../src/exchange/transport/http.ts';
import { createLog } from '../../src/base/log.ts';
import { SandboxExchange } from '../../src/extensions/sandbox/exchange.ts';
import { SCENARIOS } from '../../src/extensions/sandbox/scenario.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { newDatabase } from '../support/folders.ts';
import { testClock, type TestClock } from '../support/test-clock.ts';
import type { SqliteConfig } from '../support/test-program.ts';

/** Later than any real clock that a trigger of the database may read. */
export const BEGINNING = new Date('2040-01-01T00:00:00.000Z');
export const NEVER = new AbortController().signal;
/** A secret that no answer, error, report or line of a log may hold. */
export const SECRET = 'canary-secret-0815-4711';

/** The program on a database of its own, with an exchange that is a function. */
export interface Ground extends AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  readonly config: SqliteConfig;
  readonly clock: TestClock;
  readonly app: App;
  readonly activities: Activities;
  /** The merchant's own connection. */
  readonly merchant: Database.Database;
}

/** The server in place of the exchange. */
export type Answering = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** How the program is set up. */
export interface GroundOptions {
  /** A function in place of the connection. */
  readonly answer?: Answering;
  /** Or its address. */
  readonly baseUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: TestClock;
}

/** Makes a folder that is gone with what is disposed of. */
export function folderIn(undo: DisposableStack | AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-hostile-'));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the program. */
export async function ground({
  answer,
  baseUrl = 'http://127.0.0.1:1',
  environment,
  clock = testClock(BEGINNING),
}: GroundOptions = {}): Promise<Ground> {
  await using undo = new AsyncDisposableStack();
  const folder = folderIn(undo);
  const path = join(folder, 'orders.db');
  await newDatabase(path);
  const env = {
    ORDER_SYNC_EXCHANGE_BASE_URL: baseUrl,
    ORDER_SYNC_EXCHANGE_API_KEY: SECRET,
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
    ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
    ORDER_SYNC_OPS_LISTEN: 'off',
    ...environment,
  };
  const config = loadConfig({ requireExchange: true, cwd: folder, file: null, env }) as SqliteConfig;
  const transport = answer && transportOf(answer);
  const store = { synchronous: 'off' } as const;
  const activities = new Activities(clock);
  const app = undo.use(
    await createApp(config, {
      clock,
      log: checkedLog(),
      store,
      ...partsWith(activities),
      ...(transport && { connect: () => transport }),
    }),
  );
  undo.defer(() => app.endGracePeriod());
  const merchant = undo.adopt(new Database(path), (opened) => void opened.close());
  const disposal = undo.move();
  return {
    folder,
    path,
    config,
    clock,
    app,
    activities,
    merchant,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

/** A log of which each line must be JSON, with no field twice. A character that cannot be encoded is written as U+FFFD. */
function checkedLog(): Logger {
  const write = (text: string) => {
    const line = text.toWellFormed();
    if (`${JSON.stringify(JSON.parse(line))}\n` !== line) throw new Error(`a line has a field twice: ${line}`);
  };
  return createLog('trace', { write });
}

function transportOf(answer: Answering): Transport {
  return { send: async (request) => await answer(request), close: async () => {} };
}

/** An exchange that answers as it should, and that takes what it is sent. */
export function sandbox(clock: TestClock): { readonly exchange: SandboxExchange; readonly answer: Answering } {
  const exchange = new SandboxExchange({
    apiKey: SECRET,
    clock,
    random: seededRandom(1),
    scenarioOf: () => SCENARIOS['completed'],
  });
  const answer = ({ method, path, body, headers }: HttpRequest) => {
    const given = { 'x-api-key': SECRET, 'content-type': 'application/json', linkid: headers?.['linkId'] };
    return exchange.handle({ method, path, headers: given, ...(body !== undefined && { body }) });
  };
  return { exchange, answer };
}
