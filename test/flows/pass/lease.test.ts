import { describe, expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../../src/app.ts';
import { createPass } from '../../../src/flows/orders/create.ts';
import { followPass } from '../../../src/flows/orders/follow.ts';
import type { WrapStatement } from '../../../src/store/sqlite/connection.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import type { ScriptedExchange } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';

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
  program.app = await createApp(program.config, { clock: program.clock, log: killed.log, ...LOCKLESS });
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

describe('requests of an owner', () => {
  it('let the next one start at once where the limit has room', async () => {
    const { program, exchange } = await scriptedProgram({ environment: rate(1_000, '10m'), overrides: LOCKLESS });
    await program.app.exchange.showOrder('a');
    await takeOver(program);
    await program.app.exchange.showOrder('b');
    await program.restart();
    await program.app.exchange.showOrder('c');
    expect(exchange.count('GET')).toBe(3);
  });

  it('count for the next one as what was granted, after a kill, and as what was sent, after a stop', async () => {
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
  });

  it('count whole where the window was shorter for the last one: what left it before is not known', async () => {
    const { program, exchange } = await scriptedProgram({ environment: rate(64, '1s') });
    await program.app.exchange.showOrder('a');
    const { config } = await scriptedProgram({ environment: rate(64, '10m') }).then((other) => other.program);
    await program.app[Symbol.asyncDispose]();
    const exchangeSettings = { ...program.config.exchange, rate: config.exchange.rate };
    program.app = await createApp(
      { ...program.config, exchange: exchangeSettings },
      { clock: program.clock, log: program.log.logger },
    );
    expect(await askUntilFull(program, exchange)).toBe(0);
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
    await using second = await createApp(program.config, { clock: program.clock, log: program.app.log, ...LOCKLESS });
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

describe('a commit that takes longer than the right to send lasts', () => {
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

  it('lets nothing out where the renewal fails: the order waits', async () => {
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
