import { describe, expect, it } from 'vitest';
import { Gate } from '../../src/exchange/gate.ts';
import { SharedWindow } from '../../src/exchange/shared-window.ts';
import { unheld } from '../support/exchange-client.ts';
import { testClock, type TestClock } from '../support/test-clock.ts';

/** Gates of accounts that share a limit of so many requests in 100 ms; what each starts is written down with its time. */
function gatesOf(accounts: readonly string[], requests: number, lastsMs = 0) {
  const clock = testClock();
  const shared = new SharedWindow({ requests, intervalMs: 100 }, [], clock);
  const gates = new Map(
    accounts.map((account) => [
      account,
      new Gate({ concurrency: 8, window: shared.member([]), account: unheld() }, clock),
    ]),
  );
  const starts: [string, number][] = [];
  const ask = async (account: string) => {
    using turn = await gates.get(account)!.turn({ lane: 'create', subject: account });
    if (turn === undefined) return;
    starts.push([account, clock.monotonic()]);
    if (lastsMs > 0) await clock.sleep(lastsMs);
    turn.report = { wasSent: true, health: 'answered' };
  };
  return { clock, gates, starts, ask };
}

async function pass(clock: TestClock, ms: number): Promise<void> {
  await clock.turn();
  for (let passed = 0; passed < ms; passed += 1) {
    clock.advance(1);
    await clock.turn();
  }
}

describe('accounts that share a limit', () => {
  it.each([0, 7, 150])('start no more than it allows, all together, with requests that last %i ms', async (lastsMs) => {
    const { clock, starts, ask } = gatesOf(['a', 'b', 'c'], 4, lastsMs);
    const all = Promise.all(Array.from({ length: 30 }, (_, index) => ask('abc'[index % 3]!)));
    await pass(clock, 2_500);
    await all;
    const times = starts.map(([, at]) => at);
    for (const [index, at] of times.slice(4).entries())
      expect(at - times[index]!).toBeGreaterThanOrEqual(100 + lastsMs);
    expect(times).toHaveLength(30);
  });

  it.each([0, 30])(
    'take turns, so that none waits for the backlog of another, with requests of %i ms',
    async (lastsMs) => {
      const { clock, starts, ask } = gatesOf(['a', 'b', 'c'], 2, lastsMs);
      const backlog = Array.from({ length: 40 }, () => ask('a'));
      await pass(clock, 10);
      const others = ['b', 'c', 'b', 'c'].map(ask);
      await pass(clock, 600);
      await Promise.all(others);
      const first = starts.slice(0, 10).map(([account]) => account);
      expect(first.toSorted().join('')).toBe('aaaaaabbcc');
      await pass(clock, 3_000);
      await Promise.all(backlog);
    },
  );

  it('go on when one of them is closed', async () => {
    const { clock, gates, starts, ask } = gatesOf(['a', 'b'], 1);
    await ask('a');
    const waiting = [ask('a'), ask('b')];
    gates.get('a')!.close();
    await pass(clock, 250);
    await Promise.all(waiting);
    expect(starts).toEqual([
      ['a', 0],
      ['b', 100],
    ]);
  });
});
