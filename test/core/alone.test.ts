import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runDaemon } from '../../src/daemon.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { ConfigError, loadConfig } from '../../src/settings/config.ts';
import { capturedLog } from '../support/captured-log.ts';
import { temporaryFolder } from '../support/folders.ts';
import { echo, record, scriptedExchange, type ScriptedAnswer } from '../support/scripted-exchange.ts';

/** The core without any extension: its settings, an exchange that takes every order, and a shop's connection to the table. */
async function shop(more: NodeJS.ProcessEnv = {}) {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  const path = join(folder, 'shop.db');
  const env = {
    ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
    ORDER_SYNC_EXCHANGE_API_KEY: 'test-key',
    ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
    ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED',
    ...more,
  };
  const config = loadConfig({ env, cwd: folder, file: null, requireExchange: true });
  let answer: ScriptedAnswer = record('a', { status: 'REQUEST' });
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : answer);
  const open = () => {
    const database = new Database(path, { timeout: 5_000 });
    onTestFinished(() => void database.close());
    return database;
  };
  return { config, exchange, open, answers: (status: string) => (answer = record('a', { status })) };
}

function insert(database: Database.Database): void {
  const columns = 'external_order_id, asset, from_currency, to_currency';
  database.prepare(`insert into merchant_orders (${columns}) values ('a', '1.5', 'BTC', 'EUR')`).run();
}

const changesOf = (database: Database.Database, field: string) =>
  database.prepare('select new_value from events where field = ? order by id').pluck().all(field);

it('the core sends a pending row once, follows it to its end and records each change once, pass by pass', async () => {
  const { config, exchange, open, answers } = await shop();
  const log = capturedLog().logger;
  const app = await createApp(config, { log, store: { expect: 'migrate' } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const database = open();
  insert(database);
  const { signal } = new AbortController();
  expect((await syncOnce(app, 'all', signal)).summary).toMatchObject({ sent: 1, accepted: 1, lookedUp: 1 });
  answers('COMPLETED');
  for (let pass = 0; pass < 3; pass += 1) await syncOnce(app, 'all', signal);
  expect(exchange.count('POST')).toBe(1);
  expect(changesOf(database, 'state')).toEqual(['sending', 'accepted', 'open', 'final']);
  expect(changesOf(database, 'order.status')).toEqual(['REQUEST', 'COMPLETED']);
});

it('the daemon of the core takes up a row of the shop by itself, and follows it by its cron', async () => {
  const { config, exchange, open, answers } = await shop({ ORDER_SYNC_SCHEDULE_CRON: '* * * * * *' });
  await (await createApp(config, { log: capturedLog().logger, store: { expect: 'migrate' } }))[Symbol.asyncDispose]();
  const stop = new AbortController();
  const [ready, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const log = capturedLog();
  const ended = runDaemon(config, stop.signal, ready.resolve, { log: log.logger });
  await Promise.race([ready.promise, ended]);
  const database = open();
  const answer = exchange.answer;
  exchange.answer = (request) => {
    if (request.method === 'GET') looked.resolve();
    return answer(request);
  };
  insert(database);
  const isOpen = log.next(/order changed/);
  await Promise.race([looked.promise, ended]);
  await Promise.race([isOpen, ended]);
  const isFinal = log.next(/order changed/);
  answers('COMPLETED');
  await Promise.race([isFinal, ended]);
  stop.abort();
  await ended;
  expect(exchange.count('POST')).toBe(1);
  expect(changesOf(database, 'order.status')).toEqual(['REQUEST', 'COMPLETED']);
});

it('a setting of an extension that is not installed is refused, and its default is none', async () => {
  const { config } = await shop();
  expect(Object.keys(config)).not.toContain('webhooks');
  await expect(shop({ ORDER_SYNC_FOLLOW_PACE: 'learned' })).rejects.toThrow(ConfigError);
  await expect(shop({ ORDER_SYNC_OPS_LISTEN: '127.0.0.1:1' })).rejects.toThrow(/ops\.listen .*extension/);
});

it('the program of the core has the commands that its work needs', async () => {
  const { commands } = await createProgram([]);
  expect(commands.map((command) => command.name())).toEqual(['run', 'sync', 'db']);
});
