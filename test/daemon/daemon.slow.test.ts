import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dirname } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import { runProgram, type CommandResult } from '../support/cli-function.ts';
import { startCommand } from '../support/cli-process.ts';
import { expectSoundHistory, testProcesses, type ProgramProcesses } from '../support/program-processes.ts';

/** Runs a pass beside the daemon, or in its place. */
async function sync(on: ProgramProcesses, environment: Record<string, string> = {}): Promise<CommandResult> {
  const place = { cwd: dirname(on.path), environment: { ...on.environment, ...environment } };
  return await runProgram(['sync', '--json'], place);
}

const isCreate = ({ method }: { method: string }) => method === 'POST';

/** Resolves after `count` creates have arrived. */
function creates(on: ProgramProcesses, count: number): Promise<void> {
  let seen = 0;
  return on.arrived((request) => isCreate(request) && ++seen === count);
}

describe('the daemon', () => {
  it('loses no order and creates none twice when it is killed again and again during creates', async () => {
    const on = await testProcesses();
    on.insert(300);
    for (const count of [5, 40, 80]) {
      const reached = creates(on, count);
      const daemon = await on.start(['run']);
      await reached;
      daemon.process.kill('SIGKILL');
      expect((await daemon.exit).signal).toBe('SIGKILL');
    }
    await sync(on);
    const { preOrders, duplicated } = on.sandbox.exchange.census();
    expect(duplicated).toEqual([]);
    const states = on.states();
    expect(states['pending']).toBeUndefined();
    expect(states['sending']).toBeUndefined();
    expect(Object.values(states).reduce((sum, orders) => sum + orders, 0)).toBe(300);
    expect(preOrders).toBeGreaterThanOrEqual(300 - (states['unknown'] ?? 0));
    expectSoundHistory(on);
  });

  it('ends with 65 if a newer version has changed the tables meanwhile', async () => {
    const on = await testProcesses();
    const daemon = await on.start(['run']);
    on.merchant.exec(`insert into kysely_migration (name, timestamp) values ('9999_later', '')`);
    expect(await daemon.exit).toEqual({ code: 65, signal: null });
    expect(daemon.output()).toContain('9999_later');
  });

  it('finishes what is in flight at SIGTERM, takes nothing new, and exits 0', async () => {
    const on = await testProcesses();
    on.insert(2_000);
    const reached = creates(on, 50);
    const daemon = await on.start(['run']);
    await reached;
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    const states = on.states();
    expect(states['sending'] ?? 0).toBe(0);
    expect(states['unknown'] ?? 0).toBe(0);
    expect(states['pending']).toBeGreaterThan(0);
    // The follow pass may have looked some of them up by then.
    const { accepted = 0, open = 0, final = 0 } = states;
    expect(accepted + open + final).toBe(on.sandbox.exchange.census().preOrders);
  });

  it('ends with 75 once it has something to send when a second one runs because its lock was removed', async () => {
    const on = await testProcesses();
    const first = await on.start(['run']);
    rmSync(`${on.path}.lock`);
    // At the socket of the first, it would be refused.
    const second = await on.start(['run'], { ORDER_SYNC_CONTROL_SOCKET: `${on.path}.second.sock` });
    expect(second.process.exitCode).toBeNull();
    on.insert(20);
    expect(await first.exit).toEqual({ code: 75, signal: null });
    second.process.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
    expect(on.sandbox.exchange.census().duplicated).toEqual([]);
    expectSoundHistory(on);
  });

  it('is one for a database by whatever path it is named', async () => {
    const on = await testProcesses();
    await on.start(['run']);
    symlinkSync(on.path, `${on.path}.link`);
    const second = await on.start(['run'], { ORDER_SYNC_DATABASE_URL: `sqlite:${on.path}.link` });
    expect((await second.exit).code).toBe(75);
  });

  it('takes a signal that comes again at once for the first, and ends at a later one', async () => {
    const on = await testProcesses();
    on.insert(1, 'fault-hang');
    const reached = on.arrived(isCreate);
    const daemon = await on.start(['run']);
    await reached;
    const begin = performance.now();
    const again = setInterval(() => daemon.process.kill('SIGTERM'), 50);
    daemon.process.kill('SIGTERM');
    daemon.process.kill('SIGINT');
    expect((await daemon.exit).code).toBe(130);
    clearInterval(again);
    expect(performance.now() - begin).toBeGreaterThan(1_900);
  });

  it('works on if its log cannot be written', async () => {
    const on = await testProcesses();
    on.insert(3);
    const reached = creates(on, 3);
    const full = openSync('/dev/full', 'w');
    const daemon = startCommand(['run'], { cwd: dirname(on.path), environment: on.environment, stdout: full });
    closeSync(full);
    await reached;
    daemon.process.kill('SIGTERM');
    expect(await daemon.finished).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(on.states()['pending']).toBeUndefined();
  });

  it('lets no second daemon drive the same database', async () => {
    const on = await testProcesses();
    await on.start(['run']);
    const second = await on.start(['run']);
    expect((await second.exit).code).toBe(75);
  });

  it('says the key is refused and exits 77', async () => {
    const on = await testProcesses();
    on.insert(3);
    const daemon = await on.start(['run'], { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' });
    expect((await daemon.exit).code).toBe(77);
    expect(daemon.output()).not.toMatch(/canary/);
    expect(on.states()).toEqual({ pending: 3 });
  });

  it('stops sending and exits 74 when its database file is moved', async () => {
    const on = await testProcesses();
    const daemon = await on.start(['run']);
    renameSync(on.path, `${on.path}.moved`);
    expect((await daemon.exit).code).toBe(74);
  });

  it('is not started with an empty database in place of one that was moved, and loses nothing when it is put back', async () => {
    const on = await testProcesses();
    const daemon = await on.start(['run']);
    // Known to the file beside the database alone until the last connection is closed.
    const accepted = creates(on, 3);
    on.insert(3);
    await accepted;
    renameSync(on.path, `${on.path}.moved`);
    await daemon.exit;
    const again = await on.start(['run']);
    expect((await again.exit).code).toBe(65);
    expect(again.output()).toMatch(/there is no database at .* put the database back beside it/);
    renameSync(`${on.path}.moved`, on.path);
    await sync(on);
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 3, duplicated: [] });
    expect(on.states()['pending']).toBeUndefined();
    expectSoundHistory(on);
  });

  it('has a control socket and files that only their owner can open, also if the path is long', async () => {
    const on = await testProcesses();
    await on.start(['run']);
    for (const ending of ['', '-wal', '.lock', '.sock']) {
      expect([ending, statSync(`${on.path}${ending}`).mode & 0o077]).toEqual([ending, 0]);
    }
    const deep = `${on.path}-${'d'.repeat(120)}`;
    mkdirSync(deep, { mode: 0o700 });
    const environment = { ORDER_SYNC_DATABASE_URL: `sqlite:${deep}/orders.db` };
    await (await openStore(`${deep}/orders.db`, systemClock(), { expect: 'migrate' })).close();
    await on.start(['run'], environment);
    expect((await sync(on, environment)).code).toBe(0);
  });

  it('runs the pass of a sync that is started beside it, within one rate limit', async () => {
    const rate = { requests: 20, intervalMs: 250 };
    const on = await testProcesses(
      { rate },
      { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '20', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '250ms' },
    );
    on.insert(60);
    const reached = creates(on, 30);
    const daemon = await on.start(['run']);
    await reached;
    const beside = await on.start(['sync', '--json']);
    expect((await beside.exit).code).toBe(0);
    expect(JSON.parse(beside.output())).toMatchObject({ remaining: 0, unknown: 0, failed: 0 });
    daemon.process.kill('SIGTERM');
    await daemon.exit;
    expect((await sync(on)).code).toBe(0);
    expect(on.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 60, duplicated: [] });
  });
});
