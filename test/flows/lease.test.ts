import { describe, expect, it } from 'vitest';
import { waitAfterLastOwner } from '../../src/flows/lease.ts';
import { scriptedBench } from '../support/scripted-bench.ts';

describe('a request that a person asked for', () => {
  it('counts for the next owner, who waits until it has left the window', async () => {
    const { bench } = await scriptedBench();
    const { store, account } = bench.app;
    const wait = async () => (await waitAfterLastOwner(store, account, bench.clock.now(), 1_000)).waitMs;
    expect(await wait()).toBe(0);
    await bench.app.exchange.showOrder('a');
    expect(await wait()).toBeGreaterThanOrEqual(1_000);
  });

  it('does not leave while that cannot be written', async () => {
    const { bench, exchange } = await scriptedBench();
    bench.merchant.exec(`create trigger no_lease before insert on request_leases
      begin select raise(abort, 'no lease'); end`);
    await expect(bench.app.exchange.showOrder('a')).rejects.toThrow('no lease');
    expect(exchange.requests).toEqual([]);
  });
});
