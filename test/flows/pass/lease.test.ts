import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/app.ts';
import { createPass } from '../../../src/flows/orders/create.ts';
import { followPass } from '../../../src/flows/orders/follow.ts';
import { waitAfterLastOwner } from '../../../src/flows/pass/lease.ts';
import type { WrapStatement } from '../../../src/store/sqlite/connection.ts';
import { OwnedError } from '../../../src/store/errors.ts';
import { scriptedProgram } from '../../support/test-program.ts';

const NEVER = new AbortController().signal;

describe('a request that a person asked for', () => {
  it('counts for the next owner, who waits until it has left the window', async () => {
    const { program } = await scriptedProgram();
    const { store, account } = program.app;
    const wait = async () => (await waitAfterLastOwner(store, account, program.clock.now(), 1_000)).waitMs;
    expect(await wait()).toBe(0);
    await program.app.exchange.showOrder('a');
    expect(await wait()).toBeGreaterThanOrEqual(1_000);
  });

  it('does not leave while that cannot be written', async () => {
    const { program, exchange } = await scriptedProgram();
    program.merchant.exec(`create trigger no_lease before insert on request_leases
      begin select raise(abort, 'no lease'); end`);
    await expect(program.app.exchange.showOrder('a')).rejects.toThrow('no lease');
    expect(exchange.requests).toEqual([]);
  });
});

describe('an owner that another has followed although the lock was to prevent it', () => {
  const lockless = { becomeOwner: async () => ({ release: () => {} }) };

  it.each([
    ['at once', 0],
    ['once its right to send is over', 60_000],
  ])('sends nothing more, %s, and says so', async (_name, laterMs) => {
    const { program, exchange } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    await using second = await createApp(program.config, { clock: program.clock, log: program.app.log, ...lockless });
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
