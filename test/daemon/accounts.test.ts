import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { steadyTime, systemClock } from '../../src/base/clock.ts';
import { endHolds, setHold } from '../../src/store/tables/account-holds.ts';
import type { ProcessEvent } from '../../src/orders/pass/process-events.ts';
import type { Transaction } from '../../src/store/port.ts';
import { openStore } from '../../src/store/sqlite/store.ts';
import { runProgram } from '../support/cli-function.ts';
import { heardStatements } from '../support/heard-statements.ts';
import { keyOf, manyAccounts, type ManyAccounts } from '../support/many-accounts.ts';
import { echo, NOT_FOUND, record } from '../support/scripted-exchange.ts';
import { DAY, MINUTE, SECOND } from '../support/tracking.ts';

const THREE = { one: '', two: '', three: '' };
const NAMES = Object.keys(THREE);

/** Another program of ours writes in an account. */
async function elsewhere(on: ManyAccounts, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const store = await openStore(on.path, systemClock(), { expect: 'current' });
  await store.writer.write(work);
  await store.close();
}

const sentBy = (on: ManyAccounts, key: string, method = 'POST') =>
  on.exchange.requests.filter((request) => request.method === method && request.headers['x-api-key'] === key);

/** Rows of this id are accepted in all these accounts. */
const accepted = (on: ManyAccounts, id: string, names: readonly string[] = NAMES) =>
  names.every((name) => on.stateOf(name, id) === 'accepted');

describe('a daemon for several accounts', () => {
  it('sends the rows of each with its own key, the ones that were there and new ones at once', async () => {
    const on = await manyAccounts(THREE);
    on.insert('two', 'before');
    await on.start();
    await on.until(() => accepted(on, 'before', ['two']));
    for (const name of NAMES) on.insert(name, 'new');
    const begin = on.clock.monotonic();
    await on.until(() =>
      NAMES.every((name) => sentBy(on, name).some(({ externalOrderId }) => externalOrderId === 'new')),
    );
    expect(on.clock.monotonic() - begin).toBeLessThan(SECOND);
    expect(sentBy(on, 'one')).toHaveLength(1);
    expect(on.log.with('order-sync is ready')).toMatchObject([{ accounts: 3, waiting: 1, firstWaiting: ['two'] }]);
  });

  it('continues with the others if the exchange refuses the key of one, and with that one once its file has another', async () => {
    const on = await manyAccounts({ ...THREE, two: 'exchange: {apiKeyFile: two.key}' });
    const key = join(on.folder, 'two.key');
    writeFileSync(key, 'wrong', { mode: 0o600 });
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(
      () =>
        on.log.with('an account is stopped until the key in its file changes; the other accounts continue').length > 0,
    );
    await on.until(() => accepted(on, 'a', ['one', 'three']));
    await on.pass(3 * MINUTE);
    expect(sentBy(on, 'wrong')).toHaveLength(1);
    writeFileSync(key, 'two');
    on.insert('three', 'b');
    await on.until(() => accepted(on, 'a') && accepted(on, 'b', ['three']));
  });

  it('holds back a paused account alone, and continues with it when a person resumes it', async () => {
    const on = await manyAccounts(THREE);
    const hold = { kind: 'all-paused', since: on.clock.now(), until: null, reason: 'test', actor: 'somebody' } as const;
    await elsewhere(on, (tx) => setHold(tx, 'two', hold, on.clock.now()));
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['one', 'three']));
    await on.pass(2 * MINUTE);
    expect(on.stateOf('two', 'a')).toBe('pending');
    const how = { reason: 'test', actor: 'somebody', now: on.clock.now() };
    await elsewhere(on, (tx) => endHolds(tx, 'two', ['all-paused'], how));
    await on.until(() => accepted(on, 'a'));
  });

  it('sends new rows of an account while a create of the account hangs', async () => {
    const on = await manyAccounts(THREE);
    const hung = Promise.withResolvers<void>();
    on.exchange.answer = async (request) => {
      if (request.externalOrderId === 'a') await hung.promise;
      return request.method === 'POST' ? echo(request) : NOT_FOUND;
    };
    on.insert('one', 'first');
    const passes: string[] = [];
    const hear = ({ kind, ...event }: ProcessEvent) => {
      if ('pass' in event && event.pass === 'create') passes.push(kind);
    };
    await on.start({ listeners: [async ({ account }) => ({ hear: account === 'one' ? hear : () => {} })] });
    await on.until(() => accepted(on, 'first', ['one']));
    on.insert('one', 'a');
    await on.until(() => sentBy(on, 'one').length === 2);
    for (const id of ['b', 'c']) {
      on.insert('one', id);
      await on.until(() => on.stateOf('one', id) !== 'pending');
      await on.until(() => on.stateOf('one', id) !== 'sending');
      expect([id, on.stateOf('one', id), on.stateOf('one', 'a')]).toEqual([id, 'accepted', 'sending']);
    }
    // The health of the account says that a pass waits unless it hears that passes end.
    expect(passes.filter((kind) => kind !== 'pass.began').at(-1)).toBe('pass.ended');
    expect(passes.filter((kind) => kind === 'pass.ended').length).toBeGreaterThanOrEqual(3);
    hung.resolve();
    await on.until(() => accepted(on, 'a', ['one']));
    expect(sentBy(on, 'one').map(({ externalOrderId }) => externalOrderId)).toEqual(['first', 'a', 'b', 'c']);
  });

  it('waits for the exchange of one account while it is down, and for no other', async () => {
    const on = await manyAccounts({ ...THREE, two: `${keyOf('two')}, exchange.baseUrl: http://127.0.0.1:9` });
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['one', 'three']));
    expect(on.stateOf('two', 'a')).toBe('pending');
    expect(on.log.lines.filter(({ account, level }) => level === 'error' && account !== 'two')).toEqual([]);
  });

  it('tells of an account that is stopped on every surface, until it has an owner again', async () => {
    const on = await manyAccounts({ ...THREE, two: 'exchange: {apiKeyFile: two.key}' });
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['one', 'three']));
    const run = async (...args: string[]) =>
      await runProgram(args, { cwd: on.folder, environment: { ORDER_SYNC_CONFIG: on.file } });
    const types = async () => {
      const { stdout } = await run(
        'events',
        '--account',
        'two',
        '--json',
        '--type',
        'account.stopped',
        'account.resumed',
      );
      const events = stdout.trim().split('\n').filter(Boolean);
      return events.map((line) => (JSON.parse(line) as { type: string }).type);
    };
    // It fails again each minute.
    await on.pass(3 * MINUTE);
    for (const account of ['two', 'all']) {
      const status = await run('status', '--account', account);
      expect([status.code, status.stdout]).toEqual([1, expect.stringMatching(/stopped.*two\.key.*since /s)]);
      expect(status.stdout).toContain('order-sync config check');
    }
    expect((await run('status', '--account', 'one')).code).toBe(0);
    const explained = await run('orders', 'explain', 'a', '--account', 'two');
    expect(explained.stdout).toMatch(/The order is not sent: the account two has been stopped since/);
    expect(explained.stdout).not.toContain('when the next pass runs');
    expect(await types()).toEqual(['account.stopped']);

    writeFileSync(join(on.folder, 'two.key'), 'two', { mode: 0o600 });
    await on.until(() => accepted(on, 'a'));
    await on.pass(2 * MINUTE);
    expect(await types()).toEqual(['account.stopped', 'account.resumed']);
    expect((await run('status', '--account', 'all')).code).toBe(0);
  });

  it('passes over an account whose rows the database refuses, and tries it again', async () => {
    const on = await manyAccounts(THREE);
    on.merchant.exec(`create trigger refuses before insert on request_leases when new.account = 'two'
      begin select raise(abort, 'refused by a trigger'); end`);
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['one', 'three']));
    expect(on.stateOf('two', 'a')).toBe('pending');
    on.merchant.exec('drop trigger refuses');
    await on.until(() => accepted(on, 'a'));
  });

  it('ends all accounts when it stops, each with what is in flight', async () => {
    const on = await manyAccounts(THREE);
    const answers = Promise.withResolvers<void>();
    on.exchange.answer = async (request) => {
      await answers.promise;
      return request.method === 'POST' ? echo(request, { id: `p-${String(request.headers['x-api-key'])}` }) : NOT_FOUND;
    };
    for (const name of NAMES) on.insert(name, 'a');
    const daemon = await on.start();
    await on.until(() => on.exchange.count('POST') === 3);
    const stopped = daemon.stop();
    answers.resolve();
    await stopped;
    expect(accepted(on, 'a')).toBe(true);
    expect(on.merchant.prepare(`select count(*) from request_leases where requests > 0`).pluck().get()).toBe(0);
  });

  it('begins with no account that waits for its turn once it stops', async () => {
    const names = Array.from({ length: 100 }, (_, number) => `shop-${number}`);
    const on = await manyAccounts(Object.fromEntries(names.map((name) => [name, ''])));
    let [starts, stopped] = [0, undefined as Promise<void> | undefined];
    const wrap = heardStatements((text) => {
      if (!text.startsWith('select requests_until')) return;
      starts += 1;
      stopped ??= daemon.stop();
    });
    const daemon = await on.start({ store: { wrap } });
    for (const name of names) on.insert(name, 'a');
    await on.until(() => stopped !== undefined);
    await stopped;
    expect(starts).toBeGreaterThan(0);
    expect(starts).toBeLessThanOrEqual(8);
    expect(on.exchange.count('POST')).toBe(0);
  });

  it('says once in which accounts that are not configured rows wait', async () => {
    const on = await manyAccounts(THREE);
    on.insert('nobody', 'a');
    await on.start();
    on.insert('somebody', 'a');
    on.insert('one', 'a');
    await on.until(() => accepted(on, 'a', ['one']));
    const message = 'orders wait for accounts that are not in the settings; add these accounts to the settings';
    expect(on.log.with(message)).toMatchObject([{ accounts: ['nobody'] }, { accounts: ['somebody'] }]);
    expect(on.stateOf('nobody', 'a')).toBe('pending');
  });

  it('corrects due times that were written under another clock in accounts of which nothing is due', async () => {
    const on = await manyAccounts(THREE);
    on.insert('two', 'a');
    on.merchant
      .prepare(`update merchant_orders set revision = revision + 1, next_action_at = ?`)
      .run(new Date(on.clock.now().getTime() + 300 * DAY).toISOString());
    await on.start();
    await on.until(() => accepted(on, 'a', ['two']));
    expect(on.log.with('due times written under another clock were corrected')).toMatchObject([{ account: 'two' }]);
  });
});

it('heeds in a minute what a person has decided, also if word of it was lost', async () => {
  const on = await manyAccounts({ one: '' });
  await on.start();
  // Without the event by which others learn of it.
  on.merchant
    .prepare(`insert into account_holds values ('one', 'creates-paused', ?, null, 'r', 'p')`)
    .run(on.clock.now().toISOString());
  await on.pass(MINUTE + SECOND);
  on.insert('one', 'a');
  await on.pass(2 * SECOND);
  expect([on.exchange.requests, on.stateOf('one', 'a')]).toEqual([[], 'pending']);
});

it('names what holds its only account, and since when, when it is ready', async () => {
  const on = await manyAccounts({ one: '' });
  const hold = { since: on.clock.now(), until: on.clock.now(), reason: 'the reason', actor: null };
  await elsewhere(on, (tx) => setHold(tx, 'one', { ...hold, kind: 'key-refused' }, on.clock.now()));
  await on.start();
  expect(on.log.with('order-sync is ready')).toMatchObject([
    { holds: [`key-refused since ${hold.since.toISOString()}: the reason`] },
  ]);
});

describe('an account of several', () => {
  it('is let go when nothing is due for a minute, and is wired again when something is', async () => {
    const on = await manyAccounts(THREE);
    on.exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
    on.insert('two', 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['two']));
    const leases = () => on.merchant.prepare(`select requests from request_leases`).pluck().all();
    expect(leases()).not.toEqual([0]);
    // It releases its lease.
    await on.until(() => leases().join() === '0');
    on.insert('two', 'b');
    await on.until(() => accepted(on, 'b', ['two']));
  });

  it('is wired for a command that asks for it', async () => {
    const on = await manyAccounts(THREE);
    await on.start();
    const environment = { ORDER_SYNC_CONFIG: on.file };
    const asked = await runProgram(['lookup', 'a', '--account', 'two'], { cwd: on.folder, environment });
    expect([asked.code, sentBy(on, 'two', 'GET').length, on.exchange.requests.length]).toEqual([2, 1, 1]);
  });

  it('shares the limit of its rate group with the other accounts of the group, and with no other', async () => {
    const rated = (name: string) =>
      `rateGroup: together, exchange: {apiKey: ${name}, rate: {requests: 1, interval: 10s}}`;
    const on = await manyAccounts({ one: rated('one'), two: rated('two'), three: '' });
    for (const name of NAMES) on.insert(name, 'a');
    await on.start();
    await on.until(() => accepted(on, 'a', ['three']));
    await on.pass(9 * SECOND);
    expect(sentBy(on, 'one').length + sentBy(on, 'two').length).toBe(1);
    await on.until(() => accepted(on, 'a'));
  });

  it('costs no statement while nothing is due in it: all are read again in turn, some with one statement', async () => {
    const accounts = Object.fromEntries(Array.from({ length: 2_000 }, (_, number) => [`shop-${number}`, '']));
    const on = await manyAccounts(accounts);
    let statements = 0;
    await on.start({ store: { wrap: heardStatements(() => (statements += 1)) } });
    on.insert('shop-7', 'a');
    await on.until(() => on.stateOf('shop-7', 'a') === 'accepted');
    await on.pass(2 * MINUTE);
    statements = 0;
    await on.pass(MINUTE);
    expect(statements).toBeLessThanOrEqual(60);
    on.insert('shop-1999', 'a');
    await on.until(() => on.stateOf('shop-1999', 'a') === 'accepted');
  });
});

describe('the only order of an account whose key was taken once and is refused now', () => {
  /** It was refused so often that it is due again in minutes only. */
  async function refused() {
    const on = await manyAccounts({ ...THREE, two: 'exchange: {apiKeyFile: two.key}' });
    const key = join(on.folder, 'two.key');
    writeFileSync(key, 'two', { mode: 0o600 });
    on.insert('two', 'a');
    const daemon = await on.start();
    await on.until(() => accepted(on, 'a', ['two']));
    writeFileSync(key, 'wrong');
    await on.pass(MINUTE + SECOND);
    on.insert('two', 'b');
    on.merchant
      .prepare(`update merchant_orders set attempts = 12, revision = revision + 1 where external_order_id = 'b'`)
      .run();
    await on.until(() => sentBy(on, 'wrong').length > 0);
    return { on, key, daemon };
  }

  it('is sent within a minute once another key is in the file', async () => {
    const { on, key } = await refused();
    await on.pass(2 * MINUTE);
    writeFileSync(key, 'two');
    await on.pass(MINUTE + SECOND);
    expect(accepted(on, 'b', ['two'])).toBe(true);
  });

  it('is sent at once by the next daemon', async () => {
    const { on, key, daemon } = await refused();
    await daemon.stop();
    writeFileSync(key, 'two');
    await on.start();
    await on.pass(2 * SECOND);
    expect(accepted(on, 'b', ['two'])).toBe(true);
  });
});

describe('a due time that a trigger keeps from being corrected when the clock was set back', () => {
  /** One order must be sent in a minute, by a clock that is then set back by a day. */
  async function refused() {
    const on = await manyAccounts(THREE);
    let setMs = 0;
    const now = steadyTime(
      () => on.clock.now().getTime() + setMs,
      () => on.clock.monotonic(),
    );
    const clock = { ...on.clock, now };
    const daemon = await on.start({ clock });
    on.insert('one', 'a');
    on.merchant
      .prepare(`update merchant_orders set revision = revision + 1, next_action_at = ?`)
      .run(new Date(clock.now().getTime() + MINUTE).toISOString());
    await on.pass(SECOND);
    on.merchant.exec(`create trigger of_the_merchant before update on merchant_orders
      begin select raise(abort, 'not now'); end`);
    setMs -= DAY;
    await on.pass(2 * MINUTE);
    on.merchant.exec('drop trigger of_the_merchant');
    expect(sentBy(on, 'one')).toEqual([]);
    return { on, clock, daemon };
  }

  it('is corrected within minutes, for which its account does not rest', async () => {
    const { on } = await refused();
    await on.pass(4 * MINUTE);
    expect(sentBy(on, 'one')).not.toEqual([]);
  });

  it('is corrected by the next daemon at once', async () => {
    const { on, clock, daemon } = await refused();
    await daemon.stop();
    await on.start({ clock });
    await on.pass(5 * SECOND);
    expect(sentBy(on, 'one')).not.toEqual([]);
  });
});
