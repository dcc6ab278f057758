import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { documentedRole } from '../../../support/postgres-role.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { findPostgres, freePort } from '../../../support/postgres-server.ts';
import { testProcesses } from '../../../support/program-processes.ts';

type Role = Awaited<ReturnType<typeof documentedRole>>;

/** The refusals of a server, by code: how each is brought about, and the advice to a person. */
const REFUSED: readonly (readonly [code: string, begin: (on: Role) => void, remedy: RegExp])[] = [
  [
    '42501',
    ({ owner, role }) => owner.exec(`revoke update on merchant_orders from ${role}`),
    /^run as .*: grant select, insert, update, delete on merchant_orders to "worker_\w+"$/,
  ],
  [
    '42501',
    ({ owner, role }) => owner.exec(`revoke update on workers from ${role}`),
    /^run as .*: grant select, insert, update, delete on workers to "worker_\w+"$/,
  ],
  [
    '25006',
    ({ admin, role }) => {
      admin.exec(`alter role ${role} set default_transaction_read_only = on`);
      admin.exec(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
    },
    /default_transaction_read_only/,
  ],
];

/** Why the database fails, as /readyz says. */
async function reasonOf(listen: string): Promise<string> {
  const answer = await fetch(`http://${listen}/readyz`);
  const { checks } = (await answer.json()) as { checks: { check: string; reason?: string }[] };
  return checks.find(({ check }) => check === 'database')?.reason ?? '';
}

describe.skipIf(findPostgres() === undefined)('a server that refuses every write', () => {
  it.each(REFUSED)('is told by /readyz and status, with %s and the remedy', async (code, begin, remedy) => {
    const on = await documentedRole();
    const listen = `127.0.0.1:${await freePort()}`;
    const processes = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: on.url, ORDER_SYNC_OPS_LISTEN: listen });
    await processes.start(['run']);
    begin(on);
    on.owner.exec(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
      values ('a', '1.5', 'BTC', 'EUR')`);
    await vi.waitFor(async () => expect(await reasonOf(listen)).toContain(`(${code}: `), { timeout: 20_000 });
    const status = await processes.start(['status', '--json']);
    expect((await status.exit).code).toBe(1);
    const { verdict } = JSON.parse(status.output()) as { verdict: { reasons: unknown[] } };
    expect(verdict.reasons).toContainEqual(
      expect.objectContaining({
        code: 'database-unwritten',
        text: expect.stringContaining(`(${code}: `),
        remedy: expect.stringMatching(remedy),
      }),
    );
  });

  it('is told while no account has anything to do', async () => {
    const on = await documentedRole();
    const listen = `127.0.0.1:${await freePort()}`;
    const file = join(temporaryFolder(), 'shop.yaml');
    writeFileSync(file, 'accounts: { a: {}, b: {} }\n', { mode: 0o600 });
    const settings = { ORDER_SYNC_CONFIG: file, ORDER_SYNC_DATABASE_URL: on.url, ORDER_SYNC_OPS_LISTEN: listen };
    await (await testProcesses({}, settings)).start(['run']);
    on.owner.exec(`revoke update on workers from ${on.role}`);
    await vi.waitFor(async () => expect(await reasonOf(listen)).toContain('(42501: '), { timeout: 20_000 });
    on.owner.exec(`grant update on workers to ${on.role}`);
    await vi.waitFor(async () => expect(await reasonOf(listen)).toBe(''), { timeout: 20_000 });
  });
});
