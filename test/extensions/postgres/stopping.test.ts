import { expect, it, onTestFinished } from 'vitest';
import { openConnections } from '../../../src/extensions/postgres/connection.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { startCommand } from '../../support/cli-process.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';
import { placeOf } from '../../support/postgres-store.ts';

it('a daemon that waits for a locked table while it opens its database ends with 0 at SIGTERM', async () => {
  const database = await newPostgresDatabase();
  const merchant = openMerchant(database);
  onTestFinished(() => void merchant.close());
  merchant.exec('begin; lock table kysely_migration in access exclusive mode');
  const isWaiting = merchant.prepare('select count(*) from pg_locks where not granted').pluck();
  const { process: daemon, finished } = startCommand(['run'], {
    cwd: temporaryFolder(),
    environment: {
      ORDER_SYNC_DATABASE_URL: database.url,
      ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1',
      ORDER_SYNC_EXCHANGE_API_KEY: 'key',
      ORDER_SYNC_OPS_LISTEN: 'off',
    },
  });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  while (isWaiting.get() === 0) await new Promise((resolve) => setImmediate(resolve));
  daemon.kill('SIGTERM');
  expect(await finished).toMatchObject({ code: 0, signal: null });
});

it('what a server is asked when no time is left is not waited for, and what is asked then has a short answer', async () => {
  const { url } = await newPostgresDatabase();
  const hurry = new AbortController();
  await using connections = openConnections(placeOf(url), { max: 2, hurry: hurry.signal });
  const lent = await connections.lend();
  const asked = lent.exec('select pg_sleep(30)').catch((error: unknown) => error);
  hurry.abort();
  const askedThen = connections.lend().then(async (other) => {
    const answer = await other.exec('select pg_sleep(30)').catch((error: unknown) => error);
    other.release();
    return answer;
  });
  expect(await asked).toBeInstanceOf(StoreError);
  lent.release();
  expect(await askedThen).toBeInstanceOf(StoreError);
  const last = await connections.lend();
  expect(await last.exec('select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
  last.release();
});
