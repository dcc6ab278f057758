import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type pg from 'pg';
import { createApp, type App } from '../../../src/app.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { checkDatabase } from '../../../src/extensions/health/doctor/database.ts';
import { loadConfig } from '../../support/settings.ts';
import { ConfigError } from '../../../src/settings/settings.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { weaknessesOfStandbys } from '../../../src/extensions/postgres/standbys.ts';
import type { OtherPlace } from '../../../src/store/open.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { temporaryFolder } from '../../support/folders.ts';
import {
  findPostgres,
  OWNER,
  startPostgres,
  startStandby,
  type PostgresServer,
  type Standby,
} from '../../support/postgres-server.ts';
import { placeOf } from '../../support/postgres-store.ts';
import { scriptedExchange } from '../../support/scripted-exchange.ts';

const BIN = findPostgres();
type Asked = (kind: 'GET' | 'POST') => readonly string[];
const NEVER = new AbortController().signal;
const REQUIRED = { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: '1' };

it('takes synchronous standbys for a wrong setting with SQLite', () => {
  expect(() => loadConfig({ requireExchange: false, cwd: temporaryFolder(), env: REQUIRED })).toThrow(ConfigError);
});

it.each<[required: number, kinds: readonly (string | null)[], weaknesses: number, says: string]>([
  [0, [], 0, ''],
  [0, ['async'], 1, 'set it to 1'],
  [0, [null], 1, 'pg_read_all_stats'],
  [1, ['sync', 'potential'], 0, ''],
  [1, ['async'], 1, 'nothing is sent'],
  [2, ['sync', 'async'], 1, 'nothing is sent'],
  [1, [], 1, 'nothing is sent'],
  [1, ['quorum', 'quorum'], 1, 'FIRST'],
])('with %s required, standbys that are %j have %s weaknesses', (required, kinds, weaknesses, says) => {
  const standbys = kinds.map((kind) => ({ name: kind && 'a', state: kind && 'streaming', kind }));
  const found = weaknessesOfStandbys(standbys, required);
  expect(found).toHaveLength(weaknesses);
  expect(found.map(({ text }) => text).join()).toContain(says);
});

describe.skipIf(BIN === undefined)('with one synchronous standby required', () => {
  let primary: PostgresServer;
  let standby: Standby;
  let admin: pg.Pool;

  beforeAll(async () => {
    primary = await startPostgres(BIN ?? '');
    const first = primary.admin();
    await first.query(`create database shop owner ${OWNER}`);
    await first.end();
    admin = primary.admin('shop');
    standby = await startStandby(BIN ?? '', primary);
  });

  afterAll(async () => {
    await admin.end();
    await standby[Symbol.asyncDispose]();
    await primary[Symbol.asyncDispose]();
  });

  const until = async (sql: string) => {
    while ((await admin.query<{ is: boolean }>(`select (${sql}) as is`)).rows[0]?.is !== true);
  };
  /** Says which standbys are synchronous, as Patroni does at any moment. */
  const list = async (names: string) => {
    await admin.query(`alter system set synchronous_standby_names = '${names}'`);
    await admin.query('select pg_reload_conf()');
    await until(`select sync_state = '${names === '' ? 'async' : 'sync'}' from pg_stat_replication`);
  };
  const insert = async (id: string) => {
    await admin.query(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values ('${id}', '1.5', 'BTC', 'EUR')`);
  };
  const isIn = (id: string, state: string) =>
    `select state = '${state}' from merchant_orders where external_order_id = '${id}'`;

  async function driven(): Promise<{ app: App; asked: Asked; sent: () => readonly string[] }> {
    await admin.query(`grant pg_read_all_stats to ${OWNER}`);
    const exchange = await scriptedExchange();
    const env = {
      ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
      ORDER_SYNC_EXCHANGE_API_KEY: 'test-key',
      ORDER_SYNC_DATABASE_URL: primary.url('shop'),
      ORDER_SYNC_OPS_LISTEN: 'off',
      ...REQUIRED,
    };
    const config = loadConfig({ requireExchange: true, cwd: temporaryFolder(), env });
    const app = await createApp(config, { log: capturedLog().logger, ownerPatienceMs: 10_000 });
    onTestFinished(async () => {
      await app[Symbol.asyncDispose]();
      await exchange[Symbol.asyncDispose]();
    });
    const asked: Asked = (kind) =>
      exchange.requests.filter(({ method }) => method === kind).map(({ externalOrderId }) => externalOrderId);
    return { app, asked, sent: () => asked('POST') };
  }

  it('refuses a role that cannot read the proof as a wrong setting', async () => {
    await (await openStore(placeOf(primary.url('shop')), systemClock(), { expect: 'migrate' })).close();
    const opening = openStore(placeOf(primary.url('shop'), REQUIRED), systemClock(), { expect: 'upgrade' });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(`grant pg_read_all_stats to "${OWNER}"`);
  });

  it('is told by the doctor if standbys are attached and none is required', async () => {
    await admin.query(`grant pg_read_all_stats to ${OWNER}`);
    await list('');
    const found = async (settings: Readonly<Record<string, string>>) => {
      const place = placeOf(primary.url('shop'), settings);
      const store = await openStore(place, systemClock(), { expect: 'current' });
      onTestFinished(() => store.close());
      const config = { database: place as OtherPlace } as Parameters<typeof checkDatabase>[0];
      expect(await store.server()).toContainEqual(expect.stringMatching(/standby \(streaming, \w+\); .*_names: /));
      return (await checkDatabase(config, store)).filter(({ found: about }) => about.endsWith('standbys')).length;
    };
    expect([await found({}), await found(REQUIRED)]).toEqual([1, 1]);
    await list('standby');
    expect([await found({}), await found(REQUIRED)]).toEqual([1, 0]);
    await admin.query(`revoke pg_read_all_stats from ${OWNER}`);
    const hidden = await openStore(placeOf(primary.url('shop')), systemClock(), { expect: 'current' });
    onTestFinished(() => hidden.close());
    expect(await hidden.server()).toEqual([expect.stringContaining('standbys: 1 (only a role with pg_read_all_stats')]);
    await admin.query(`grant pg_read_all_stats to ${OWNER}`);
  });

  it('sends an order once the standby has its intent', async () => {
    await list('standby');
    const { app, sent } = await driven();
    await insert('proved');
    await createPass(app, NEVER);
    expect(sent()).toEqual(['proved']);
  });

  it('sends nothing while the list is empty, says so, and sends once the standby is synchronous again', async () => {
    await list('');
    const { app, sent } = await driven();
    await insert('later');
    const pass = createPass(app, NEVER);
    await until(isIn('later', 'sending'));
    while (app.store.writer.failure === undefined) await systemClock().turn();
    expect(app.store.writer.failure.message).toContain('is unreplicated');
    expect(sent()).toEqual([]);
    await list('standby');
    await pass;
    expect([sent(), app.store.writer.failure]).toEqual([['later'], undefined]);
  });

  it('looks orders up while as many creates as may be in flight wait for a standby', async () => {
    await list('standby');
    const { app, asked, sent } = await driven();
    for (let create = 1; create <= app.settings.concurrency; create += 1) await insert(`first-${create}`);
    await createPass(app, NEVER);
    await list('');
    for (let create = 1; create <= app.settings.concurrency; create += 1) await insert(`waits-${create}`);
    const pass = createPass(app, NEVER);
    const waiting = `select count(*) = ${app.settings.concurrency} from merchant_orders where external_order_id like 'waits-%' and state = 'sending'`;
    await until(waiting);
    await followPass(app, 'all', NEVER);
    expect(asked('GET')).toEqual(expect.arrayContaining(['first-1', `first-${app.settings.concurrency}`]));
    expect(sent().filter((id) => id.startsWith('waits-'))).toEqual([]);
    await list('standby');
    await pass;
    expect(sent().filter((id) => id.startsWith('waits-'))).toHaveLength(app.settings.concurrency);
  });

  it('makes an order without the proof pending again if the process stops in order', async () => {
    await list('');
    const { app, sent } = await driven();
    await insert('stopped');
    const stop = new AbortController();
    const pass = createPass(app, stop.signal);
    await until(isIn('stopped', 'sending'));
    stop.abort();
    await pass;
    await until(isIn('stopped', 'pending'));
    expect(sent()).toEqual([]);
    await admin.query(`delete from merchant_orders where external_order_id = 'stopped'`).catch(() => undefined);
  });

  it('takes a commit whose wait for the standby was cancelled for not replicated', async () => {
    await list('standby');
    const { app, sent } = await driven();
    await standby.disconnect();
    await admin.query(`set synchronous_commit = local; insert into merchant_orders
      (external_order_id, asset, from_currency, to_currency) values ('cancelled', '1.5', 'BTC', 'EUR')`);
    const pass = createPass(app, NEVER);
    while (!(await admin.query(isIn('cancelled', 'sending')).then(({ rows }) => rows[0]?.['?column?'] === true))) {
      await admin.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`);
    }
    while (app.store.writer.failure === undefined) await systemClock().turn();
    expect(sent()).toEqual([]);
    await standby.connect();
    await pass;
    while (!sent().includes('cancelled')) await createPass(app, NEVER);
  });

  it('sends nothing while a commit waits for a standby that is gone, and sends once it is back', async () => {
    await list('standby');
    const { app, sent } = await driven();
    await standby.disconnect();
    await admin.query(`set synchronous_commit = local; insert into merchant_orders
      (external_order_id, asset, from_currency, to_currency) values ('gone', '1.5', 'BTC', 'EUR')`);
    const pass = createPass(app, NEVER);
    while (app.store.writer.failure === undefined) await systemClock().turn();
    expect(sent()).toEqual([]);
    await standby.connect();
    await pass;
    // Its heartbeat waited as well, so that another worker may have taken the account.
    while (!sent().includes('gone')) await createPass(app, NEVER);
  });
});
