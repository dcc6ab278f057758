import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { lockFile } from '../../../../src/store/sqlite/owner.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { runCommand } from '../../../support/cli-process.ts';
import { commandFolder } from '../../../support/folders.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { findPostgres, PASSWORD } from '../../../support/postgres-server.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';

const at = commandFolder();
const run = (...args: string[]) => runProgram(args, at.options);
const insert = (id: string) => `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
  values ('${id}', '1.50', 'BTC', 'EUR')`;

describe.skipIf(findPostgres() === undefined)('db copy', () => {
  it('moves the orders, and every command on the old database says where they are', async () => {
    const sqlite = new Database(at.path);
    sqlite.exec(`${insert('shop-1')}; create table theirs (id text)`);
    sqlite.close();
    const database = await newPostgresDatabase();
    // The settings are those of the new database already.
    const own = { ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_WORKERS_INSTANCES: '3' };
    const copied = await runCommand(['db', 'copy', `sqlite:${at.path}`, database.url, '--json'], {
      ...at.options,
      environment: own,
    });
    expect([copied.code, copied.stderr]).toEqual([0, 'not copied, because it is not part of order-sync: theirs\n']);
    expect(JSON.parse(copied.stdout)).toMatchObject({ source: at.path, rows: 1, tables: { merchant_orders: 1 } });
    expect(copied.stdout).not.toContain(encodeURIComponent(PASSWORD));

    const where = expect.stringContaining('was moved to postgres://order_sync@127.0.0.1:') as string;
    for (const command of ['orders add --external-order-id shop-2 --asset 1 --from BTC --to EUR', 'pause --reason x'])
      expect(await run(...command.split(' '))).toMatchObject({ code: 65, stderr: where });
    const { environment } = at.options;
    const exchange = { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:9', ORDER_SYNC_EXCHANGE_API_KEY: 'canary' };
    const options = { ...at.options, environment: { ...environment, ...exchange } };
    expect(await runProgram(['sync'], options)).toMatchObject({ code: 65, stderr: where });
    expect(await run('orders', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('shop-1') as string });
    const status = await run('db', 'status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ move: { source: at.path, state: 'moved' } });

    // A person who accepts the old database has it owned again.
    expect(await run('db', 'accept-restore', '--yes')).toMatchObject({ code: 0 });
    expect(await run('pause', '--reason', 'x')).toMatchObject({ code: 0 });
    const merchant = openMerchant(database);
    merchant.exec(insert('shop-2'));
    expect(merchant.prepare('select count(*) from merchant_orders').pluck().get()).toBe(2);
  });

  it('leaves a database alone that a process drives, and tells no password', async () => {
    const lock = await lockFile(at.path, systemClock(), 0);
    const { url } = await newPostgresDatabase();
    expect(await run('db', 'copy', `sqlite:${at.path}`, url)).toMatchObject({ code: 75, stdout: '' });
    lock.release();
    for (const to of [url.replace('/test', '/none'), url.replace(':', '!'), `${url}?x=1`]) {
      const { code, stderr } = await run('db', 'copy', `sqlite:${at.path}`, to);
      expect(code === 64 || code === 65).toBe(true);
      expect(stderr).not.toContain(encodeURIComponent(PASSWORD));
    }
  });
});
