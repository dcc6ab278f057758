import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OrderSync } from '../../../../src/extensions/shop/client.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { askSocket } from '../../../support/control-socket.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { testProcesses } from '../../../support/program-processes.ts';
import { apiOfProcess, secretOf } from '../../../support/served-api.ts';

describe('two workers on PostgreSQL', () => {
  it('share the accounts, and one drives all of them when the other is gone', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const database = await newPostgresDatabase();
    const file = join(temporaryFolder(), 'accounts.yaml');
    writeFileSync(file, `accounts:\n${names.map((name) => `  ${name}:\n`).join('')}`);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_CONFIG: file });
    const merchant = openMerchant(database);
    onTestFinished(() => void merchant.close());
    const insert = merchant.prepare(
      `insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency) values (?, ?, '1.5', 'BTC', 'EUR')`,
    );
    const owners = merchant.prepare(
      `select count(*) as owned from account_owners where holder is not null group by holder order by 1`,
    );
    const unsent = merchant
      .prepare(`select count(*) from merchant_orders where state in ('pending', 'sending')`)
      .pluck();
    const sent = async (id: string) => {
      for (const name of names) insert.run(name, `${id}-${name}`);
      await vi.waitFor(() => expect(Number(unsent.get())).toBe(0), { timeout: 30_000, interval: 100 });
    };
    const [first, second] = await Promise.all([on.start(['run']), on.start(['run'])]);
    await vi.waitFor(() => expect(owners.all().map((row) => Number(Object.values(row as object)[0]))).toEqual([2, 3]), {
      timeout: 30_000,
      interval: 100,
    });
    await sent('both');
    first.process.kill('SIGKILL');
    await sent('one');
    second.process.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 10, duplicated: [] });
  });

  it('say of an account that the other owns at which API it is reached: a command and the client with both URLs find it', async () => {
    const names = ['a', 'b'];
    const database = await newPostgresDatabase();
    const file = join(temporaryFolder(), 'accounts.yaml');
    writeFileSync(file, `accounts:\n${names.map((name) => `  ${name}:\n`).join('')}`);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: database.url, ORDER_SYNC_CONFIG: file });
    const merchant = openMerchant(database);
    onTestFinished(() => void merchant.close());
    for (const { settings } of [await apiOfProcess(), await apiOfProcess()]) await on.start(['run'], settings);
    const driven = merchant.prepare(`select w.advertise as url, w.socket, o.account from workers w
      join account_owners o on o.holder = w.holder order by o.account`);
    const workers = () => driven.all() as { url: string; socket: string; account: string }[];
    const urls = () => new Set(workers().map(({ url }) => url)).size;
    await vi.waitFor(() => expect(urls()).toBe(2), { timeout: 30_000, interval: 100 });
    const [first, second] = workers();
    const asked = await askSocket(first?.socket ?? '', 'GET', '/orders?externalOrderId=x&account=b');
    expect([asked.status, JSON.parse(asked.text)]).toEqual([421, expect.objectContaining({ owner: second?.url })]);
    const token = secretOf('shop');
    const run = (account: string, ...given: (string | undefined)[]) =>
      runProgram(['sync', '--json', '--account', account, ...given.flatMap((url) => ['--url', url ?? ''])], {
        cwd: temporaryFolder(),
        environment: { ORDER_SYNC_API_TOKEN: token },
      });
    expect(await run('b', first?.url, second?.url)).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await run('b', first?.url);
    expect([code, stderr.includes(`--url ${second?.url}`)]).toEqual([69, true]);

    const [one = '', other = ''] = [first?.url, second?.url];
    const order = { external_order_id: 'shop-1', asset: '1.5', from_currency: 'BTC', to_currency: 'EUR' };
    const shop = (...all: string[]) => new OrderSync({ urls: all, token, account: 'b' }).orders;
    expect(await shop(one, other).add(order)).toMatchObject({ external_order_id: 'shop-1' });
    await expect(shop(one).add(order)).rejects.toMatchObject({ kind: 'not-owner', owner: other });
  });
});
