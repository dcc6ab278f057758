import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { openConnections } from '../../../../src/extensions/postgres/connection.ts';
import { primaryOf, Primary, weaknessesIn } from '../../../../src/extensions/postgres/hosts/primary.ts';
import { openOwnership } from '../../../../src/extensions/postgres/sharing/ownership.ts';
import { openStore } from '../../../../src/extensions/postgres/store.ts';
import { OwnedError, StoreError } from '../../../../src/store/errors.ts';
import { openAsOwner } from '../../../../src/store/open.ts';
import type { Store } from '../../../../src/store/port.ts';
import { readAccountFact, setAccountFact } from '../../../../src/store/tables/accounts.ts';
import { ask, type HostName, hostsUrl, silentServer, startCluster } from '../../../support/postgres-cluster.ts';
import { findPostgres, freePort, OWNER, startPostgres, type PostgresServer } from '../../../support/postgres-server.ts';
import { ownedStore, placeOf } from '../../../support/postgres-store.ts';

type Hosts = readonly HostName[];
const ACCOUNT = 'default';

async function open(hosts: Hosts): Promise<Store> {
  const store = await openStore(placeOf(hostsUrl(...hosts)), systemClock(), { expect: 'migrate' });
  onTestFinished(() => store.close());
  return store;
}

const write = async ({ writer }: Store, value: string) =>
  await writer.write((tx) => setAccountFact(tx, { account: ACCOUNT, name: 'fact', value, now: new Date() }));
const read = async ({ db }: Store) => await readAccountFact(db, { account: ACCOUNT, name: 'fact' });
const factAt = async (server: PostgresServer) =>
  (await ask<{ value: string }>(server, `select value from account_facts where name = 'fact'`, 'shop'))[0]?.value;
const sessions = async (server: PostgresServer, where = 'true') =>
  (
    await ask<{ count: number }>(
      server,
      `select count(*)::int as count from pg_stat_activity where application_name = 'order-sync' and ${where}`,
    )
  )[0]?.count ?? 0;
const cut = async (server: PostgresServer) =>
  await ask(server, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'order-sync'`);
const failureOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof StoreError)) throw new Error('is no failure of the store', { cause: error });
  return error;
};

describe('of the servers that take writes', () => {
  const host = (name: string) => ({ host: name, port: 5432 });
  const writable = (name: string, timeLine: string) => ({ server: host(name), timeLine });
  const refusal = (name: string) => ({ server: host(name), why: 'is a standby' });

  it.each([
    ['none, if all are standbys', [refusal('a'), refusal('b')], '', undefined],
    ['the only one, wherever it stands', [refusal('a'), writable('b', '00000001')], '', 'b'],
    ['the one with the highest time-line', [writable('a', '00000009'), writable('b', '0000000A')], '', 'b'],
    ['the first of two on one time-line', [writable('a', '00000002'), writable('b', '00000002')], '', 'a'],
    ['none, if a later time-line was used before', [writable('a', '00000001')], '00000002', undefined],
    ['the one that was used before', [writable('a', '00000002')], '00000002', 'a'],
  ])('is used %s', (_which, answers, newest, expected) => {
    expect(primaryOf(answers, newest)?.server.host).toBe(expected);
  });

  it('are weak if there are two, or if a host does not tell', () => {
    const names = (...answers: Parameters<typeof weaknessesIn>[0]) => weaknessesIn(answers).map(({ name }) => name);
    const silent = { ...refusal('c'), error: new Error('connect ECONNREFUSED') };
    expect(names(writable('a', '00000001'), refusal('b'))).toEqual([]);
    expect(names(writable('a', '00000001'), silent, writable('b', '00000002'))).toEqual(['hosts', 'split']);
  });
});

it('a database with one host is asked nothing more', async () => {
  const primary = new Primary(placeOf('postgres://u@127.0.0.1/o'));
  expect([primary.poolOptions, await primary.weaknesses()]).toEqual([{ destination: primary }, []]);
});

describe.skipIf(findPostgres() === undefined)('a database with several hosts', () => {
  it('is used at the host that takes writes, wherever it stands, and a host that is silent or gone is passed over', async () => {
    const { old, next } = await startCluster();
    const silent = await silentServer();
    const store = await open([silent, next, { port: await freePort() }, old]);
    await write(store, 'first');
    expect([await read(store), await factAt(old), await sessions(next)]).toEqual(['first', 'first', 0]);
    expect(silent.calls.length).toBe(1);
    expect((await store.weaknesses()).filter(({ name }) => name === 'hosts')).toHaveLength(2);
    expect((await store.server())[0]).toContain(`127.0.0.1:${old.port} `);
  });

  it.skipIf(!readFileSync('/proc/net/if_inet6', 'utf8').includes('00000001 '))(
    'may be named by addresses of IPv6',
    async () => {
      const server = await startPostgres(findPostgres() ?? '', { listen_addresses: '127.0.0.1, ::1' });
      onTestFinished(() => server[Symbol.asyncDispose]());
      await ask(server, `create database shop owner ${OWNER}`);
      const store = await open([`[::1]:${await freePort()}`, `[::1]:${server.port}`]);
      await write(store, 'first');
      expect(await read(store)).toBe('first');
    },
  );

  it('says of each host why it is not used, and what kind of failure it is', async () => {
    const { old, next } = await startCluster();
    const gone = await freePort();
    const message = async (hosts: Hosts) => (await failureOf(open(hosts))).message;
    const standby = await failureOf(open([next, { port: gone }]));
    expect([
      standby.problem,
      standby.message.includes(String(next.port)),
      standby.message.includes(String(gone)),
    ]).toEqual(['disk', true, true]);
    const other = await startPostgres(findPostgres() ?? '');
    onTestFinished(() => other[Symbol.asyncDispose]());
    await ask(other, `alter role ${OWNER} password 'another'`);
    expect((await failureOf(open([other, next]))).problem).toBe('denied');
    expect(await message([other, next])).not.toMatch(/canary/);
    await write(await open([other, next, old]), 'first');
    await Promise.all([old.stop(), next.stop(), other.stop()]);
    expect((await failureOf(open([old, next]))).problem).toBe('disk');
  });

  it('is followed by writers, heartbeats and notices when the standby is promoted', async () => {
    const { old, next, promote } = await startCluster();
    await (await open([old, next])).close();
    const place = placeOf(hostsUrl(old, next));
    const told: string[] = [];
    const inform = (text: string) => void told.push(text);
    const owned = await openAsOwner(place, systemClock(), { worker: { instance: 'here' }, inform });
    onTestFinished(() => owned[Symbol.asyncDispose]());
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const looking = (async () => {
      for await (const _ of owned.store.changes(stop.signal));
    })();
    const [lease] = await owned.ownership.take([ACCOUNT], 10_000);
    if (lease === undefined) throw new Error('is not owned');
    const store = owned.store.forAccount(ACCOUNT, lease);
    await write(store, 'first');
    // It also asks for what others have woken, on the same connection.
    const listens = `(query like 'listen%' or query like 'with woken%')`;
    while ((await sessions(old, listens)) === 0) await turn();
    await promote();
    await old.stop('immediate');
    await write(store, 'second');
    expect([await read(store), await factAt(next)]).toEqual(['second', 'second']);
    while (!lease.isTrusted()) await turn();
    while ((await sessions(next, listens)) === 0) await turn();
    expect(told).toEqual([`127.0.0.1:${next.port} takes the writes`]);
    expect((await ask<{ count: number }>(next, 'select count(*)::int as count from workers', 'shop'))[0]?.count).toBe(
      1,
    );
    stop.abort();
    await looking;
  });

  it('is followed when the old primary comes back as a standby before anybody has looked', async () => {
    const { old, next, promote, demote } = await startCluster();
    const store = await open([old, next]);
    await write(store, 'first');
    await promote();
    await demote();
    await write(store, 'second');
    expect([await read(store), await factAt(old), await factAt(next)]).toEqual(['second', 'first', 'second']);
  });

  it('is followed when the old primary becomes read-only under an open connection', async () => {
    const { old, next, promote } = await startCluster();
    const store = await open([old, next]);
    const owner = await ownedStore(store, ACCOUNT);
    await write(owner, 'first');
    await promote();
    await ask(old, 'alter system set default_transaction_read_only = on');
    await ask(old, 'select pg_reload_conf()');
    const isReading = `select current_setting('transaction_read_only') = 'on' as is`;
    while ((await ask<{ is: boolean }>(old, isReading))[0]?.is !== true);
    await failureOf(write(owner, 'second'));
    await write(owner, 'third');
    expect([await factAt(next), await sessions(old)]).toEqual(['third', 0]);
  });

  it('is never an old primary that lives on, once the new one was used', async () => {
    const { old, next, promote } = await startCluster();
    const store = await open([old, next]);
    await write(store, 'first');
    await promote();
    await write(store, 'at the old one');
    await cut(old);
    await write(store, 'at the new one');
    expect([await factAt(old), await factAt(next), await sessions(old)]).toEqual([
      'at the old one',
      'at the new one',
      0,
    ]);
    await next.stop();
    const failure = await failureOf(write(store, 'nowhere'));
    expect([failure.problem, failure.message.includes('time-line 1')]).toEqual(['disk', true]);
    await next.start();
    await write(store, 'again');
    expect(await factAt(next)).toBe('again');
  });

  it('has a worker trust itself only by a heartbeat on the server that takes writes now', async () => {
    const { old, next } = await startCluster();
    const place = placeOf(hostsUrl(next, old));
    const primary = new Primary(place);
    const store = await openStore(place, systemClock(), { expect: 'migrate', primary });
    onTestFinished(() => store.close());
    await using ownership = openOwnership(place, store, systemClock(), {}, primary);
    const [lease] = await ownership.take([ACCOUNT], 10_000);
    expect(lease?.isTrusted()).toBe(true);
    primary.doubt(true);
    expect(lease?.isTrusted()).toBe(false);
    while (lease?.isTrusted() !== true) await turn();
  });

  it('refuses an owner whose last commit went to an old primary that lives on, and breaks its open transaction off', async () => {
    const { old, next, promote } = await startCluster();
    const place = placeOf(hostsUrl(old, next));
    const primary = new Primary(place);
    const store = await openStore(place, systemClock(), { expect: 'migrate', primary });
    onTestFinished(() => store.close());
    const owner = await ownedStore(store, ACCOUNT);
    await write(owner, 'first');
    await promote();
    await write(owner, 'at the old one');
    await using others = openConnections(place, { max: 1, primary });
    const begun = Promise.withResolvers<void>();
    const going = Promise.withResolvers<void>();
    const writing = owner.writer.write(async (tx) => {
      await setAccountFact(tx, { account: ACCOUNT, name: 'fact', value: 'split', now: new Date() });
      begun.resolve();
      await going.promise;
      await setAccountFact(tx, { account: ACCOUNT, name: 'fact', value: 'split too', now: new Date() });
    });
    await begun.promise;
    const term = primary.term;
    {
      using lent = await others.lend();
      expect((await lent.exec('select pg_is_in_recovery() as is')).rows).toEqual([{ is: 0 }]);
      await ask(
        old,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'order-sync' and state = 'idle'`,
      );
      await failureOf(lent.exec('select 1'));
    }
    using moved = await others.lend();
    expect((await moved.exec('select inet_server_port() as port')).rows).toEqual([{ port: next.port }]);
    expect(primary.term).toBeGreaterThan(term);
    going.resolve();
    await expect(writing).rejects.toBeInstanceOf(OwnedError);
    await expect(write(owner, 'never')).rejects.toBeInstanceOf(OwnedError);
    expect([await factAt(old), await factAt(next), await sessions(old)]).toEqual(['at the old one', 'first', 0]);
  });
});
