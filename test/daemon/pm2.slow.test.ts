import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFailed } from 'vitest';
import { SLOW_MS } from '../../src/extensions/sandbox/server.ts';
import { openMerchant } from '../support/merchant-postgres.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { programProcesses, type ProgramProcesses } from '../support/program-processes.ts';
import { startPm2, type Pm2, type Pm2Event } from '../support/pm2.ts';
import { testClock, type TestClock } from '../support/test-clock.ts';

const ECOSYSTEM = fileURLToPath(new URL('../../ecosystem.config.cjs', import.meta.url));

interface Setting {
  readonly on: ProgramProcesses;
  readonly pm2: Pm2;
  /** Of the sandbox: a slow answer comes when it is moved. */
  readonly clock: TestClock;
  readonly key: string;
  readonly keyFile: string;
  /** As a person would export it: the key in a file. */
  readonly environment: Record<string, string>;
}

let cleanUp = new AsyncDisposableStack();
afterEach(async () => {
  await cleanUp.disposeAsync();
  cleanUp = new AsyncDisposableStack();
});

async function setUp(): Promise<Setting> {
  const clock = testClock();
  const on = cleanUp.use(await programProcesses({ clock }));
  const { ORDER_SYNC_EXCHANGE_API_KEY: key = '', ...settings } = on.environment;
  const keyFile = `${on.path}.key`;
  writeFileSync(keyFile, key, { mode: 0o600 });
  const environment = { ...settings, ORDER_SYNC_EXCHANGE_API_KEY_FILE: keyFile };
  // Last, to be ended first: nothing of it is left when its folder goes.
  const pm2 = cleanUp.use(await startPm2());
  onTestFailed(() => console.error(pm2.events.map(({ name, event, text }) => `${name}: ${event ?? text}`).join('\n')));
  return { on, pm2, clock, key, keyFile, environment };
}

/** Resolves with the process id of the next daemon that is ready. */
async function ready(pm2: Pm2, name = 'order-sync'): Promise<number> {
  const line = /"pid":(\d+),.*"msg":"order-sync is ready"/;
  const { text } = await pm2.next((event) => event.name === name && line.test(event.text));
  return Number(line.exec(text)?.[1]);
}

/** Resolves when pm2 or a process of its has said the text `times` times from now on. */
function said(pm2: Pm2, text: string, times = 1): Promise<Pm2Event> {
  let heard = 0;
  return pm2.next((event) => event.text.includes(text) && ++heard === times);
}

const exits = (events: readonly Pm2Event[]) =>
  events.flatMap(({ name, text }) => (name === 'PM2' ? (/exited with code .*\]/.exec(text)?.[0] ?? []) : []));
const starts = (events: readonly Pm2Event[], name: string) =>
  events.filter(
    (event) => event.name === 'PM2' && event.text.includes(`App [${name}:`) && event.text.includes('starting'),
  );

/** Everything that pm2 has written. */
function written(home: string): string {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}

describe('the daemon under pm2', () => {
  it('is started when it is ready, finishes what is in flight at a reload and at a stop, and keeps its key to itself', async () => {
    const { on, pm2, clock, key, environment } = await setUp();
    const twoEnds = [said(pm2, 'exited with code', 2), said(pm2, '"msg":"stopped"', 2)];
    const firstReady = ready(pm2);
    await pm2.run(['start', ECOSYSTEM], environment);
    const first = await firstReady;
    expect(await pm2.list()).toMatchObject([{ pid: first, pm2_env: { status: 'online' } }]);

    const inFlight = on.arrived(({ externalOrderId }) => externalOrderId === 'fault-slow-a-0');
    on.insert(1, 'fault-slow-a');
    await inFlight;
    const [stopping, secondReady] = [said(pm2, 'stopping: '), ready(pm2)];
    const reloaded = pm2.run(['reload', 'order-sync']);
    await stopping;
    const goesOn = on.arrived(({ externalOrderId }) => externalOrderId === 'fault-slow-b-0');
    on.insert(1, 'fault-slow-b');
    clock.advance(SLOW_MS);
    await reloaded;
    expect(await secondReady).not.toBe(first);
    await goesOn;

    await pm2.run(['save']);
    const stillWaits = said(pm2, 'failed to kill - retrying', 20);
    const stopped = pm2.run(['stop', 'order-sync']);
    // Each is 100 ms of pm2's patience; without a setting it ends after 1.6 s.
    await stillWaits;
    clock.advance(SLOW_MS);
    await stopped;
    expect(await pm2.list()).toMatchObject([{ pid: 0, pm2_env: { status: 'stopped' } }]);

    // A follow pass may have run already.
    const { accepted = 0, open = 0, final = 0 } = on.states();
    expect(accepted + open + final).toBe(2);
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 2, duplicated: [] });
    await Promise.all(twoEnds);
    const cleanly = 'exited with code [0] via signal [SIGINT]';
    expect(exits(pm2.events)).toEqual([cleanly, cleanly]);

    const files = written(pm2.home);
    expect(files).toContain(environment['ORDER_SYNC_EXCHANGE_API_KEY_FILE']);
    expect(files).toContain('order-sync is ready');
    expect(files).not.toContain(key);
  });

  it('is not online while another process owns the account, and is once that has gone', async () => {
    const { on, pm2, environment } = await setUp();
    const owner = await on.start(['run']);
    const [starting, readyAtLast] = [said(pm2, 'starting in -fork mode'), ready(pm2)];
    const started = pm2.run(['start', ECOSYSTEM], environment);
    await starting;
    expect((await pm2.list()).map(({ pm2_env }) => pm2_env.status)).not.toContain('online');
    owner.process.kill('SIGTERM');
    await owner.exit;
    const pid = await readyAtLast;
    await started;
    expect(await pm2.list()).toMatchObject([{ pid, pm2_env: { status: 'online' } }]);
  });

  it('comes back after a crash, with growing waits, and continues', async () => {
    const { on, pm2, environment } = await setUp();
    const first = ready(pm2);
    await pm2.run(['start', ECOSYSTEM], environment);
    let pid = await first;
    for (const wait of [200, 300, 450]) {
      const [waits, back] = [said(pm2, 'will restart in'), ready(pm2)];
      process.kill(pid, 'SIGKILL');
      expect((await waits).text).toContain(`will restart in ${wait}ms`);
      pid = await back;
    }
    const arrived = on.arrived(({ method }) => method === 'POST');
    on.insert(1);
    await arrived;
  });

  it('is not started again after an exit that only a person can mend, and is when told to', async () => {
    const { on, pm2, keyFile, environment } = await setUp();
    on.insert(1);
    const broken = `${on.path}.broken`;
    writeFileSync(broken, 'this is no database');
    const openKey = `${on.path}.openkey`;
    writeFileSync(openKey, 'wrong-key');
    const wrongKey = `${on.path}.wrongkey`;
    writeFileSync(wrongKey, 'wrong-key', { mode: 0o600 });
    const apps = {
      'exit-64': { args: ['run', '--nonsense'] },
      'exit-65': { env: { ORDER_SYNC_DATABASE_URL: `sqlite:${broken}` } },
      'exit-77': { env: { ORDER_SYNC_EXCHANGE_API_KEY_FILE: wrongKey } },
      'exit-78': { env: { ORDER_SYNC_EXCHANGE_API_KEY_FILE: openKey } },
    };
    const config = join(dirname(keyFile), 'wrong.config.cjs');
    const crash = join(dirname(keyFile), 'crash.cjs');
    // With pm2's probe, as in a configuration of a person's own: it must not keep the process open.
    writeFileSync(
      config,
      `const [app] = require(${JSON.stringify(ECOSYSTEM)}).apps;
       const apps = Object.entries(${JSON.stringify(apps)}).map(([name, changes]) => ({ ...app, name, pmx: true, ...changes }));
       module.exports = { apps };`,
    );
    writeFileSync(crash, 'process.exit(70)');

    const ended = Promise.all(
      Object.keys(apps).map((name) => pm2.next((event) => event.event === 'exit' && event.name === name)),
    );
    await pm2.run(['start', config], environment);
    await ended;
    // Its second start comes after any start that pm2 had planned for the others.
    const secondCrash = pm2.next(({ name, event }) => event === 'exit' && starts(pm2.events, name).length === 2);
    await pm2.run(['start', crash, '--exp-backoff-restart-delay', '200']);
    expect((await secondCrash).name).toBe('crash');
    const list = (await pm2.list()).filter(({ name }) => name !== 'crash');
    expect(list.map(({ name, pid, pm2_env }) => [name, pid, pm2_env.exit_code, pm2_env.restart_time])).toEqual([
      ['exit-64', 0, 64, 0],
      ['exit-65', 0, 65, 0],
      ['exit-77', 0, 77, 0],
      ['exit-78', 0, 78, 0],
    ]);
    for (const name of Object.keys(apps)) expect(starts(pm2.events, name)).toHaveLength(1);

    chmodSync(openKey, 0o600);
    writeFileSync(openKey, readFileSync(keyFile));
    const corrected = ready(pm2, 'exit-78');
    await pm2.run(['restart', 'exit-78']);
    await corrected;
  });

  it.skipIf(findPostgres() === undefined)(
    'is several workers with PostgreSQL, replaced one after the other',
    async () => {
      const { on, pm2, environment } = await setUp();
      const database = await newPostgresDatabase();
      const workers = { ...environment, ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_WORKERS_INSTANCES: '2' };
      const bothReady = said(pm2, '"msg":"order-sync is ready"', 2);
      await pm2.run(['start', ECOSYSTEM], workers);
      await bothReady;
      const first = await pm2.list();
      expect(first.map(({ pm2_env }) => pm2_env.status)).toEqual(['online', 'online']);

      const merchant = openMerchant(database);
      const insert = async (id: string) => {
        const created = on.arrived(({ externalOrderId }) => externalOrderId === id);
        merchant.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
        values ('${id}', '1', 'BTC', 'EUR')`);
        await created;
      };
      await insert('before');
      const bothAgain = said(pm2, '"msg":"order-sync is ready"', 2);
      await pm2.run(['reload', 'order-sync'], workers);
      await bothAgain;
      const pids = new Set([...first, ...(await pm2.list())].map(({ pid }) => pid));
      expect(pids.size).toBe(4);
      await insert('after');
      await pm2.run(['stop', 'order-sync']);
      expect(on.sandbox.exchange.census()).toEqual({ preOrders: 2, duplicated: [] });
      expect(exits(pm2.events)).toEqual(Array.from({ length: 4 }, () => 'exited with code [0] via signal [SIGINT]'));
    },
  );
});
