import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Status } from '../../../src/extensions/health/status/status.ts';
import type { StatusVerdict } from '../../../src/extensions/health/status/problems.ts';
import { SCENARIOS } from '../../../src/extensions/sandbox/scenario.ts';
import type { MarkContent } from '../../../src/store/port.ts';
import { runProgram } from '../../support/cli-function.ts';
import { testProcesses } from '../../support/program-processes.ts';

/** Orders that exist at the exchange at once, and orders whose pre-order no client takes up. */
const scenarioOf = (id: string) => ({ ...SCENARIOS.completed, appearsAfterMs: id.startsWith('shown') ? 0 : null });

/** A sandbox, a database that can be put back to the state in which it was copied, and commands for both. */
async function restorable(environment: Record<string, string> = {}) {
  const on = await testProcesses({ scenarioOf }, environment);
  const { path, sandbox } = on;
  const run = (...args: string[]) => runProgram(args, { cwd: dirname(path), environment: on.environment });
  /** On a connection of its own: the file may be another one by now. */
  const withDatabase = <Result>(work: (database: Database.Database) => Result): Result => {
    const database = new Database(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    path,
    run,
    withDatabase,
    insert: (...ids: string[]) =>
      withDatabase((database) => {
        for (const id of ids) {
          database
            .prepare(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
              values (?, '1.5', 'BTC', 'EUR')`)
            .run(id);
        }
      }),
    copy: async () => expect(await run('db', 'backup', `${path}.copy`)).toMatchObject({ code: 0 }),
    restore(...also: string[]) {
      for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
      for (const ending of ['', ...also]) copyFileSync(`${path}.copy${ending}`, `${path}${ending}`);
    },
    creates: () => sandbox.requests.filter(({ method }) => method === 'POST').map(({ externalOrderId: id }) => id),
    duplicated: () => sandbox.exchange.census().duplicated,
    states: () =>
      withDatabase((database) =>
        Object.fromEntries(
          (
            database.prepare('select external_order_id, state from merchant_orders order by 1').raw().all() as [
              string,
              string,
            ][]
          ).map(([id, state]) => [id, state]),
        ),
      ),
    mark: () => JSON.parse(readFileSync(`${path}.mark`, 'utf8')) as MarkContent,
  };
}

const REASON = ['--reason', 'a drill'];

/** Copied while orders wait, which are sent since: one that the exchange shows, and one that it does not. */
async function sentSince(environment: Record<string, string> = {}) {
  const on = await restorable(environment);
  on.insert('sent before');
  expect(await on.run('sync')).toMatchObject({ code: 0 });
  on.insert('shown', 'not shown', '');
  await on.copy();
  expect(await on.run('sync')).toMatchObject({ code: 1 });
  expect(on.creates()).toHaveLength(3);
  return on;
}

describe('a database that was put back to an older state', () => {
  it('sends nothing: all that would write ends with 65, and reading continues', async () => {
    const on = await sentSince();
    on.restore();
    const before = on.states();
    for (const args of [
      ['sync'],
      ['orders', 'add', '--external-order-id', 'new', '--asset', '1', '--from', 'BTC', '--to', 'EUR'],
      ['orders', 'cancel', 'shown', ...REASON],
      ['resume', ...REASON],
      ['db', 'check'],
    ]) {
      expect([args, await on.run(...args)]).toEqual([args, expect.objectContaining({ code: 65 })]);
    }
    expect(await on.run('orders', 'list')).toMatchObject({ code: 0 });
    const status = await on.run('status', '--json');
    const { verdict, olderState } = JSON.parse(status.stdout) as Status & { verdict: StatusVerdict };
    expect([status.code, olderState]).toEqual([1, expect.any(String)]);
    const remedies = verdict.reasons.map(({ remedy }) => remedy);
    expect(remedies).toContain('order-sync db accept-restore');
    expect(remedies).not.toContain('order-sync run');
    expect(await on.run('db', 'migrate')).toMatchObject({ code: 0 });
    expect(on.creates()).toHaveLength(3);
    expect(on.states()).toEqual(before);
  });

  it('creates no order twice once it is accepted: what may have been sent is looked up, creates wait for resume', async () => {
    const on = await sentSince();
    const missingTo = on.mark().at;
    on.restore();
    const accepted = await on.run('db', 'accept-restore', '--json');
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(accepted.stdout)).toEqual({
      missing: { from: expect.any(String) as string, to: missingTo },
      orders: 3,
    });
    expect(on.states()).toEqual({ '': 'unknown', 'not shown': 'unknown', 'sent before': 'accepted', shown: 'unknown' });
    on.insert('new');
    await on.run('sync');
    expect(on.states()).toMatchObject({ new: 'pending', 'not shown': 'unknown', shown: 'open' });
    expect(on.creates()).toHaveLength(3);
    expect(await on.run('resume', ...REASON)).toMatchObject({ code: 0 });
    expect(await on.run('sync')).toMatchObject({ code: 1 });
    expect(on.states()).toMatchObject({ new: 'accepted', 'not shown': 'unknown' });
    expect([on.creates().length, on.duplicated()]).toEqual([4, []]);
    expect(await on.run('db', 'check', '--chain')).toMatchObject({ code: 0 });
    const findings = await on.run('findings', 'list', '--json', '--class', 'ID_COLLISION');
    expect(JSON.parse(findings.stdout)).toEqual([]);
  });

  it('is not noticed if its mark was put back with it; a person can say so all the same', async () => {
    const on = await restorable();
    on.insert('sent before');
    await on.run('sync');
    on.insert('shown');
    await on.copy();
    copyFileSync(`${on.path}.mark`, `${on.path}.copy.mark`);
    await on.run('sync');
    on.restore('.mark');
    expect(await on.run('db', 'check')).toMatchObject({ code: 0 });
    expect(await on.run('db', 'accept-restore')).toMatchObject({ code: 64 });
    const accepted = await on.run('db', 'accept-restore', '--yes', '--json');
    expect(accepted.code).toBe(0);
    expect(JSON.parse(accepted.stdout)).toMatchObject({ missing: { to: null }, orders: 1 });
    await on.run('sync');
    expect([on.states(), on.duplicated()]).toMatchObject([{ shown: 'open' }, []]);
  });

  it('stays closed until it is accepted to the end, and is then accepted with the same times', async () => {
    const on = await sentSince();
    const missingTo = on.mark().at;
    on.restore();
    // A row that refuses to be changed: what was done before it stays done, and the rest must not be sent.
    on.withDatabase((database) =>
      database.exec(`create trigger theirs before update on merchant_orders when old.external_order_id = 'shown'
        begin select raise(abort, 'no'); end`),
    );
    expect(await on.run('db', 'accept-restore')).toMatchObject({ code: 65 });
    on.withDatabase((database) => {
      database.exec('drop trigger theirs');
      // As much as the mark knows of, and more.
      const fill =
        database.prepare(`insert into events (account, type, subject, field, observed_at, source, previous_hash, hash)
        values ('other', 'order', 'x', 'state', '2026-01-01T00:00:00.000Z', 'create', '', '')`);
      for (let events = 0; events < 100; events += 1) fill.run();
    });
    expect(await on.run('sync')).toMatchObject({ code: 65 });
    const accepted = await on.run('db', 'accept-restore', '--json');
    expect(JSON.parse(accepted.stdout)).toMatchObject({ missing: { to: missingTo } });
    await on.run('resume', ...REASON);
    await on.run('sync');
    expect([on.creates().length, on.duplicated()]).toEqual([3, []]);
  });

  it('leaves orders as they are for a person who knows that nothing was sent', async () => {
    const on = await restorable();
    on.insert('sent before');
    await on.run('sync');
    on.insert('shown');
    await on.copy();
    on.restore();
    rmSync(`${on.path}.mark`);
    expect(await on.run('sync')).toMatchObject({ code: 65 });
    expect(await on.run('db', 'accept-restore', '--assume-not-sent')).toMatchObject({ code: 64 });
    expect(await on.run('db', 'accept-restore', '--assume-not-sent', '--actor', 'ann', ...REASON)).toMatchObject({
      code: 0,
    });
    expect(on.states()).toMatchObject({ shown: 'pending' });
    expect(await on.run('sync')).toMatchObject({ code: 0 });
    expect([on.creates().length, on.duplicated()]).toEqual([2, []]);
    expect(
      on.withDatabase((database) =>
        database.prepare(`select new_value, actor, reason from events where field = 'restore'`).all(),
      ),
    ).toEqual([{ new_value: 'nothing-sent', actor: 'ann', reason: 'a drill' }]);
  });

  it('is accepted only while no process drives it', async () => {
    const on = await sentSince();
    on.restore();
    const lock = new Database(`${on.path}.lock`);
    lock.exec('begin exclusive');
    expect(await on.run('db', 'accept-restore')).toMatchObject({ code: 75 });
    lock.close();
    expect(on.states()).toMatchObject({ shown: 'pending' });
  });

  it('looks up and never sends by itself what may have been sent, also with create.onUnknown: resend', async () => {
    const on = await sentSince({ ORDER_SYNC_CREATE_ON_UNKNOWN: 'resend' });
    on.restore();
    await on.run('db', 'accept-restore');
    // Long ago, so that three documented 404s would allow a repetition.
    on.withDatabase((database) =>
      database.exec(`update merchant_orders set sent_at = '2026-01-01T00:00:00.000Z', revision = revision + 1,
        documented_absences = 9, next_action_at = '2026-01-01T00:00:00.000Z' where state = 'unknown'`),
    );
    await on.run('resume', ...REASON);
    await on.run('sync');
    expect(on.states()).toMatchObject({ 'not shown': 'unknown' });
    expect([on.creates().length, on.duplicated()]).toEqual([3, []]);
  });

  it('takes orders that the copy does not know for sent, also if the merchant has put them in once more', async () => {
    const on = await restorable();
    on.insert('sent before');
    await on.run('sync');
    await on.copy();
    on.insert('shown', 'not shown');
    await on.run('sync');
    on.restore();
    await on.run('db', 'accept-restore');
    on.insert('shown', 'new');
    const file = `${on.path}.csv`;
    const rows = ['sent before', 'shown', 'not shown'].map((id) => `${id},1.5,BTC,EUR\n`);
    writeFileSync(file, `external_order_id,asset,from_currency,to_currency\n${rows.join('')}`);
    const imported = await on.run('orders', 'import', file, '--may-have-been-sent', '--json');
    expect([imported.code, JSON.parse(imported.stdout)]).toEqual([
      0,
      { read: 3, inserted: 1, alreadyPresent: 2, problems: 0, assumedSent: 2 },
    ]);
    expect(on.states()).toMatchObject({ 'sent before': 'accepted', shown: 'unknown', 'not shown': 'unknown' });
    await on.run('resume', ...REASON);
    await on.run('sync');
    expect(on.states()).toMatchObject({ new: 'accepted', shown: 'open', 'not shown': 'unknown' });
    expect([on.creates().length, on.duplicated()]).toEqual([4, []]);
    const again = await on.run('orders', 'import', file, '--may-have-been-sent', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ inserted: 0, assumedSent: 0 });
  });

  it('is also a new one in the place of one that is lost: creates wait for resume', async () => {
    const on = await sentSince();
    for (const ending of ['', '-wal', '-shm']) rmSync(`${on.path}${ending}`, { force: true });
    expect(await on.run('db', 'migrate')).toMatchObject({ code: 0 });
    on.insert('shown');
    expect(await on.run('sync')).toMatchObject({ code: 65 });
    expect(await on.run('db', 'accept-restore')).toMatchObject({ code: 0 });
    on.insert('not shown');
    await on.run('sync');
    expect([on.states(), on.creates().length]).toEqual([{ shown: 'open', 'not shown': 'pending' }, 3]);
  });

  it('has a mark that nothing else can be taken for: one that is cut off is none', async () => {
    const on = await sentSince();
    writeFileSync(`${on.path}.mark`, readFileSync(`${on.path}.mark`).subarray(0, 20));
    expect(await on.run('sync')).toMatchObject({ code: 65 });
  });
});
