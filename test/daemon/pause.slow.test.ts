import { describe, expect, it, vi } from 'vitest';
import { runProgram } from '../support/cli-function.ts';
import { testProcesses, type Daemon, type ProgramProcesses } from '../support/program-processes.ts';

const LONG = { timeout: 60_000 };

/** Daemons on one database, one after the other, and what has arrived at the exchange. */
async function daemons(environment: Record<string, string> = {}) {
  const on = await testProcesses({}, environment);
  const run = (...args: string[]) => runProgram(args, { environment: on.environment });
  return {
    on,
    arrived: (method: string) => on.sandbox.requests.filter((request) => request.method === method).length,
    run,
    start: () => on.start(['run']),
    /** Makes the running daemon do a pass. Returns what it says of it. */
    sync: async () =>
      JSON.parse((await run('sync', '--json')).stdout) as { remaining: number; holds: readonly { kind: string }[] },
  };
}

async function kill({ process, exit }: Daemon): Promise<void> {
  process.kill('SIGKILL');
  await exit;
}

/** Resolves when the account is held in this way. */
async function held({ merchant }: ProgramProcesses, kind: string): Promise<void> {
  const hold = merchant.prepare('select 1 from account_holds where kind = ?');
  await vi.waitUntil(() => hold.get(kind) !== undefined, LONG);
}

describe('a daemon that is killed', () => {
  it('keeps to the limit of creates over its death, and sends nothing more until a person resumes it', async () => {
    const { on, arrived, run, start, sync } = await daemons({
      ORDER_SYNC_GUARD_CREATES_PER_HOUR: '5',
      ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '4',
    });
    on.insert(20);
    const first = await start();
    await vi.waitUntil(() => arrived('POST') >= 2, LONG);
    await kill(first);
    const second = await start();
    await held(on, 'guarded');
    expect(arrived('POST')).toBeLessThanOrEqual(5);
    await kill(second);
    const sent = arrived('POST');
    await start();
    on.insert(1, 'new');
    expect(await sync()).toMatchObject({ holds: [{ kind: 'guarded' }] });
    expect(arrived('POST')).toBe(sent);
    await run('resume', '--reason', 'looked into');
    await vi.waitUntil(() => arrived('POST') === sent + 5, LONG);
    await held(on, 'guarded');
    await sync();
    expect(arrived('POST')).toBe(sent + 5);
  });

  it.each([
    ['--creates', 'creates-paused'],
    ['--all', 'all-paused'],
  ])('stays paused after its death, with pause %s', async (scope, kind) => {
    const { on, arrived, run, start, sync } = await daemons({ ORDER_SYNC_SCHEDULE_CRON: '0 0 1 1 *' });
    on.insert(1);
    const first = await start();
    await vi.waitUntil(() => (on.states()['accepted'] ?? 0) === 1, LONG);
    expect(await run('pause', scope, '--reason', 'maintenance')).toMatchObject({ code: 0 });
    await kill(first);
    const [creates, lookups] = [arrived('POST'), arrived('GET')];
    on.insert(3, 'new');
    await start();
    expect(await sync()).toMatchObject({ remaining: 3, holds: [{ kind }] });
    expect([arrived('POST'), arrived('GET')]).toEqual([creates, lookups + (scope === '--all' ? 0 : 1)]);
    expect(await run('resume', '--reason', 'over')).toMatchObject({ code: 0 });
    await vi.waitUntil(() => arrived('POST') === creates + 3, LONG);
  });
});
