import { CLIENT_OPERATIONS } from '../../../src/extensions/clients/addresses.ts';
import { EXCHANGE_OPERATIONS } from '../../../src/extensions/api/addresses.ts';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Owner } from '../../../src/extensions/api/asking/client.ts';
import { Patience } from '../../../src/orders/pass/run.ts';
import { relayRequests } from '../../../src/extensions/relay/relay.ts';
import { newKeyPair, tableTransport } from '../../../src/extensions/relay/table-transport.ts';
import { NoOwnerError } from '../../../src/extensions/api/asking/transport.ts';
import type { Store } from '../../../src/store/port.ts';
import { controlSocket, scriptedControlSocket, type ServedSocket } from '../../support/control-socket.ts';
import { openPostgresStore } from '../../support/postgres-store.ts';
import { record, type ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { drivenBy, endHeartbeat } from '../../support/workers.ts';

const HOLDER = 'worker-1';
const PASS = { scope: 'all', timeoutMs: 60_000 } as const;

/** A worker that answers what comes through the database, and a command elsewhere. */
async function elsewhere(on: ServedSocket) {
  const { store } = await openPostgresStore();
  const clock = systemClock();
  const keys = newKeyPair();
  const { publicKey } = keys;
  await drivenBy(store, { holder: HOLDER, socket: on.socketPath, publicKey });
  const stop = new AbortController();
  const { gracePeriodOver } = on.program.app;
  const patience = new Patience({ store, clock, log: on.log.logger });
  const deps = { store, clock, log: on.log.logger, patience, gracePeriodOver, keys, socketPath: on.socketPath };
  const relaying = relayRequests(deps, stop.signal);
  const end = () => {
    stop.abort();
    return relaying;
  };
  onTestFinished(end);
  const owner = (account = 'default', signal?: AbortSignal) =>
    new Owner(tableTransport({ store, clock }, { holder: HOLDER, publicKey }, account), {
      account,
      graceMs: 60_000,
      signal,
    });
  return { store, owner, end };
}

async function requestsIn({ db }: Store): Promise<Readonly<Record<string, string | null>>[]> {
  return (await sql<Record<string, string | null>>`select * from account_requests`.execute(db)).rows;
}

/** An exchange that keeps every request waiting until the test answers. */
function waiting(on: Awaited<ReturnType<typeof scriptedControlSocket>>) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<ScriptedAnswer>();
  on.exchange.answer = () => {
    arrived.resolve();
    return released.promise;
  };
  return { arrived: arrived.promise, release: released.resolve };
}

describe('an owner that is asked through the database', () => {
  it('answers as over its socket, with every digit, and leaves nothing behind', async () => {
    const on = await scriptedControlSocket();
    const found = '{"order":{"id":"o1","status":"NEW","sum":12345678901234567.123456789}}';
    on.exchange.answer = () => ({ status: 200, body: found });
    const { store, owner } = await elsewhere(on);
    expect(await owner().ask(EXCHANGE_OPERATIONS.lookUpOrder, { externalOrderId: 'a' })).toMatchObject({
      kind: 'ok',
      body: found,
    });
    on.exchange.answer = () => ({ status: 404, body: '{"message":"none","code":"404","status":"NOT_FOUND"}' });
    expect(await owner().ask(EXCHANGE_OPERATIONS.showPreOrder, { id: 'p1' })).toMatchObject({
      kind: 'refused',
      httpStatus: 404,
    });
    on.exchange.answer = () => ({ status: 429, headers: { 'retry-after': '7' } });
    expect(await owner().ask(EXCHANGE_OPERATIONS.showPreOrder, { id: 'p1' })).toEqual({
      kind: 'rate-limited',
      retryAfterMs: 7_000,
    });
    expect(await requestsIn(store)).toEqual([]);
  });

  it('says that it does not drive an account, and the command goes on', async () => {
    const on = await controlSocket();
    const { store, owner } = await elsewhere(on);
    await expect(owner('shop-2').ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).rejects.toThrow(NoOwnerError);
    await expect(owner('shop-2').sync(PASS).next()).rejects.toThrow(NoOwnerError);
    expect(await requestsIn(store)).toEqual([]);
  });

  it('makes a pass, and tells its progress', async () => {
    const on = await scriptedControlSocket();
    on.program.insert({ external_order_id: 'a' });
    const { arrived, release } = waiting(on);
    const { store, owner } = await elsewhere(on);
    const lines = owner().sync(PASS);
    const first = lines.next();
    await arrived;
    on.program.clock.advance(250);
    expect(await first).toMatchObject({ value: { type: 'progress', requests: 2 } });
    release('reset');
    expect(await lines.next()).toMatchObject({ value: { type: 'result', end: 'look', summary: { unknown: 1 } } });
    expect(await lines.next()).toMatchObject({ done: true });
    expect(await requestsIn(store)).toEqual([]);
  });

  it('ends a pass whose command was ended', async () => {
    const on = await scriptedControlSocket({ environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' } });
    on.program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    const turns = vi.spyOn(on.program.app.exchange, 'turnToCreate');
    const { arrived, release } = waiting(on);
    const { store, owner, end } = await elsewhere(on);
    const ended = new AbortController();
    const line = owner('default', ended.signal).sync(PASS).next();
    await arrived;
    const [[, signal] = expect.fail()] = turns.mock.calls;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    ended.abort();
    await expect(line).rejects.toThrow(/abort/);
    expect(await requestsIn(store)).toEqual([]);
    await stopped;
    release('reset');
    await end();
    await on.control.close();
    expect(on.exchange.count('POST')).toBe(1);
  });

  it('shows nobody what is asked and answered', async () => {
    const on = await scriptedControlSocket();
    const { arrived, release } = waiting(on);
    const { store, owner } = await elsewhere(on);
    const copied = sql`create table copies as select * from account_requests;
      create function copy() returns trigger language plpgsql as $$ begin
        insert into copies select new.*; return new; end $$;
      create trigger copied after insert or update on account_requests for each row execute function copy()`;
    await copied.execute(store.db);
    const asked = owner().ask(CLIENT_OPERATIONS.createLink, { email: 'ada@canary.example' });
    await arrived;
    release({ status: 200, body: '{"linkId":"canary-link","status":"NEW"}' });
    expect(await asked).toMatchObject({ kind: 'ok', body: expect.stringContaining('canary-link') as string });
    const { rows } = await sql<Record<string, string | null>>`select * from copies`.execute(store.db);
    expect(rows.map(({ taken_at: taken, answer }) => [taken !== null, answer !== null])).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
    for (const value of rows.flatMap((row) => Object.values(row))) {
      const texts = [value ?? '', Buffer.from(value ?? '', 'base64').toString('latin1')];
      expect(texts.some((text) => /canary|createLink|clients/i.test(text))).toBe(false);
    }
  });

  it('refuses a request that was changed', async () => {
    const on = await controlSocket();
    const { store, owner } = await elsewhere(on);
    await sql`create function change() returns trigger language plpgsql as $$ begin
        new.input := 'AAAA' || substr(new.input, 5); return new; end $$;
      create trigger changed before insert on account_requests for each row execute function change()`.execute(
      store.db,
    );
    expect(await owner().ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).toMatchObject({
      kind: 'invalid',
      httpStatus: 400,
    });
  });

  it('leaves it open what was done where its answer was changed', async () => {
    const on = await controlSocket();
    const { store, owner } = await elsewhere(on);
    await sql`create function change() returns trigger language plpgsql as $$ begin
        new.answer := 'AAAA' || substr(new.answer, 5); return new; end $$;
      create trigger changed before update of answer on account_requests for each row execute function change()`.execute(
      store.db,
    );
    expect(await owner().ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).toMatchObject({ kind: 'unknown' });
  });
});

describe('an owner that goes away', () => {
  it('has done nothing where it did not take the request, and the command goes on', async () => {
    const on = await controlSocket();
    const { store, owner, end } = await elsewhere(on);
    await end();
    await endHeartbeat(store, HOLDER);
    await expect(owner().ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).rejects.toThrow(NoOwnerError);
    expect(await requestsIn(store)).toEqual([]);
  });

  it('leaves it open what was done once it has taken the request', async () => {
    const on = await scriptedControlSocket();
    const { arrived, release } = waiting(on);
    const { store, owner } = await elsewhere(on);
    const asked = owner().ask(EXCHANGE_OPERATIONS.lookUpOrder, { externalOrderId: 'a' });
    await arrived;
    await endHeartbeat(store, HOLDER);
    expect(await asked).toMatchObject({ kind: 'unknown' });
    expect(await requestsIn(store)).toEqual([]);
    release('reset');
  });

  it('answers what it has taken before it stops', async () => {
    const on = await scriptedControlSocket();
    const { arrived, release } = waiting(on);
    const { owner, end } = await elsewhere(on);
    const asked = owner().ask(EXCHANGE_OPERATIONS.lookUpOrder, { externalOrderId: 'a' });
    await arrived;
    const ended = end();
    release(record('a'));
    await ended;
    expect(await asked).toMatchObject({ kind: 'ok' });
  });
});

describe('a command elsewhere', () => {
  it('says that nothing was sent where too many requests of the account wait', async () => {
    const on = await controlSocket();
    const { store, owner, end } = await elsewhere(on);
    await end();
    await sql`insert into account_requests (account, id, holder, public_key, input, asked_at)
      select 'default', n::text, '', '', '', '' from generate_series(1, 100) n`.execute(store.db);
    expect(await owner().ask(CLIENT_OPERATIONS.listLinks, { limit: 1 })).toMatchObject({ kind: 'not-sent' });
  });
});
