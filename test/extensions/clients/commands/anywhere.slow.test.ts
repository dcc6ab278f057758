import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../../support/cli-function.ts';
import { scriptedControlSocket } from '../../../support/control-socket.ts';
import { openPostgresStore } from '../../../support/postgres-store.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { apiOf, secretOf } from '../../../support/served-api.ts';
import { drivenBy } from '../../../support/workers.ts';

const TOKEN = secretOf('shop');

/** A worker on PostgreSQL as its row tells of it, its control socket, and its API. */
async function worker({ host = hostname(), isOnSocket = true } = {}) {
  const on = await scriptedControlSocket();
  on.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
  const { database, store } = await openPostgresStore();
  const api = await apiOf(on.program);
  const socket = isOnSocket ? on.socketPath : '/nowhere/order-sync.sock';
  await drivenBy(store, { holder: 'w1', host, socket, advertise: api.url });
  const run = (settings: Readonly<Record<string, string>> = {}) =>
    runProgram(['lookup', 'shop-1', '--json'], { environment: { ORDER_SYNC_DATABASE_URL: database.url, ...settings } });
  return { ...on, api, run };
}

describe('a command about an account that a worker on PostgreSQL drives', () => {
  it('asks over the socket on the machine of the worker, and needs neither address nor key', async () => {
    const on = await worker();
    expect(await on.run({ ORDER_SYNC_API_TOKEN: TOKEN })).toMatchObject({ code: 0, stderr: '' });
    expect(on.api.asked).toEqual([]);
  });

  it('asks the API of the worker if its address stands in the settings too', async () => {
    const on = await worker({ isOnSocket: false });
    const settings = { ORDER_SYNC_API_TOKEN: TOKEN, ORDER_SYNC_API_ADVERTISE: on.api.url };
    expect(await on.run(settings)).toMatchObject({ code: 0, stderr: '' });
    expect(on.api.asked).toHaveLength(1);
  });

  it('sends no token to an address that the database alone has: it says which host drives the account, and its URL', async () => {
    const on = await worker({ host: 'elsewhere' });
    const { code, stderr } = await on.run({ ORDER_SYNC_API_TOKEN: TOKEN });
    expect([code, stderr.includes('elsewhere'), stderr.includes(`--url ${on.api.url}`)]).toEqual([75, true, true]);
    expect(on.api.asked).toEqual([]);
  });
});
