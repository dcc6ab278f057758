import { describe, expect, it, onTestFinished } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { RateWindow } from '../../../src/exchange/transport/rate-window.ts';
import { RateGroup, RequestLease, spentByLastOwner } from '../../../src/orders/pass/lease.ts';
import { leaseRequests, type Lease } from '../../../src/store/tables/accounts.ts';
import type { Work, Writer } from '../../../src/store/port.ts';
import type { WrapStatement } from '../../../src/store/sqlite/connection.ts';
import { saveFailOver } from '../../../src/store/tables/fail-overs.ts';
import { OwnedError, StoreError } from '../../../src/store/errors.ts';
import { ownershipOf } from '../../../src/store/sqlite/owner.ts';
import type { ScriptedExchange } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { ofSqlite } from '../../support/database.ts';

const NEVER = new AbortController().signal;

/** Settings with this rate limit. */
function rate(requests: number, interval: string): Record<string, string> {
  return { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: String(requests), ORDER_SYNC_EXCHANGE_RATE_INTERVAL: interval };
}

/** Owners that do not wait for one another. */
const LOCKLESS = { store: { lockFile: async () => ({ release: () => {} }) } };

/** Takes the account over as after a SIGKILL: the last owner closes nothing in order. */
async function takeOver(program: TestProgram): Promise<void> {
  const killed = program.app;
  onTestFinished(() => killed[Symbol.asyncDispose]());
  program.app = await program.start(LOCKLESS);
}

/** Asks as many times as the limit lets through now. */
async function askUntilFull(program: TestProgram, exchange: ScriptedExchange): Promise<number> {
  const before = exchange.requests.length;
  const stop = new AbortController();
  const asked = Array.from({ length: 100 }, () => program.app.exchange.showOrder('a', stop.signal));
  for (let turns = 0; turns < 400; turns += 1) await program.clock.turn();
  stop.abort();
  await Promise.all(asked);
  return exchange.requests.length - before;
}

async function saveFreshFailOver({ app }: TestProgram, account: string): Promise<void> {
  const { store, clock } = app;
  const at = clock.now().toISOString();
  const times = { seenAt: at, markedAt: at, heardAt: null, reportedAt: at, insertedUntil: null };
  const lines = { id: 1, fromTimeLine: '1', toTimeLine: '2', generation: 1, settings: null, nextSettings: null };
  await store.writer.write((tx) => saveFailOver(tx, account, { ...times, ...lines, walked: null }, clock.now()));
}

describe('requests of an owner', () => {
  it('let the next one start at once if the limit has room', async () => {
    const { program, exchange } = await scriptedProgram({ environment: rate(1_000, '10m'), overrides: LOCKLESS });
    await program.app.exchange.showOrder('a');
    await takeOver(program);
    await program.app.exchange.showOrder('b');
    await program.restart();
    await program.app.exchange.showOrder('c');
    expect(exchange.count('GET')).toBe(3);
  });

  it(
    'count for the next one as what was granted, after a kill, and as what was sent, after a stop',
    ofSqlite('it writes within a turn'),
    async () => {
      const { program, exchange } = await scriptedProgram({ environment: rate(64, '10m'), overrides: LOCKLESS });
      expect(await askUntilFull(program, exchange)).toBe(64);
      program.clock.advance(610_000);
      await program.app.exchange.showOrder('a');
      await takeOver(program);
      // Of leases of two requests the second was granted ahead.
      expect(await askUntilFull(program, exchange)).toBeLessThanOrEqual(63);
      await program.restart();
      expect(await askUntilFull(program, exchange)).toBe(0);
      program.clock.advance(610_000);
      await program.app.exchange.showOrder('a');
      await program.restart();
      expect(await askUntilFull(program, exchange)).toBe(63);
    },
  );

  it.each(['stop', 'kill'])('count for the next one after a %s if the rate is paced, too', async (end) => {
    const environment = { ...rate(2, '10m'), ORDER_SYNC_EXCHANGE_RATE_MODE: 'paced' };
    const { program, exchange } = await scriptedProgram({ environment, overrides: LOCKLESS });
    expect(await askUntilFull(program, exchange)).toBe(1);
    program.clock.advance(320_000);
    expect(await askUntilFull(program, exchange)).toBe(1);
    if (end === 'kill') await takeOver(program);
    else await program.restart();
    program.clock.advance(250_000);
    expect(await askUntilFull(program, exchange)).toBe(0);
    program.clock.advance(40_000);
    expect(await askUntilFull(program, exchange)).toBe(end === 'kill' ? 0 : 1);
    program.clock.advance(610_000);
    expect(await askUntilFull(program, exchange)).toBe(1);
  });

  it('count whole if the window was shorter for the last one: requests before it are not known', async () => {
    const { program, exchange } = await scriptedProgram({ environment: rate(64, '1s') });
    await program.app.exchange.showOrder('a');
    const { config } = await scriptedProgram({ environment: rate(64, '10m') }).then((other) => other.program);
    await program.app[Symbol.asyncDispose]();
    const exchangeSettings = { ...program.config.exchange, rate: config.exchange.rate };
    program.app = await program.start({}, { ...program.config, exchange: exchangeSettings });
    expect(await askUntilFull(program, exchange)).toBe(0);
  });
});

describe('the last owner, whose process was stopped and may wake', () => {
  /** The room that is left for others, by the second, with a limit of 20 a second: it lost the account now. */
  async function roomAfter(
    lease: Omit<Lease, 'intervalMs' | 'timeoutMs' | 'boot' | 'bootMs'>,
    seconds: readonly number[],
    lostMsAgo = 0,
  ) {
    const { program } = await scriptedProgram();
    const { app, clock } = program;
    clock.advance(3_600_000);
    const [limit, limits] = [
      { requests: 20, intervalMs: 1_000 },
      { intervalMs: 1_000, timeoutMs: 15_000, boot: null, bootMs: null },
    ];
    await app.store.writer.write((tx) => leaseRequests(tx, 'default', { ...lease, ...limits }));
    const accountLease = { now: () => clock.now(), lastOwnerUntil: clock.monotonic() - lostMsAgo };
    const { spent } = await spentByLastOwner({ ...app, accountLease }, limit);
    return seconds.map((second) => {
      const window = new RateWindow(limit, spent);
      const now = clock.monotonic() + second * 1_000;
      let room = 0;
      for (; window.waitMs(now) === 0; room += 1) window.start(now);
      return room;
    });
  }
  const BEGAN = Date.parse('2026-01-05T13:00:00.000Z');

  it('keeps room for what it may have begun until that can no longer leave, and for the rest until the window has passed', async () => {
    const lease = { until: new Date(BEGAN - 500), requests: 40, concurrency: 8, spent: [] };
    expect(await roomAfter(lease, [0, 0.999, 1, 15.4, 15.5])).toEqual([0, 0, 12, 12, 20]);
  });

  it('keeps room for no more than it was granted', async () => {
    const lease = { until: new Date(BEGAN - 500), requests: 2, concurrency: 8, spent: [] };
    expect(await roomAfter(lease, [0, 1, 16])).toEqual([16, 18, 20]);
  });

  it('keeps none if it had sent nothing for long', async () => {
    const lease = { until: new Date(BEGAN - 60_000), requests: 8, concurrency: 8, spent: [] };
    expect(await roomAfter(lease, [0, 1])).toEqual([20, 20]);
  });

  it('takes nothing from a lease of this process, which it could not give back before the account rested', async () => {
    const lease = { until: new Date(BEGAN - 500), requests: 20, concurrency: 8, spent: [] };
    expect(await roomAfter(lease, [0, 0.499, 0.5], 3_600_000)).toEqual([0, 0, 20]);
  });

  it('leaves no room at all if it may have begun as many as the limit allows: the limit goes first', async () => {
    const lease = { until: new Date(BEGAN), requests: 40, concurrency: 20, spent: [] };
    expect(await roomAfter(lease, [1, 15.999, 16])).toEqual([0, 0, 20]);
  });

  it('counts by the monotonic clock if the clock of leases was set forward', async () => {
    const lease = { until: new Date(BEGAN - 3_600_000), requests: 40, concurrency: 8, spent: [] };
    expect(await roomAfter(lease, [0, 0.999, 1])).toEqual([0, 0, 20]);
  });

  it('leaves that room to the owner after the next one, too', async () => {
    const spent = [{ at: new Date(BEGAN + 14_000), requests: 8 }];
    const lease = { until: new Date(BEGAN - 60_000), requests: 0, concurrency: 8, spent };
    expect(await roomAfter(lease, [0, 14.9, 15])).toEqual([12, 12, 20]);
  });
});

describe('a request of an owner that does not know whether it still is one', () => {
  /** A lease of an account whose ownership the test decides. */
  async function heldLease() {
    const { program } = await scriptedProgram();
    const { app, clock } = program;
    const limit = { requests: 10, intervalMs: 1_000 };
    const ending = new AbortController();
    const accountLease = { generation: 1, isTrusted: () => isTrusted, now: () => clock.now(), ending: ending.signal };
    let isTrusted = false;
    const lease = new RequestLease({
      ...app,
      accountLease,
      window: new RateWindow(limit),
      concurrency: 8,
      timeoutMs: 15_000,
    });
    return { lease, clock, ending, trust: (value: boolean) => (isTrusted = value) };
  }

  it('waits until it is sure', async () => {
    const { lease, clock, trust } = await heldLease();
    const leaves = lease.ensure();
    clock.advance(100);
    trust(true);
    await clock.turn();
    clock.advance(100);
    await expect(leaves).resolves.toBeUndefined();
  });

  it('does not leave when the account is lost, nor when nothing is heard for long', async () => {
    const { lease, clock, ending } = await heldLease();
    const late = lease.ensure().catch((error: unknown) => error);
    for (let waited = 0; waited <= 3_000; waited += 100) {
      clock.advance(100);
      await clock.turn();
    }
    expect(await late).toBeInstanceOf(StoreError);
    const lost = lease.ensure();
    ending.abort();
    await expect(lost).rejects.toThrow(OwnedError);
  });
});

it.each([
  ['it was written five times', false, 5],
  ['the process has no time left', true, 0],
])('a lease that is over before it is durable is asked for until %s', async (_when, isOver, mostWrites) => {
  const { program } = await scriptedProgram();
  const { app, clock } = program;
  let writes = 0;
  const write: typeof app.store.writer.write = async (work) => {
    const result = await app.store.writer.write(work);
    writes += 1;
    clock.advance(1_600);
    return result;
  };
  const lease = new RequestLease({
    ...app,
    store: { ...app.store, writer: { ...app.store.writer, write } },
    accountLease: { generation: 1, isTrusted: () => true, now: () => clock.now(), ending: NEVER },
    window: new RateWindow({ requests: 10, intervalMs: 1_000 }),
    concurrency: 8,
    timeoutMs: 15_000,
    gracePeriodOver: isOver ? AbortSignal.abort() : NEVER,
  });
  await expect(lease.ensure()).rejects.toThrow(StoreError);
  expect(writes).toBe(mostWrites);
});

describe('a lease whose owner was killed before the clock was set', () => {
  const HOUR_MS = 3_600_000;
  const SPENT = 7;

  /** The number that counts as spent in the next second, for an owner that starts a second after the lease has ended. */
  async function spentAfter(setByMs: number, boot: string | undefined): Promise<number> {
    const { program } = await scriptedProgram();
    const { store, account } = program.app;
    const { clock } = program;
    const until = clock.now();
    const spent = [{ at: new Date(until.getTime() - 500), requests: SPENT - 2 }];
    const limits = { intervalMs: 60_000, concurrency: 8, timeoutMs: 15_000 };
    const lease = { until, boot: 'this start', bootMs: clock.monotonic(), requests: 2, spent, ...limits };
    await store.writer.write((tx) => leaseRequests(tx, account, lease));
    clock.advance(1_000);
    const set = { ...clock, boot, now: () => new Date(clock.now().getTime() + setByMs) };
    const accountLease = { now: set.now, lastOwnerUntil: undefined };
    const last = await spentByLastOwner(
      { store, account, clock: set, accountLease },
      { requests: 10, intervalMs: 60_000 },
    );
    const inWindow = last.spent.filter(({ at }) => at > clock.monotonic() - 60_000);
    return inWindow.reduce((sum, { requests }) => sum + requests, 0);
  }

  it.each([-HOUR_MS, 0, HOUR_MS])(
    'counts as long ago as it was, by the time since the start of the machine: %i ms',
    async (ms) => {
      expect(await spentAfter(ms, 'this start')).toBe(SPENT);
    },
  );

  it.each(['another start', undefined])('counts by UTC if the machine was started since: %s', async (boot) => {
    expect(await spentAfter(0, boot)).toBe(SPENT);
    expect(await spentAfter(-HOUR_MS, boot)).toBe(SPENT);
    expect(await spentAfter(HOUR_MS, boot)).toBe(0);
  });
});

describe('accounts that share a limit', () => {
  it('start with a full window after a fail-over, which may have lost what earlier owners sent', async () => {
    const { program, exchange } = await scriptedProgram({ environment: rate(20, '10m'), overrides: LOCKLESS });
    const names = ['default', 'b'];
    for (const account of names) await saveFreshFailOver(program, account);
    const killed = program.app;
    onTestFinished(() => killed[Symbol.asyncDispose]());
    const [first] = program.config.accounts;
    const accounts = names.map((name) => ({ ...first!, name, rateGroup: 'g' }));
    program.app = await program.start(LOCKLESS, { ...program.config, accounts });
    expect(await askUntilFull(program, exchange)).toBe(0);
    program.clock.advance(10 * 60_000);
    expect(await askUntilFull(program, exchange)).toBeGreaterThan(0);
  });

  it('count what the last owners of all of them sent, once, and what each sends, for all', async () => {
    const { program } = await scriptedProgram();
    const { store, clock } = program.app;
    const limit = { requests: 10, intervalMs: 1_000 };
    const spent = [{ at: clock.now(), requests: 3 }];
    const limits = { intervalMs: 1_000, concurrency: 8, timeoutMs: 15_000 };
    const lease = { until: new Date(0), boot: null, bootMs: null, requests: 0, spent, ...limits };
    for (const account of ['a', 'b']) await store.writer.write((tx) => leaseRequests(tx, account, lease));
    const group = new RateGroup(await ownershipOf({ release() {} }, store, clock).take(['a', 'b'], 0));
    const own = [{ at: clock.monotonic(), requests: 3 }];
    const [a, b] = [
      await group.windowOf({ store, clock }, limit, own),
      await group.windowOf({ store, clock }, limit, own),
    ];
    for (let sent = 0; sent < 3; sent += 1) a.start(0);
    expect([a.waitMs(0), b.waitMs(0), a.spent(0).running, b.spent(0).running]).toEqual([0, 0, 3, 0]);
    b.start(0);
    expect([a.waitMs(0), b.waitMs(0)]).toEqual([1_000, 1_000]);
    expect([a.spent(0).ended, b.spent(0).ended]).toEqual([[{ at: 0, requests: 3 }], [{ at: 0, requests: 3 }]]);
    a.end(0, false);
    expect([a.waitMs(0), b.waitMs(0)]).toEqual([0, 0]);
  });
});

describe('requests that are ready at one time', () => {
  it('leave no more at once than their lease has room for: what the next owner counts', async () => {
    const { program } = await scriptedProgram();
    const { app, clock } = program;
    // One request a lease.
    const limit = { requests: 6, intervalMs: 60_000 };
    const signal = new AbortController().signal;
    const accountLease = { generation: 1, isTrusted: () => true, now: () => clock.now(), ending: signal };
    let writes = 0;
    const counting: Writer = Object.create(app.store.writer, {
      write: {
        value: async (work: Work<unknown>) => {
          writes += 1;
          return await app.store.writer.write(work);
        },
      },
    }) as Writer;
    const store = { ...app.store, writer: counting };
    const window = new RateWindow(limit);
    const lease = new RequestLease({ ...app, store, accountLease, window, concurrency: 8, timeoutMs: 15_000 });
    await Promise.all(Array.from({ length: 4 }, () => lease.ensure()));
    // Each has a lease of its own, and the one that comes after them is written ahead of need.
    expect(writes).toBeGreaterThanOrEqual(4);
  });
});

describe('a request that a person asked for', () => {
  it('does not leave while that cannot be written', async () => {
    const { program, exchange } = await scriptedProgram();
    program.merchant.exec(`create trigger no_lease before insert on request_leases
      begin select raise(abort, 'no lease'); end`);
    await expect(program.app.exchange.showOrder('a')).rejects.toThrow('no lease');
    expect(exchange.requests).toEqual([]);
  });
});

describe('an owner that another has followed although the lock was to prevent it', () => {
  it.each([
    ['at once', 0],
    ['once its right to send is over', 60_000],
  ])('sends nothing more, %s, and says so', async (_name, laterMs) => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    await using second = await program.start(LOCKLESS);
    program.insert({ external_order_id: 'b' });
    program.clock.advance(laterMs);
    await expect(createPass(program.app, NEVER)).rejects.toThrow(OwnedError);
    expect(program.row('b')['state']).toBe('pending');
    expect(exchange.count('POST')).toBe(1);
    if (laterMs > 0) await expect(followPass(program.app, 'all', NEVER)).rejects.toThrow(OwnedError);
    program.clock.advance(5_000);
    await createPass(second, NEVER);
    expect(exchange.count('POST')).toBe(2);
    const lease = () => program.merchant.prepare('select requests_until from request_leases').pluck().get();
    const before = lease();
    await program.app[Symbol.asyncDispose]();
    expect(lease()).toBe(before);
  });
});

describe('a commit that takes longer than the right to send lasts', ofSqlite('its commits'), () => {
  /** The next commits take three seconds each. */
  async function slowly() {
    let slowCommits = 0;
    let advance = (_ms: number): void => {};
    const wrap: WrapStatement = (text, statement) => {
      if (text !== 'commit') return statement;
      const run = (parameters: readonly unknown[]) => {
        if (slowCommits > 0) advance(3_000);
        slowCommits -= 1;
        return statement.run(parameters);
      };
      return { reader: false, run, all: () => [], iterate: (parameters) => statement.iterate(parameters) };
    };
    const { program, exchange } = await scriptedProgram({ overrides: { store: { wrap } } });
    advance = (ms) => program.clock.advance(ms);
    const aheadMs: number[] = [];
    const { answer } = exchange;
    exchange.answer = (request) => {
      const until = program.merchant.prepare('select requests_until from request_leases').pluck().get() as string;
      aheadMs.push(Date.parse(until) - program.clock.now().getTime());
      return answer(request);
    };
    return { program, exchange, aheadMs, slow: (commits: number) => (slowCommits = commits) };
  }

  it.each([1, 3])('is followed by a renewal before a create or a look-up leaves: %i of them', async (commits) => {
    const { program, aheadMs, slow } = await slowly();
    program.insert({ external_order_id: 'a' });
    slow(commits);
    await createPass(program.app, NEVER);
    program.clock.advance(60_000);
    slow(commits);
    await followPass(program.app, 'all', NEVER);
    expect(aheadMs).toEqual([2_000, 2_000]);
  });

  it('lets nothing out if the renewal fails: the order waits', async () => {
    const { program, exchange, slow } = await slowly();
    program.insert({ external_order_id: 'a' });
    program.merchant.exec(`create trigger one_lease before update on request_leases
      begin select raise(abort, 'no second lease'); end`);
    slow(1);
    await createPass(program.app, NEVER);
    expect(exchange.requests).toEqual([]);
    expect(program.row('a')).toMatchObject({ state: 'pending', state_reason: 'not sent: no second lease' });
    program.merchant.exec('drop trigger one_lease');
  });
});
