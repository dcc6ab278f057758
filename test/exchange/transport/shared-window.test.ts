import { describe, expect, it } from 'vitest';
import { Gate } from '../../../src/exchange/transport/gate.ts';
import { SharedWindow } from '../../../src/exchange/transport/rate-window.ts';
import { unheld } from '../../support/exchange-client.ts';
import { testClock, type TestClock } from '../../support/test-clock.ts';

/** Gates of accounts that share a limit of `requests` in 100 ms; the start of each is written down with its time. */
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

/** Accounts that share a limit of `requests` in 100 ms, and start their requests whenever they hear that they may. */
function backlogsOf(accounts: readonly string[], requests: number) {
  const clock = testClock();
  const shared = new SharedWindow({ requests, intervalMs: 100 }, [], clock);
  const started: string[] = [];
  const members = new Map(
    accounts.map((account) => {
      const window = shared.member([]);
      let backlog = 0;
      const goOn = () => {
        for (; backlog > 0 && window.waitMs(clock.monotonic()) === 0; backlog -= 1) {
          started.push(account);
          window.start(clock.monotonic());
        }
      };
      const ask = (more: number) => {
        backlog += more;
        goOn();
      };
      return [account, { window, ask, watching: window.watch(goOn) }];
    }),
  );
  const member = (account: string) => members.get(account)!;
  const end = (account: string, wasSent = true) => member(account).window.end(clock.monotonic(), wasSent);
  /** The accounts whose requests have started since this was asked for last. */
  const starts = () => started.splice(0).join('');
  return { clock, member, end, starts };
}

describe('room that comes for several requests at once', () => {
  it('is dealt out in turn, one request each, first to the account that has waited for longest', () => {
    const { clock, member, end, starts } = backlogsOf(['a', 'b', 'c'], 6);
    for (const [account, backlog] of [
      ['c', 1],
      ['a', 10],
      ['b', 10],
      ['c', 1],
    ] as const)
      member(account).ask(backlog);
    expect(starts()).toBe('caaaaa');
    for (const account of 'caaaaa') end(account);
    expect(starts()).toBe('');
    clock.advance(100);
    member('a').window.roomCame();
    expect(starts()).toBe('bcabab');
  });

  it('is dealt out to the last, however much it is', () => {
    const { clock, member, end, starts } = backlogsOf(['a', 'b'], 20_000);
    member('a').ask(20_000);
    for (const account of starts()) end(account);
    for (const account of 'ab') member(account).ask(10_000);
    clock.advance(100);
    member('a').window.roomCame();
    expect(starts()).toBe('ba'.repeat(10_000));
  });

  it('is taken by another account when a request ends that never left', () => {
    const { member, end, starts } = backlogsOf(['a', 'b'], 1);
    member('a').ask(1);
    member('b').ask(1);
    expect(starts()).toBe('a');
    end('a', false);
    expect(starts()).toBe('b');
  });

  it('is not offered to an account that watches no longer, and is to the others', () => {
    const { member, end, starts } = backlogsOf(['a', 'b', 'c'], 1);
    for (const account of 'abc') member(account).ask(1);
    member('b').watching[Symbol.dispose]();
    end('a', false);
    end('c', false);
    expect(starts()).toBe('ac');
  });
});

describe('the window of one account of several', () => {
  it('remembers its own requests for the next owner', () => {
    const { member, end } = backlogsOf(['a', 'b'], 4);
    member('a').ask(3);
    member('b').ask(1);
    end('a');
    end('b');
    expect(member('a').window.spent(0)).toEqual({ running: 2, ended: [{ at: 0, requests: 1 }] });
    expect(member('b').window.spent(0)).toEqual({ running: 0, ended: [{ at: 0, requests: 1 }] });
  });

  it('counts requests of others that no account has counted for all of them, and has each look again', () => {
    const clock = testClock();
    const now = clock.monotonic();
    const shared = new SharedWindow({ requests: 3, intervalMs: 100 }, [], clock);
    const first = shared.member([]);
    let looks = 0;
    using _ = first.watch(() => (looks += 1));
    expect(first.waitMs(now)).toBe(0);
    const [own, lost] = [[{ at: now - 90, requests: 1 }], [{ at: now - 40, requests: 3 }]];
    const second = shared.member(own, lost);
    expect(looks).toBeGreaterThan(0);
    expect([first.waitMs(now), second.waitMs(now)]).toEqual([60, 60]);
    expect(second.spent(now).ended).toEqual([...own, ...lost]);
    expect(first.spent(now).ended).toEqual([]);
  });
});

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

  it('continue when one of them is closed', async () => {
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
