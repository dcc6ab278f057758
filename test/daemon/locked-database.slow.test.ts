import { once } from 'node:events';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { SqliteStatement } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runDaemon } from '../support/daemon.ts';
import { startCommand } from '../support/cli-process.ts';
import { StoreError } from '../../src/store/errors.ts';
import { SLOW_MS } from '../../src/extensions/sandbox/server.ts';
import { expectSoundHistory, programProcesses } from '../support/program-processes.ts';
import { hastyClock, testClock } from '../support/test-clock.ts';
import { scriptedProgram } from '../support/test-program.ts';

// The answers come while the database is locked. Each test waits for as long as a stop may take: all at once.
describe.concurrent('while another program holds the database locked', () => {
  it.each([
    ['its time has run out', ['--timeout', '8s'], 75, /locked by another program/],
    ['it is told to stop', [], 69, /^order-sync: stopped before the pass ended/m],
  ])('sync ends all the same when %s', async (why, args, exitCode, said) => {
    const clock = testClock();
    await using on = await programProcesses({ clock });
    on.insert(1, 'fault-slow');
    const reached = on.arrived(({ method }) => method === 'POST');
    const { process: child, finished } = startCommand(['sync', '--json', ...args], {
      cwd: dirname(on.path),
      environment: on.environment,
    });
    await reached;
    on.merchant.exec('begin immediate');
    clock.advance(SLOW_MS);
    if (why === 'it is told to stop') child.kill('SIGINT');
    const { code, stdout, stderr } = await finished;
    on.merchant.exec('rollback');
    expect([code, stdout, on.states()]).toEqual([exitCode, '', { sending: 1 }]);
    expect(stderr).toMatch(said);
  });

  it('the daemon exits 0 at SIGTERM, and loses nothing', async () => {
    const clock = testClock();
    await using on = await programProcesses({ clock });
    const daemon = await on.start(['run']);
    // Eight go together only after this many are answered.
    on.insert(7);
    while (on.states()['accepted'] !== 7) await once(daemon.process.stdout ?? expect.fail(), 'data');
    let arrived = 0;
    const reached = on.arrived(({ method }) => method === 'POST' && ++arrived === 8);
    on.insert(8, 'fault-slow');
    await reached;
    on.merchant.exec('begin immediate');
    clock.advance(SLOW_MS);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    on.merchant.exec('rollback');
    expect(on.states()).toEqual({ accepted: 7, sending: 8 });
    await (
      await on.start(['sync'])
    ).exit;
    expect(on.sandbox.exchange.census()).toMatchObject({ preOrders: 15, duplicated: [] });
    expectSoundHistory(on);
  });
});

describe('a daemon that is asked to stop while it starts', () => {
  it.each([
    ['that another owner has', '.lock', 'begin exclusive'],
    ['that another program has locked', '', 'begin immediate'],
  ])('waits no longer for a database %s, and ends in order', async (_name, ending, lock) => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    await program.app[Symbol.asyncDispose]();
    const other = new Database(`${program.config.database.path}${ending}`);
    onTestFinished(() => void other.close());
    other.exec(lock);
    const stop = new AbortController();
    const clock = hastyClock();
    const sleep: typeof clock.sleep = (...args) => {
      stop.abort();
      return clock.sleep(...args);
    };
    const overrides = { clock: { ...clock, sleep }, log: program.log.logger };
    await runDaemon(program.config, stop.signal, () => expect.fail('it is not ready'), overrides);
    expect(program.log.with('stopped')).toHaveLength(1);
    expect(exchange.requests).toEqual([]);
  });
});

describe('a daemon that cannot count at its start what waits', () => {
  /** Runs it while the counts fail. */
  async function started(failure: () => Error | undefined) {
    const { program } = await scriptedProgram();
    await program.app[Symbol.asyncDispose]();
    const wrap = (text: string, statement: SqliteStatement): SqliteStatement => {
      if (!text.includes('count(*)') || !/\bas "?due\b/.test(text)) return statement;
      const all = (parameters: readonly unknown[]) => {
        const error = failure();
        if (error !== undefined) throw error;
        return statement.all(parameters);
      };
      const iterate = (parameters: readonly unknown[]) => statement.iterate(parameters);
      return { reader: true, run: (parameters) => statement.run(parameters), all, iterate };
    };
    const [stop, ready] = [new AbortController(), Promise.withResolvers<void>()];
    const overrides = { clock: hastyClock(), log: program.log.logger, store: { wrap } };
    const ended = runDaemon(program.config, stop.signal, ready.resolve, overrides);
    return { program, stop, ended, ready: ready.promise };
  }

  it('counts again, and is ready then', async () => {
    const failures = [new StoreError('busy', 'the database is out of reach')];
    const { program, stop, ended, ready } = await started(() => failures.pop());
    await Promise.race([ready, ended]);
    stop.abort();
    await ended;
    expect(failures).toEqual([]);
    expect(program.log.with('order-sync is ready')).toHaveLength(1);
  });

  it('ends in order if counting again does not help', async () => {
    const { program, ended } = await started(() => new Error('a bug'));
    await expect(ended).rejects.toThrow('a bug');
    expect(program.log.with('stopping: no new work begins, requests in flight are finished')).toHaveLength(1);
  });
});
