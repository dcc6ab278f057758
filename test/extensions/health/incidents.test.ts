import { describe, expect, it, vi } from 'vitest';
import { OwnedAccount } from '../../../src/accounts/account.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { endHolds, setHold } from '../../../src/store/tables/account-holds.ts';
import { newestOfAccount } from '../../../src/store/tables/events.ts';
import { echo, record, refusal, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';
import { HOUR, MINUTE, SECOND } from '../../support/tracking.ts';
import { ofSqlite } from '../../support/database.ts';

const NEVER = new AbortController().signal;
const DOWN: ScriptedAnswer = { status: 502, body: '<html>bad gateway</html>' };

const ids = (count: number) => Array.from({ length: count }, (_, index) => `o${String(index).padStart(3, '0')}`);

/** A program whose key has worked, and an exchange that answers creates and look-ups as `answers` says. */
async function program() {
  const { program: on, exchange } = await scriptedProgram();
  const answers: { create?: ScriptedAnswer; lookup?: ScriptedAnswer } = {};
  exchange.answer = (request) => {
    if (request.method === 'POST') return answers.create ?? echo(request);
    return answers.lookup ?? record(request.externalOrderId);
  };
  await on.app.exchange.showOrder('any');
  const insert = (count: number) => on.insert(...ids(count).map((external_order_id) => ({ external_order_id })));
  return { on, answers, insert };
}

/** The daemon for this time: its passes each 5 s, its report each second. */
async function live({ app, clock }: TestProgram, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND) {
    if (passed % (5 * SECOND) === 0) {
      await createPass(app, NEVER);
      await followPass(app, 'due', NEVER);
    }
    await app.eachSecond();
    clock.advance(SECOND);
  }
}

/** How often each message was logged since the lines before were taken, without what happens to single orders. */
function story({ log }: TestProgram): (from?: number) => Record<string, number> {
  let taken = log.lines.length;
  return (from = taken) => {
    const lines = log.lines.slice(from).map(({ msg }) => String(msg));
    taken = log.lines.length;
    const messages = lines.filter((msg) => !/^(order changed|pre-order created)$/.test(msg));
    return Object.fromEntries([...Map.groupBy(messages, (msg) => msg)].map(([msg, all]) => [msg, all.length]));
  };
}

describe('the log of an outage of ten minutes with 200 orders', () => {
  it('is one line at its beginning, one a minute with what waits, and one at its end with what was held up', async () => {
    const { on, answers, insert } = await program();
    insert(200);
    await live(on, 20 * SECOND);
    const said = story(on);
    answers.lookup = DOWN;
    await live(on, 10 * MINUTE);
    delete answers.lookup;
    await live(on, MINUTE);
    const messages = said();
    expect(messages).toEqual({
      'the exchange is out of reach': 1,
      'the exchange is still out of reach': 10,
      'the exchange is back': 1,
    });
    expect(on.log.with('the exchange is out of reach')).toMatchObject([
      { level: 'error', kind: 'exchange', requests: 'look-ups', cause: 'HTTP 502' },
    ]);
    const [still] = on.log.with('the exchange is still out of reach');
    expect(still).toMatchObject({ pending: 0, failures: expect.any(Number) as number });
    expect(Number(still?.['lookupsDue'])).toBeGreaterThan(190);
    const [back] = on.log.with('the exchange is back');
    expect(back).toMatchObject({ level: 'info' });
    // The most that waited, although some were looked up before this line.
    expect(Number(back?.['lookupsDue'])).toBeGreaterThan(190);
    expect(Number(back?.['lastedMs'])).toBeGreaterThan(9 * MINUTE);
  });

  it('ends if the exchange refuses the key, as that is an answer, and begins anew if it is out of reach again', async () => {
    const { on, answers, insert } = await program();
    insert(40);
    [answers.create, answers.lookup] = [DOWN, DOWN];
    await live(on, 3 * MINUTE);
    [answers.create, answers.lookup] = [refusal(401), refusal(401)];
    await live(on, 10 * MINUTE);
    expect(on.log.with('the exchange is back')).toHaveLength(1);
    expect(await newestOfAccount(on.app.store.db, 'default', 'exchange')).toBeNull();
    expect(on.app.restraints.all.map(({ kind }) => kind)).toEqual(['key-refused']);
    [answers.create, answers.lookup] = [DOWN, DOWN];
    await live(on, 30 * MINUTE);
    expect(await newestOfAccount(on.app.store.db, 'default', 'exchange')).toBe('out-of-reach');
  });

  it('tells of creates alone if look-ups are answered, and ends when nothing waits to be sent', async () => {
    const { on, answers, insert } = await program();
    answers.create = DOWN;
    insert(40);
    await live(on, 2 * MINUTE);
    expect(on.log.with('the exchange is out of reach')).toMatchObject([{ requests: 'creates' }]);
    expect(on.log.with('the exchange is still out of reach').at(-1)).toMatchObject({
      pending: expect.any(Number) as number,
      requests: 'creates',
    });
    expect(on.log.with('the exchange is back')).toEqual([]);
    on.merchant.exec(`delete from merchant_orders where state = 'pending'`);
    await live(on, 10 * SECOND);
    expect(on.log.with('the exchange is back')).toHaveLength(1);
  });
});

describe('the log of an account that is held', () => {
  it('tells of a refused key once, then each minute with what waits, and of its end', async () => {
    const { on, answers, insert } = await program();
    [answers.create, answers.lookup] = [refusal(401), refusal(401)];
    insert(20);
    const said = story(on);
    await live(on, 10 * MINUTE);
    delete answers.create;
    delete answers.lookup;
    await live(on, 6 * MINUTE);
    expect(said()).toEqual({
      'the exchange refuses the key': 1,
      'the exchange still refuses the key': 10,
      'the exchange takes the key again': 1,
    });
    expect(on.log.with('still refuses the key')[0]).toMatchObject({
      level: 'error',
      pending: 20,
      key: 'exchange.apiKey',
    });
  });

  it('tells of a key that was refused before the start once it is refused again, or when it is taken, and since when', async () => {
    const { on, answers, insert } = await program();
    [answers.create, answers.lookup] = [refusal(401), refusal(401)];
    insert(1);
    const since = on.clock.now();
    await live(on, MINUTE);
    await on.restart();
    const said = story(on);
    await on.app.eachSecond();
    expect(said()).toEqual({});
    await live(on, SECOND);
    await on.app.eachSecond();
    expect(said()).toEqual({ 'the exchange refuses the key': 1 });
    expect(on.log.with('the exchange refuses the key').at(-1)).toMatchObject({ since: since.toISOString() });
    await on.restart();
    const saidNow = story(on);
    delete answers.create;
    delete answers.lookup;
    await live(on, 10 * SECOND);
    expect([saidNow(), on.app.restraints.all]).toEqual([{ 'the exchange takes the key again': 1 }, []]);
    expect(on.log.with('the exchange takes the key again')).toMatchObject([
      { since: since.toISOString(), reason: 'the exchange took a request' },
    ]);
  });

  it('tells of a pause by its reason and who set it, and each minute only while something waits', async () => {
    const { on, insert } = await program();
    const hold = {
      kind: 'creates-paused',
      since: on.clock.now(),
      until: null,
      reason: 'maintenance',
      actor: 'ann',
    } as const;
    await on.app.store.writer.write((tx) => setHold(tx, 'default', hold, on.clock.now()));
    await on.app.restraints.read();
    await live(on, HOUR);
    expect(on.log.with('requests are held back')).toMatchObject([
      { level: 'warn', kind: 'creates-paused', cause: 'maintenance', actor: 'ann' },
    ]);
    expect(on.log.with('requests are still held back')).toEqual([]);
    insert(3);
    await live(on, 2 * MINUTE);
    expect(on.log.with('requests are still held back').at(-1)).toMatchObject({ pending: 3 });
    const end = { reason: 'it is over', actor: 'kim', now: on.clock.now() };
    await on.app.store.writer.write((tx) => endHolds(tx, 'default', [hold.kind], end));
    await on.app.restraints.read();
    await live(on, MINUTE);
    expect(on.log.with('requests are no longer held back')).toMatchObject([
      { level: 'info', kind: 'creates-paused', cause: 'maintenance', reason: 'it is over', actor: 'kim' },
    ]);
  });
});

/** An account whose passes do this work. */
function driven({ app }: TestProgram, work: () => Promise<void>, stop: AbortSignal, failed: (error: unknown) => void) {
  return new OwnedAccount({ account: 'default', ending: NEVER } as never, {
    wire: async () => ({ ...app, [Symbol.asyncDispose]: async () => {} }),
    passes: { create: work, lookup: work },
    stop,
    onPass: async () => {},
    onFailure: (_, error) => failed(error),
  });
}

describe('a pass that the database broke off', () => {
  it('is not run more and more often if something else wakes it too', async () => {
    const { on } = await program();
    const stop = new AbortController();
    let times = 0;
    const failed = vi.fn<(error: unknown) => void>();
    const work = async () => {
      times += 1;
      throw new StoreError('busy', 'locked');
    };
    const account = driven(on, work, stop.signal, failed);
    account.wake('create');
    for (let tenths = 0; tenths < 300; tenths += 1) {
      if (tenths % 7 === 0) account.wake('create');
      await on.clock.turn();
      on.clock.advance(SECOND / 10);
    }
    // Once a second by itself, and 43 times by another.
    expect(times).toBeLessThanOrEqual(30 + 43 + 1);
    stop.abort();
    await account.life;
    expect(failed).not.toHaveBeenCalled();
  });

  it('is run again soon, although nothing wakes it', async () => {
    const { on } = await program();
    const stop = new AbortController();
    let times = 0;
    const failed = vi.fn<(error: unknown) => void>();
    const work = async () => {
      times += 1;
      if (times === 1) throw new StoreError('busy', 'locked');
    };
    const account = driven(on, work, stop.signal, failed);
    account.wake('create');
    await on.clock.turn();
    on.clock.advance(SECOND);
    await on.clock.turn();
    expect(times).toBe(2);
    stop.abort();
    await account.life;
    expect(failed).not.toHaveBeenCalled();
  });
});

describe('the log of a database that cannot be written', () => {
  it(
    'is one line for all passes that fail, one a minute, and one when it can',
    ofSqlite('it writes within a turn'),
    async () => {
      const { on, insert } = await program();
      insert(7);
      // Work in the queue would share the group that fails.
      await on.app.store.writer.write(async () => {});
      let isFull = true;
      const stop = new AbortController();
      const failed = vi.fn<(error: unknown) => void>();
      const write = () =>
        on.app.store.writer.write(async () => {
          if (isFull) throw new StoreError('disk', 'the disk is full');
        });
      const account = driven(on, write, stop.signal, failed);
      const said = story(on);
      const second = async () => {
        for (const pass of ['create', 'lookup'] as const) account.wake(pass);
        await on.clock.turn();
        await on.app.eachSecond();
        on.clock.advance(SECOND);
      };
      for (let seconds = 0; seconds < 150; seconds += 1) await second();
      isFull = false;
      for (let seconds = 0; seconds < 10; seconds += 1) await second();
      stop.abort();
      await account.life;
      expect(failed).not.toHaveBeenCalled();
      expect(said()).toEqual({
        'the database cannot be written; nothing is sent until it can': 1,
        'the database still cannot be written': 2,
        'the database can be written again': 1,
      });
      expect(on.log.with('still cannot be written')[0]).toMatchObject({ cause: 'the disk is full', pending: 7 });
    },
  );
});

describe('a failure that is about one order', () => {
  it('is logged once, and then counted once a minute, while the exchange serves the others', async () => {
    const { on, answers, insert } = await program();
    insert(3);
    await live(on, 10 * SECOND);
    answers.lookup = { status: 200, body: 'not JSON' };
    const said = story(on);
    await live(on, 10 * MINUTE);
    const lines = on.log.with('a look-up brought no answer');
    const of = (id: string) => lines.filter(({ externalOrderId }) => externalOrderId === id);
    expect(ids(3).map((id) => of(id).length)).toEqual([1, 1, 1]);
    expect(lines.filter(({ times }) => times !== undefined).length).toBeLessThanOrEqual(10);
    expect(Object.keys(said())).toEqual(['a look-up brought no answer, it will be tried again']);
  });
});
