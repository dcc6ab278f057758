import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OwnedAccount } from '../../src/accounts/account.ts';
import { DueAccounts } from '../../src/accounts/due-accounts.ts';
import { DueTimes } from '../../src/accounts/rules/due.ts';
import { testClock } from '../support/test-clock.ts';
import { testProgram } from '../support/test-program.ts';

/** The account `default` of a database, woken in time under a clock that the test moves on. */
async function wokenInTime() {
  const machine = testClock();
  const sleeps: number[] = [];
  const clock: typeof machine = {
    ...machine,
    sleep: async (ms, signal) => {
      sleeps.push(ms);
      await machine.sleep(ms, signal);
    },
  };
  const program = await testProgram({ clock });
  const woken: string[] = [];
  const account = { name: 'default', due: new DueTimes(), wake: (pass: string) => woken.push(pass) };
  const { config, log, app } = program;
  const owned = new Map([['default', account as unknown as OwnedAccount]]);
  const stop = new AbortController();
  const deps = { config, log, clock, store: app.store, owned, tickedAt: () => clock.now(), stop: stop.signal };
  const due = new DueAccounts(deps as never);
  const waking = due.wakeInTime(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await waking;
  });
  const reschedule = program.merchant.prepare(
    `update merchant_orders set state = 'pending', next_action_at = ?, revision = revision + 1 where external_order_id = ?`,
  );
  return {
    woken,
    sleeps,
    /** A pending order is due after `ms`, or at a text that is no time. */
    orderDueIn: async (id: string, ms: number | string) => {
      program.insert({ external_order_id: id });
      reschedule.run(typeof ms === 'string' ? ms : new Date(clock.now().getTime() + ms).toISOString(), id);
      await due.read(['default']);
      await turn();
    },
    /** Looks at the account once, while one of its passes runs. */
    lookWhileBusy: async (running: string) => {
      const mayBegin = (pass: string) => pass !== running;
      const parts = { wrongTimes: { dueInMs: Number.POSITIVE_INFINITY }, restraints: { isKeyOther: false } };
      const wired = { app: { eachSecond: async () => {}, ...parts }, isBusy: true, idleMs: 0, mayBegin };
      await due.wakeOrStop({ ...account, wired } as never, false);
    },
    pass: async (ms: number) => {
      machine.advance(ms);
      await turn();
    },
  };
}

describe('an account is woken', () => {
  it('when an order comes due, to the millisecond', async () => {
    const { woken, orderDueIn, pass } = await wokenInTime();
    await orderDueIn('a', 300);
    await pass(299);
    expect(woken).toEqual([]);
    await pass(1);
    expect(woken).toEqual(['create']);
  });

  it('in time also if an order that is due sooner comes during the wait', async () => {
    const { woken, orderDueIn, pass } = await wokenInTime();
    await orderDueIn('late', 900);
    await pass(100);
    await orderDueIn('soon', 50);
    await pass(50);
    expect(woken).toEqual(['create']);
  });

  it('for creates that an outage left due, although look-ups keep it busy', async () => {
    const { woken, orderDueIn, pass, lookWhileBusy } = await wokenInTime();
    await orderDueIn('a', 100);
    await pass(100);
    // The pass has ended at a restraint. The first due time is the same after that.
    await lookWhileBusy('lookup');
    expect(woken).toEqual(['create', 'create']);
    await lookWhileBusy('create');
    expect(woken).toEqual(['create', 'create']);
  });

  it('by a look a second while nothing is due, not more', async () => {
    const { sleeps, orderDueIn, pass } = await wokenInTime();
    await orderDueIn('a', 5_000);
    for (let second = 1; second < 5; second += 1) await pass(1_000);
    expect(sleeps).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
  });

  it('once by a due time that is no time, and sleeps on', async () => {
    const { woken, sleeps, orderDueIn, pass } = await wokenInTime();
    await orderDueIn('a', ' ');
    await orderDueIn('b', '~');
    for (let second = 0; second < 3; second += 1) await pass(1_000);
    expect(woken).toEqual(['create']);
    expect(sleeps.every((ms) => ms === 1_000)).toBe(true);
  });
});
