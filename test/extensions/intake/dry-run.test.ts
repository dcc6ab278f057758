import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { DryRun } from '../../../src/extensions/intake/dry-run.ts';
import { runProgram } from '../../support/cli-function.ts';
import { newDatabase, temporaryFolder } from '../../support/folders.ts';

/** A database with orders that wait, and commands on it; there is no exchange and no key. */
async function backlog(environment: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  const path = join(cwd, 'orders.db');
  await newDatabase(path);
  const database = new Database(path);
  const insert = database.prepare(`insert into merchant_orders
    (external_order_id, asset, from_currency, to_currency, payment_token) values (?, ?, ?, 'EUR', 'canary')`);
  for (let index = 0; index < 1_200; index += 1) insert.run(`o${String(index)}`, '0.10000000000000000001', 'BTC');
  insert.run('wrong', '-1', 'BTC');
  insert.run('eth', '2', 'ETH');
  const settings = { ORDER_SYNC_DATABASE_URL: `sqlite:${path}`, ...environment };
  const run = (...args: string[]) => runProgram(args, { cwd, environment: settings });
  const contents = () => database.serialize().toString('base64');
  return { run, contents, database };
}

it('shows what would be sent and what is invalid, with exact sums, and writes nothing', async () => {
  const { run, contents, database } = await backlog();
  const before = contents();
  const { code, stdout } = await run('run', '--dry-run', '--rows', '2', '--json');
  expect(code).toBe(1);
  const found = JSON.parse(stdout) as DryRun;
  expect(found).toMatchObject({
    account: 'default',
    wouldSend: {
      orders: 1_201,
      later: 0,
      sums: [
        { from: 'BTC', to: 'EUR', orders: 1_200, asset: '120.000000000000000012' },
        { from: 'ETH', to: 'EUR', orders: 1, asset: '2' },
      ],
    },
    invalid: { orders: 1, first: [{ externalOrderId: 'wrong' }] },
    takesMs: 120_100,
    takesBesideLookupsMs: 240_200,
    lookupsDue: 0,
    holds: [],
    guard: null,
    olderState: null,
  });
  expect(found.wouldSend.first).toHaveLength(2);
  expect(found.wouldSend.first[0]?.body).toContain('"asset":0.10000000000000000001');
  expect(stdout).not.toContain('canary');
  expect(contents()).toBe(before);
  expect((await run('run', '--dry-run')).stdout).toContain('1201 orders');
  database.close();
});

it('counts orders that were found invalid, and names accounts that the settings do not', async () => {
  const { run, database } = await backlog();
  database.exec(`update merchant_orders set state = 'invalid', next_action_at = null, revision = revision + 1
    where external_order_id = 'wrong'`);
  const invalid = await run('run', '--dry-run', '--json');
  expect([invalid.code, JSON.parse(invalid.stdout)]).toMatchObject([1, { invalid: { orders: 0 }, newInvalid: 1 }]);
  expect((await run('run', '--dry-run')).stdout).toContain('orders list --state invalid');
  database.exec("update merchant_orders set account = 'defualt' where state = 'pending'");
  const { code, stdout, stderr } = await run('run', '--dry-run', '--json');
  expect([code, JSON.parse(stdout), stderr]).toMatchObject([
    1,
    { wouldSend: { orders: 0 } },
    expect.stringContaining('"defualt"'),
  ]);
  database.close();
});

it('names what would stop it: a pause, which other commands name too, and a limit of guard.*', async () => {
  const { run, database } = await backlog({ ORDER_SYNC_GUARD_CREATES_PER_HOUR: '500' });
  await run('pause', '--reason', 'maintenance');
  const { code, stdout } = await run('run', '--dry-run', '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { holds: [{ kind: 'creates-paused', reason: 'maintenance' }], guard: { afterOrders: 500 } },
  ]);
  expect((await run('orders', 'list')).stderr).toContain('maintenance');
  expect((await run('run', '--json')).code).toBe(64);
  database.close();
});
