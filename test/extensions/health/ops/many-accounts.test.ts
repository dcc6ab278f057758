import { expect, it } from 'vitest';
import { readOverview } from '../../../../src/extensions/health/tables/overview.ts';
import { heardStatements } from '../../../support/heard-statements.ts';
import { testOps } from '../../../support/ops-endpoint.ts';
import { withSettings } from '../../../support/settings.ts';

const ACCOUNTS = 1_000;
/**
 * The most statements for all accounts: the accounts with the newest events are read one by one, and each other part is a
 * statement or two.
 */
const MOST_STATEMENTS = 50;
const NAME = "'a' || printf('%04d', i)";

it('reads a thousand accounts in a bounded number of statements', async () => {
  const statements: string[] = [];
  const on = await testOps({
    overrides: { store: { wrap: heardStatements((text) => void statements.push(text)) } },
    instead: ({ config }) => {
      const [account] = config.accounts;
      if (account === undefined) throw new Error('there is no account');
      const names = Array.from({ length: ACCOUNTS }, (_, index) => `a${String(index + 1).padStart(4, '0')}`);
      const listening = withSettings(config, { ops: { listen: { host: '127.0.0.1', port: 0 } } });
      return { config: { ...listening, accounts: names.map((name) => ({ ...account, name })) } };
    },
  });
  const { merchant, app, clock } = on.program;
  const each = `with recursive numbers (i) as (select 1 union all select i + 1 from numbers where i < ${ACCOUNTS})`;
  merchant.exec(`insert into merchant_orders (account, external_order_id) ${each} select ${NAME}, 'o' from numbers`);
  merchant.exec(`insert into events (account, type, subject, field, new_value, observed_at, source, previous_hash, hash)
    ${each} select ${NAME}, 'order', 'o', 'state', 'held', '2026-01-01T00:00:00.000Z', 'create', '', '' from numbers`);
  merchant.exec(`insert into event_heads (account, id, hash, counts)
    select account, id, hash, '{"orders":{"held":1,"unknown":1},"findings":{"STUCK":2}}' from events`);
  merchant.exec(`insert into webhook_endpoints (name, since) values ('shop', ''), ('books', '')`);
  statements.length = 0;
  const endpoints = [{ name: 'shop' }, { name: 'books' }];
  const overview = await readOverview(app.store.db, { account: undefined, endpoints, now: clock.now() });
  expect(overview.orders).toMatchObject({ pending: ACCOUNTS, held: ACCOUNTS });
  expect(overview.accounts).toHaveLength(ACCOUNTS);
  expect(overview.receivers).toMatchObject([{ oldestWaiting: expect.any(String) as string }, {}]);
  expect(statements.length).toBeLessThan(MOST_STATEMENTS);
  statements.length = 0;
  for (const page of ['/?account=all', '/metrics', '/readyz']) await (await on.get(page)).text();
  expect(statements.length).toBeLessThan(2 * MOST_STATEMENTS);
});
