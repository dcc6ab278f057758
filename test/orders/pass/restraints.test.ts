import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decideOrders } from '../../../src/extensions/operate/decide-orders.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { endHolds, setHold } from '../../../src/store/tables/account-holds.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { echo, NOT_FOUND, refusal, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { hastyClock } from '../../support/test-clock.ts';
import { scriptedProgram, type TestProgram, type TestProgramOptions } from '../../support/test-program.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/tracking.ts';

const NEVER = new AbortController().signal;
/** For tests that live through a day: look-ups of accepted orders would take most of their time. */
const FEW_LOOKUPS = { ORDER_SYNC_FOLLOW_WORTH: '2m' };
const FORBIDDEN = refusal(403, 'merchant blocked');

/** A program whose creates are answered by the ids of their orders, as the test says; the key has worked. */
async function held(options: TestProgramOptions = {}) {
  const { program, exchange } = await scriptedProgram(options);
  const creates = new Map<string, ScriptedAnswer>();
  const rest: { create?: ScriptedAnswer; lookup: ScriptedAnswer } = { lookup: NOT_FOUND };
  exchange.answer = (request) => {
    if (request.method === 'GET') return rest.lookup;
    return creates.get(request.externalOrderId) ?? rest.create ?? echo(request, { id: request.externalOrderId });
  };
  await program.app.exchange.showOrder('any');
  const insert = (...ids: string[]) => program.insert(...ids.map((external_order_id) => ({ external_order_id })));
  return { program, exchange, creates, rest, insert };
}

/** The passes of the daemon, once every `stepMs`, or more often if a hold ends sooner. */
async function live(program: TestProgram, ms: number, stepMs = 5 * SECOND): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await createPass(program.app, NEVER);
    await followPass(program.app, 'due', NEVER);
    program.clock.advance(stepMs);
  }
}

function states({ merchant }: TestProgram): Record<string, number> {
  const rows = merchant.prepare('select state, count(*) from merchant_orders group by state').raw().all();
  return Object.fromEntries(rows as [string, number][]);
}

function kinds({ app }: TestProgram): string[] {
  return app.restraints.all.map(({ kind }) => kind).toSorted();
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `o${String(index).padStart(3, '0')}`);
}

describe('a Retry-After', () => {
  it.each<[string, ScriptedAnswer, string]>([
    ['429', { status: 429, headers: { 'retry-after': '600' } }, 'pending'],
    ['503', { status: 503, headers: { 'retry-after': '600' } }, 'unknown'],
  ])('with %s binds creates, look-ups and persons, and the next process', async (_status, answer, state) => {
    const { program, exchange, creates, insert } = await held();
    creates.set('a', answer);
    insert('a', 'b');
    await createPass(program.app, NEVER);
    expect([program.row('a')['state'], program.row('b')['state']]).toEqual([state, 'pending']);
    const before = exchange.requests.length;
    const wait = { kind: 'rate-limited', retryAfterMs: 600 * SECOND };
    expect(await program.app.exchange.showOrder('a')).toEqual(wait);
    await program.restart();
    program.clock.advance(599 * SECOND);
    await live(program, SECOND, SECOND);
    expect(exchange.requests).toHaveLength(before);
    creates.clear();
    await live(program, 5 * SECOND);
    expect(program.row('b')['state']).toBe('accepted');
    expect(kinds(program)).toEqual([]);
    expect(program.merchant.prepare('select count(*) from account_holds').pluck().get()).toBe(0);
  });

  it.each([
    ['had room', '100', 1],
    ['had none', '1', 0],
  ])('with 429 is warned of once if our own rate limit %s', async (_name, requests, warnings) => {
    const { program, rest, insert } = await held({
      clock: hastyClock(),
      environment: { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: requests },
    });
    rest.create = { status: 429 };
    insert(...numbered(3));
    await createPass(program.app, NEVER);
    expect(program.log.with(/although exchange.rate has room/)).toHaveLength(warnings);
  });

  it('that is asked for again and again makes each wait longer, up to five minutes', async () => {
    const { program, exchange, rest, insert } = await held();
    rest.create = { status: 429, headers: { 'retry-after': '0' } };
    insert(...numbered(20));
    await live(program, HOUR, SECOND);
    expect(exchange.count('POST')).toBeLessThanOrEqual(21);
    expect(states(program)).toEqual({ pending: 20 });
  });
});

describe('a rate limit that is used up for minutes', () => {
  it('is answered to a person at once, with the time', async () => {
    const environment = { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '2', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '10m' };
    const { program } = await held({ environment });
    await program.app.exchange.showOrder('a');
    const wait = { kind: 'rate-limited', retryAfterMs: 10 * MINUTE };
    expect(await program.app.exchange.showOrder('a')).toEqual(wait);
    program.clock.advance(10 * MINUTE);
    expect(await program.app.exchange.showOrder('a')).toMatchObject({ kind: 'refused' });
  });
});

describe('a key that is refused', () => {
  it('holds everything but one request at a time, with longer waits, and no order is lost', async () => {
    const { program, exchange, rest, insert } = await held();
    [rest.create, rest.lookup] = [refusal(401), refusal(401)];
    insert(...numbered(20));
    const before = exchange.requests.length;
    await live(program, HOUR, SECOND);
    expect(exchange.requests.length - before).toBeLessThanOrEqual(21);
    expect(states(program)).toEqual({ pending: 20 });
    expect(program.app.restraints.isKeyWrong).toBe(false);
    await program.restart();
    expect([kinds(program), program.app.restraints.isKeyWrong]).toEqual([['key-refused'], false]);
    delete rest.create;
    rest.lookup = NOT_FOUND;
    await live(program, MINUTE);
    expect([states(program), kinds(program)]).toEqual([{ accepted: 20 }, []]);
  });

  it('and never worked is found out by one request; another key is tried at once', async () => {
    const { program, exchange } = await scriptedProgram();
    exchange.answer = () => refusal(401);
    program.insert(...numbered(20).map((external_order_id) => ({ external_order_id })));
    await createPass(program.app, NEVER);
    await followPass(program.app, 'all', NEVER);
    expect([exchange.requests.length, program.app.restraints.isKeyWrong]).toEqual([1, true]);
    exchange.answer = (request) => echo(request, { id: request.externalOrderId });
    await program.restart();
    expect(program.app.restraints.isKeyWrong).toBe(false);
    await createPass(program.app, NEVER);
    expect(states(program)).toEqual({ accepted: 20 });
  });

  it('keeps no order waiting that it kept back once a process begins: if that has a wrong one too, it costs one request', async () => {
    const { program, exchange, rest, insert } = await held();
    [rest.create, rest.lookup] = [refusal(401), refusal(401)];
    insert(...numbered(3));
    await live(program, HOUR);
    for (let start = 0; start < 3; start += 1) {
      await program.restart();
      const before = exchange.count('POST');
      for (let pass = 0; pass < 3; pass += 1) await createPass(program.app, NEVER);
      expect(exchange.count('POST') - before).toBe(1);
    }
    delete rest.create;
    await program.restart();
    await createPass(program.app, NEVER);
    expect([states(program), kinds(program)]).toEqual([{ accepted: 3 }, []]);
  });

  it('in a file is read again: the next request has the new one, without a restart', async () => {
    const file = join(temporaryFolder(), 'key');
    const write = (key: string) => {
      writeFileSync(file, `${key}\n`);
      chmodSync(file, 0o600);
    };
    write('old-key');
    const { program, exchange, insert } = await held({ apiKeyFile: file });
    const keys: unknown[] = [];
    let taken = 'old-key';
    exchange.answer = (request) => {
      keys.push(request.headers['x-api-key']);
      if (request.headers['x-api-key'] !== taken) return refusal(401);
      return request.method === 'POST' ? echo(request, { id: request.externalOrderId }) : NOT_FOUND;
    };
    insert('a');
    await createPass(program.app, NEVER);
    taken = 'new-key';
    insert('b');
    await createPass(program.app, NEVER);
    expect(program.row('b')['state']).toBe('pending');
    write('new-key');
    program.clock.advance(5 * SECOND);
    await createPass(program.app, NEVER);
    await createPass(program.app, NEVER);
    expect(program.row('b')['state']).toBe('accepted');
    expect(keys).toEqual(['old-key', 'old-key', 'old-key', 'new-key']);
    // Before it is refused: the daemon reads it each minute.
    taken = 'newest-key';
    write('newest-key');
    expect(program.app.restraints.keyUntriedSince).toBeUndefined();
    program.app.restraints.rereadKey();
    expect(program.app.restraints.keyUntriedSince).toEqual(program.app.restraints.now());
    insert('c');
    await createPass(program.app, NEVER);
    expect(program.app.restraints.keyUntriedSince).toBeUndefined();
    expect([program.row('c')['state'], keys.at(-1)]).toEqual(['accepted', 'newest-key']);
  });
});

describe('a documented 403 to a create', () => {
  it('to every row speaks of the account: none is rejected, and all are sent when it is let in again', async () => {
    const { program, exchange, rest, insert } = await held({ environment: FEW_LOOKUPS });
    rest.create = FORBIDDEN;
    insert(...numbered(100));
    await live(program, DAY, MINUTE);
    expect([states(program), kinds(program)]).toEqual([{ pending: 100 }, ['forbidden']]);
    // The first one, and one in five minutes.
    expect(exchange.count('POST')).toBeLessThanOrEqual(300);
    delete rest.create;
    await program.restart();
    await live(program, 10 * MINUTE);
    expect([states(program), kinds(program)]).toEqual([{ accepted: 100 }, []]);
  });

  it('is probed with another row first, and look-ups continue', async () => {
    const { program, exchange, creates, insert } = await held();
    insert('known');
    await createPass(program.app, NEVER);
    creates.set('a', FORBIDDEN);
    insert('a');
    await createPass(program.app, NEVER);
    program.clock.advance(MINUTE);
    insert('b');
    const before = exchange.requests.length;
    await createPass(program.app, NEVER);
    expect(exchange.requests.slice(before).map(({ externalOrderId }) => externalOrderId)).toEqual(['b', 'a']);
    await followPass(program.app, 'all', NEVER);
    expect(program.row('known')['last_lookup_at']).toBe(program.clock.now().toISOString());
  });

  it('that is of its own row rejects that one once another was taken, also by another process', async () => {
    const { program, exchange, creates, insert } = await held();
    for (const id of ['a', 'b']) creates.set(id, FORBIDDEN);
    insert('a', 'b', 'c');
    await createPass(program.app, NEVER);
    expect(program.row('a')).toMatchObject({
      state: 'pending',
      state_reason: expect.stringContaining('403') as string,
    });
    await program.restart();
    await live(program, MINUTE, SECOND);
    expect(states(program)).toEqual({ rejected: 2, accepted: 1 });
    expect([kinds(program), exchange.count('POST')]).toEqual([[], 5]);
    const retry = { judgement: { kind: 'retry', mayDuplicate: false }, reason: 'r', actor: 'ann' } as const;
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'a' }], retry));
    await createPass(program.app, NEVER);
    expect([program.row('a')['state'], kinds(program)]).toEqual(['pending', ['forbidden']]);
  });

  it('without the documented body leaves the outcome unknown, and holds nothing', async () => {
    const { program, creates, insert } = await held();
    creates.set('a', { status: 403, body: '<html>' });
    insert('a', 'b');
    await createPass(program.app, NEVER);
    expect([states(program), kinds(program)]).toEqual([{ unknown: 1, accepted: 1 }, []]);
  });
});

describe('creates whose outcomes stay unknown', () => {
  const settings = { ORDER_SYNC_CREATE_VERIFY_AFTER: '30d' };

  it('are sent more and more rarely, at last once an hour, across restarts, until one is accepted', async () => {
    const { program, exchange, rest, insert } = await held({ environment: { ...settings, ...FEW_LOOKUPS } });
    rest.create = { status: 502 };
    insert(...numbered(200));
    await live(program, 2 * MINUTE);
    await program.restart();
    await live(program, 2 * HOUR, MINUTE);
    expect(kinds(program)).toEqual(['slowed']);
    const sent = exchange.count('POST');
    expect(sent).toBeLessThanOrEqual(12);
    await program.restart();
    await live(program, DAY, MINUTE);
    expect(exchange.count('POST') - sent).toBeLessThanOrEqual(25);
    expect(states(program)).toEqual({ unknown: exchange.count('POST'), pending: 200 - exchange.count('POST') });
    delete rest.create;
    await live(program, 2 * HOUR, MINUTE);
    expect([states(program)['pending'], kinds(program)]).toEqual([undefined, []]);
  });

  it('are counted in a row, and a person may end the hold', async () => {
    const { program, exchange, creates, insert } = await held({
      environment: { ...settings, ORDER_SYNC_CREATE_PAUSE_AFTER_UNKNOWN: '2' },
    });
    for (const id of ['a', 'c', 'd', 'f']) creates.set(id, 'reset');
    insert('a', 'b', 'c');
    await createPass(program.app, NEVER);
    expect(kinds(program)).toEqual([]);
    await program.restart();
    insert('d', 'e', 'f', 'g');
    await live(program, 10 * MINUTE, MINUTE);
    expect([kinds(program), exchange.count('POST')]).toEqual([['slowed'], 4]);
    const how = { reason: 'it is well', actor: 'ann', now: program.clock.now() };
    await program.app.store.writer.write((tx) => endHolds(tx, program.app.account, ['slowed'], how));
    await program.app.restraints.read();
    await live(program, 10 * MINUTE, MINUTE);
    expect(states(program)).toEqual({ unknown: 4, accepted: 3 });
  });
});

describe('the holds of an account', () => {
  it('that the database did not take are not over because they are not there', async () => {
    const { program, rest, insert } = await held({ environment: { ORDER_SYNC_CREATE_PAUSE_AFTER_UNKNOWN: '2' } });
    rest.create = 'reset';
    program.merchant.exec(
      `create trigger broken before insert on account_holds begin select raise(abort, 'broken'); end`,
    );
    insert('a', 'b', 'c', 'd');
    // Three are lost; a look-up is answered, and the fourth is lost; a look-up shows that creates alone are.
    await live(program, 15 * SECOND);
    program.merchant.exec('drop trigger broken');
    await program.app.restraints.read();
    expect(kinds(program)).toEqual(['slowed']);
  });

  it('that persons and replies set at once stand together', async () => {
    const { program, creates, insert } = await held();
    creates.set('a', { status: 429, headers: { 'retry-after': '60' } });
    insert('a');
    await createPass(program.app, NEVER);
    const now = program.clock.now();
    const pause = { kind: 'creates-paused', since: now, until: null, reason: 'r', actor: 'ann' } as const;
    await program.app.store.writer.write((tx) => setHold(tx, program.app.account, pause, now));
    await program.app.restraints.read();
    expect(kinds(program)).toEqual(['creates-paused', 'rate-limited']);
    program.clock.advance(2 * MINUTE);
    await followPass(program.app, 'all', NEVER);
    expect(program.app.restraints.stoppedForMs('create')).toBe(Number.POSITIVE_INFINITY);
  });

  it('are the history of the account, without the waits of its rate', async () => {
    const { program, creates, insert } = await held();
    creates.set('a', FORBIDDEN);
    creates.set('b', { status: 429 });
    insert('a', 'b', 'c');
    await createPass(program.app, NEVER);
    creates.delete('b');
    await live(program, MINUTE, SECOND);
    const events = program.merchant
      .prepare(`select old_value, new_value from events where type = 'account' and field = 'hold' order by id`)
      .raw()
      .all();
    expect(events).toEqual([
      [null, 'forbidden'],
      ['forbidden', null],
    ]);
  });
});
