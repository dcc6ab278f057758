import { describe, expect, it, vi } from 'vitest';
import { promote } from '../../../support/promoted-shop.ts';
import { documentedRole } from '../../../support/postgres-role.ts';
import { findPostgres } from '../../../support/postgres-server.ts';
import { testProcesses } from '../../../support/program-processes.ts';

describe.skipIf(findPostgres() === undefined)('a role for the workers alone, as documented', () => {
  it('drives orders to their end on a promoted server, too, and runs the commands', async () => {
    const { owner, url, database } = await documentedRole();
    promote(database, 2);
    const on = await testProcesses({ speed: 1_000 }, { ORDER_SYNC_DATABASE_URL: url });
    const daemon = await on.start(['run']);
    const run = async (...args: string[]) => {
      const command = await on.start(args);
      return [args.join(' '), (await command.exit).code, command.output()];
    };
    const add = ['--asset', '1.5', '--from', 'BTC', '--to', 'EUR'];
    const commands = [
      ['orders', 'add', '--external-order-id', 'a', ...add],
      ['db', 'status'],
      ['db', 'check', '--chain'],
      ['report', 'summary'],
    ];
    for (const args of commands) expect(await run(...args)).toEqual([args.join(' '), 0, expect.anything()]);
    const state = owner.prepare('select state from merchant_orders').pluck();
    await vi.waitFor(() => expect(['accepted', 'open', 'final']).toContain(state.get()), { timeout: 20_000 });
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toMatchObject({ code: 0 });
    expect(daemon.output()).not.toMatch(/"level":"(error|fatal)"/);
  });

  it.each([
    'alter table merchant_orders disable trigger all',
    'truncate events',
    'update events set new_value = null',
    'delete from events',
    'drop table merchant_orders',
    `insert into kysely_migration (name, timestamp) values ('0009', '')`,
  ])('may not "%s"', async (text) => {
    const { worker, owner } = await documentedRole();
    owner.exec(`insert into events (account, type, subject, field, new_value, observed_at, source, previous_hash, hash)
      values ('default', 'order', 'a', 'state', 'sending', '', 'create', '', '')`);
    expect(() => worker.exec(text)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^(42501|OS001)$/) }),
    );
    expect(owner.prepare('select count(*) from events').pluck().get()).toBe(1);
  });

  it('is told at the start if it may not set the sequence of event ids: a fail-over would stop all accounts', async () => {
    const { owner, role, url } = await documentedRole();
    owner.exec(`revoke update on all sequences in schema public from ${role}`);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: url });
    const daemon = await on.start(['run']);
    expect(await daemon.exit).toMatchObject({ code: 78 });
    expect(daemon.output()).toContain('grant select, update on all sequences');
  });

  it('has the tables that a migration makes later, and makes none', async () => {
    const { owner, worker, url } = await documentedRole();
    owner.exec('create table later (id int primary key)');
    worker.exec('insert into later values (1)');
    owner.exec(`drop table idempotent_requests;
      delete from kysely_migration where name = '0005_advertise'; delete from migration_hashes where name = '0005_advertise'`);
    const on = await testProcesses({}, { ORDER_SYNC_DATABASE_URL: url });
    const daemon = await on.start(['run']);
    expect(await daemon.exit).toMatchObject({ code: 65 });
    expect(daemon.output()).toContain('db migrate');
  });
});
