import { once } from 'node:events';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCommand } from '../support/cli-process.ts';
import { SLOW_MS } from '../../src/sandbox/faults/faulty-answer.ts';
import { expectSoundHistory, programProcesses } from '../support/program-processes.ts';
import { testClock } from '../support/test-clock.ts';

// The answers come while the database is locked. Each test waits for as long as a stop may take: all at once.
describe.concurrent('while another program holds the database locked', () => {
  it.each([
    ['its time has run out', ['--timeout', '8s'], 75, /is locked by another program/],
    ['it is told to stop', [], 69, /^order-sync: stopped before the pass was done/m],
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
    // Only after so many are answered eight go together.
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
