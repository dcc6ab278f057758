import { hostname } from 'node:os';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { Patience } from '../../../../src/orders/pass/run.ts';
import { relayRequests } from '../../../../src/extensions/relay/relay.ts';
import { newKeyPair } from '../../../../src/extensions/relay/table-transport.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { scriptedControlSocket } from '../../../support/control-socket.ts';
import { openPostgresStore } from '../../../support/postgres-store.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { drivenBy } from '../../../support/workers.ts';

/** A worker on PostgreSQL: its control socket, and what it answers through the database. */
async function worker(host: string, { socket }: { readonly socket?: string | null } = {}) {
  const on = await scriptedControlSocket();
  const { database, store } = await openPostgresStore();
  const keys = newKeyPair();
  const { publicKey } = keys;
  await drivenBy(store, { holder: 'w1', host, socket: socket === undefined ? on.socketPath : socket, publicKey });
  const stop = new AbortController();
  const { gracePeriodOver } = on.program.app;
  const [clock, log] = [systemClock(), on.log.logger];
  const deps = { store, clock, log, patience: new Patience({ store, clock, log }), gracePeriodOver };
  const relaying = relayRequests({ ...deps, keys, socketPath: on.socketPath }, stop.signal);
  onTestFinished(() => {
    stop.abort();
    return relaying;
  });
  await sql`create table asked (n bigint);
    create function count_asked() returns trigger language plpgsql as $$ begin
      insert into asked values (1); return new; end $$;
    create trigger counted after insert on account_requests for each row execute function count_asked()`.execute(
    store.db,
  );
  const run = (...args: string[]) => runProgram(args, { environment: { ORDER_SYNC_DATABASE_URL: database.url } });
  const asked = async () =>
    Number((await sql<{ n: number }>`select count(*) as n from asked`.execute(store.db)).rows[0]?.n);
  return { ...on, run, asked };
}

describe('a command about an account that a worker on PostgreSQL drives', () => {
  it('asks over the socket on the machine of the worker, and needs neither address nor key', async () => {
    const on = await worker(hostname());
    on.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
    expect(await on.run('lookup', 'shop-1', '--json')).toMatchObject({ code: 0, stderr: '' });
    expect(await on.asked()).toBe(0);
  });

  it.each([
    ['on another machine', 'elsewhere', undefined],
    ['where the socket is gone', hostname(), '/nowhere/order-sync.sock'],
    ['where the worker has none', hostname(), null],
  ])('asks through the database %s', async (_name, host, socket) => {
    const on = await worker(host, socket === undefined ? {} : { socket });
    on.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
    const [said, same] = [
      await on.run('lookup', 'shop-1', '--json'),
      await on.ask('GET', '/orders?externalOrderId=shop-1'),
    ];
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(same.text).toContain(said.stdout.trim());
    expect(await on.asked()).toBe(1);
  });

  it('ends as it does over the socket: a pass, a refusal, an exchange that is out of reach', async () => {
    const on = await worker('elsewhere');
    on.program.insert({ external_order_id: 'a' });
    expect(await on.run('sync', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"sent":1') as string,
    });
    on.exchange.answer = () => ({ status: 404, body: '{"message":"none","code":"404","status":"NOT_FOUND"}' });
    expect(await on.run('pre-order', 'show', 'p1')).toMatchObject({ code: 2 });
    on.exchange.answer = () => 'reset';
    expect(await on.run('client', 'create', 'ada@canary.example')).toMatchObject({ code: 69 });
  });
});
