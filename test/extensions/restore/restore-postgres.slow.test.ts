import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { postgresOfTests } from '../../support/postgres-server.ts';
import { copyPostgresDatabase, newPostgresDatabase, type PostgresTestDatabase } from '../../support/postgres.ts';
import { echo, record, scriptedExchange } from '../../support/scripted-exchange.ts';

const REASON = ['--reason', 'a drill'];

/** Machines of a shop with one account, `shop`: each has its own folder, and so its own marks. */
async function shop() {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : record(request.externalOrderId));
  const machine = (folder = temporaryFolder()) => {
    const settings = `accounts: {shop: }\nexchange: {baseUrl: ${exchange.url}, apiKey: canary}\n`;
    writeFileSync(join(folder, 'own.yaml'), settings, { mode: 0o600 });
    return (database: PostgresTestDatabase, ...args: string[]) =>
      runProgram([...args, '--config', join(folder, 'own.yaml')], {
        cwd: folder,
        environment: { ORDER_SYNC_DATABASE_URL: database.url },
      });
  };
  const withMerchant = <Result>(database: PostgresTestDatabase, work: (merchant: Merchant) => Result): Result => {
    const merchant = openMerchant(database);
    try {
      return work(merchant);
    } finally {
      merchant.close();
    }
  };
  return {
    machine,
    insert: (database: PostgresTestDatabase, id: string) =>
      withMerchant(database, (merchant) =>
        merchant
          .prepare(`insert into merchant_orders (account, external_order_id, asset, from_currency, to_currency)
            values ('shop', ?, '1.5', 'BTC', 'EUR')`)
          .run(id),
      ),
    state: (database: PostgresTestDatabase, id: string) =>
      withMerchant(database, (merchant) =>
        merchant.prepare('select state from merchant_orders where external_order_id = ?').pluck().get(id),
      ),
    created: () =>
      exchange.requests.filter(({ method }) => method === 'POST').map(({ externalOrderId }) => externalOrderId),
  };
}

type Merchant = ReturnType<typeof openMerchant>;

/** Copied while `later` waits, which is sent since. */
async function sentSince() {
  const { machine, ...on } = await shop();
  const run = machine();
  const original = await newPostgresDatabase();
  on.insert(original, 'earlier');
  expect(await run(original, 'sync', '--account', 'shop')).toMatchObject({ code: 0 });
  on.insert(original, 'later');
  const restored = await copyPostgresDatabase(original);
  expect(await run(original, 'sync', '--account', 'shop')).toMatchObject({ code: 0 });
  expect(on.created()).toEqual(['earlier', 'later']);
  return { ...on, run, machine, original, restored };
}

describe.skipIf(postgresOfTests() === undefined)('a database that was restored under another name', () => {
  it('is found older by a machine that drove the original, and sends nothing twice', async () => {
    const on = await sentSince();
    const { run, restored } = on;
    const checked = await run(restored, 'db', 'check', '--json');
    expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
      65,
      { accounts: 1, marks: 1, withoutMark: 0, olderAccounts: [{ account: 'shop' }] },
    ]);
    expect(await run(restored, 'sync', '--account', 'shop')).toMatchObject({ code: 65 });
    // A machine without the mark tells it as well.
    const elsewhere = on.machine();
    for (const looks of [run, elsewhere]) {
      const status = await looks(restored, 'status', '--account', 'shop');
      expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining('db accept-restore') });
      const { stdout } = await looks(restored, 'orders', 'explain', 'later', '--account', 'shop');
      expect(stdout).toMatch(
        /The order is not sent: the account shop has been stopped .*order-sync db accept-restore --account shop/s,
      );
      expect(stdout).not.toContain('when the next pass runs');
    }
    // Rows may be inserted, and are not sent before a person has decided.
    const added = ['--external-order-id', 'added', '--asset', '1', '--from', 'BTC', '--to', 'EUR'];
    expect(await run(restored, 'orders', 'add', '--account', 'shop', ...added)).toMatchObject({ code: 0 });
    expect(['later', 'added'].map((id) => on.state(restored, id))).toEqual(['pending', 'pending']);
    expect(await run(restored, 'db', 'accept-restore', '--account', 'all')).toMatchObject({ code: 0 });
    expect(['later', 'added'].map((id) => on.state(restored, id))).toEqual(['unknown', 'unknown']);
    expect(await run(restored, 'resume', '--account', 'shop', ...REASON)).toMatchObject({ code: 0 });
    await run(restored, 'sync', '--account', 'shop');
    expect([on.state(restored, 'later'), on.created()]).toEqual(['open', ['earlier', 'later']]);
    expect(await run(restored, 'db', 'check')).toMatchObject({ code: 0 });
    expect((await elsewhere(restored, 'orders', 'explain', 'later', '--account', 'shop')).stdout).not.toContain(
      'stopped',
    );
  });

  it('is one of which another machine cannot tell, until a person accepts it there', async () => {
    const on = await sentSince();
    const [run, { restored }] = [on.machine(), on];
    const checked = await run(restored, 'db', 'check', '--json');
    expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
      1,
      { accounts: 1, marks: 0, withoutMark: 1, olderAccounts: [] },
    ]);
    expect(await run(restored, 'db', 'accept-restore', '--account', 'all', '--yes')).toMatchObject({ code: 0 });
    expect(await run(restored, 'db', 'check')).toMatchObject({ code: 0 });
  });
});

it('has nothing to tell if the database has no history yet', async () => {
  const run = (await shop()).machine();
  expect(await run(await newPostgresDatabase(), 'db', 'check')).toMatchObject({ code: 0, stderr: '' });
});
