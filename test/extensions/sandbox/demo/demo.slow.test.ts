import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, it } from 'vitest';
import { findProgram } from '../../../../src/extensions/sandbox/cluster/machine.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { runCommand, startCommand } from '../../../support/cli-process.ts';
import { openMerchant } from '../../../support/merchant-postgres.ts';
import { findPostgres, PASSWORD } from '../../../support/postgres-server.ts';
import { newPostgresDatabase } from '../../../support/postgres.ts';
import { temporaryFolder } from '../../../support/folders.ts';

/** How late the changes were seen, on average and at 95 %. */
const SEEN_LATE = /^\d+ changes were seen [\d.]+ s .*\b95 % within [\d.]+ s\.$/m;

let folder = '';
beforeEach(() => void (folder = temporaryFolder()));

describe('demo', () => {
  it('brings a shop’s orders to their end with a real daemon, whatever settings there are, and leaves nothing', async () => {
    // Enough orders that some creates are not answered.
    const environment = { TMPDIR: folder, ORDER_SYNC_DATABASE_URL: 'none', ORDER_SYNC_EXCHANGE_BASE_URL: 'none' };
    const { code, stdout, stderr } = await runCommand(['demo', '--orders', '21'], { cwd: folder, environment });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/A shop has inserted 21 orders into .*; the daemon \(process \d+\) works on them\.\n/);
    expect(stdout).toMatch(/^final 21$/m);
    expect(stdout).toMatch(/^BTC\/USD +final +COMPLETED +succeeded +INPUT +\d+ +0\.0000000\d+ /m);
    expect(stdout).toMatch(/\n21 orders sent, 21 pre-orders at the exchange, 0 created twice\.\n/);
    expect(stdout).toMatch(SEEN_LATE);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/demo --scenario mismatch --keep\n[^]* init\n[^]* sandbox\n/);
    expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
  });

  it('with --hold says where its dashboard is and how a shop begins, continues until it is stopped, and reports then', async () => {
    const demo = startCommand(['demo', '--orders', '3', '--hold'], { cwd: folder, environment: { TMPDIR: folder } });
    let shown = '';
    while (!shown.includes('Ctrl-C')) shown += String((await once(demo.process.stdout!, 'data'))[0]);
    const [, url = ''] = /^The dashboard: (\S+)$/m.exec(shown) ?? [];
    const pageOf = async () => await (await fetch(url)).text();
    while (!(await pageOf()).includes('later-1000')) await fetch(`${url}livez`);
    const [made] = readdirSync(folder).filter((one) => one.startsWith('order-sync'));
    expect(shown).toContain(`Ctrl-C. Then the report comes, and the folder ${join(folder, `${made}`)} is deleted.`);
    const [lines = ''] = /^ {2}.*OrderSync[^]*?(?=^\S)/m.exec(shown) ?? [];
    expect(lines.trimEnd().split('\n')).toHaveLength(3);
    const shop = spawn('sh', ['-c', `exec ${lines.trim()}`], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const said = [];
    for await (const line of createInterface(shop.stdout)) {
      said.push(line);
      if (line.endsWith(' final')) break;
    }
    shop.kill();
    expect([said[0], said.at(-1)]).toEqual([expect.stringContaining('mine-1'), 'order.state_changed final']);
    demo.process.kill('SIGINT');
    const { code, stdout } = await demo.finished;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^(\d+) orders sent, \1 pre-orders .* 0 created twice/m)]);
    expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
  });

  it('with --hold ends when its daemon ends, says how, and leaves nothing', async () => {
    const demo = startCommand(['demo', '--orders', '1', '--hold'], { cwd: folder, environment: { TMPDIR: folder } });
    let shown = '';
    while (!shown.includes('Ctrl-C')) shown += String((await once(demo.process.stdout!, 'data'))[0]);
    const [, pid = ''] = /the daemon \(process (\d+)\)/.exec(shown) ?? [];
    process.kill(Number(pid), 'SIGTERM');
    const { code, stderr } = await demo.finished;
    expect([code, stderr]).toEqual([69, expect.stringMatching(/^.*\bprocess \d+\) ended with exit code 0\b.*\n$/)]);
    expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
  });

  it('keeps the database with its settings, and names commands that need no variable', async () => {
    const { code, stdout } = await runCommand(['demo', '--orders', '1', '--keep'], {
      cwd: folder,
      environment: { TMPDIR: folder },
    });
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('export ')]);
    const calls = [...stdout.matchAll(/^ {2}\S+ (--config .*)$/gm)].map(([, args = '']) => args.split(' '));
    expect(calls.map(([, , ...args]) => args.slice(0, 2).join(' '))).toEqual([
      'findings list',
      'report reconciliation',
      'report reconciliation',
    ]);
    for (const args of calls) expect(await runProgram(args, { cwd: temporaryFolder() })).toMatchObject({ code: 0 });
  });

  it.skipIf(findPostgres() === undefined)(
    'has three daemons share five accounts of PostgreSQL, kills one, and leaves the database as it was',
    async () => {
      const database = await newPostgresDatabase();
      const demo = async (...more: readonly string[]) =>
        await runCommand(['demo', '--orders', '21', '--database', database.url, ...more], {
          cwd: folder,
          environment: { TMPDIR: folder },
        });
      expect(await demo()).toMatchObject({
        code: 65,
        stdout: '',
        stderr: expect.stringContaining('has a table') as string,
      });

      const merchant = openMerchant(database);
      const objects = `select relname from pg_class where relnamespace = 'public'::regnamespace
        union all select proname from pg_proc where pronamespace = 'public'::regnamespace`;
      const left = () => merchant.prepare(objects).pluck().all();
      merchant.exec('drop schema public cascade; create schema public; create table theirs (id text)');
      expect(await demo()).toMatchObject({ code: 65, stderr: expect.stringContaining('(theirs)') as string });
      expect(left()).toEqual(['theirs']);

      merchant.exec('drop table theirs');
      const { code, stdout } = await demo();
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Process \d+ is killed; the others take its accounts over\.$/m);
      expect(stdout).toMatch(/\n21 orders sent, 21 pre-orders at the exchange, 0 created twice\.\n/);
      expect(stdout).toMatch(SEEN_LATE);
      expect(stdout).toMatch(/^Reconciliation of 21 orders of 5 accounts: clean\.$/m);
      expect(stdout).not.toContain(encodeURIComponent(PASSWORD));
      expect(left()).toEqual([]);
      expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
      expect(stdout).toMatch(/demo --scenario mismatch --keep --database \S+\n[^]* config check\n[^]* db migrate\n/);

      const kept = await demo('--keep', '--orders', '5');
      expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining('drop owned by current_user')]);
      expect(merchant.prepare('select count(*) from public.merchant_orders').pluck().all()).toEqual([5]);
    },
  );

  const hasCluster =
    ['patroni', 'etcd'].every((name) => findProgram(name) !== undefined) && findPostgres() !== undefined;
  it.skipIf(!hasCluster)(
    'kills the primary of a cluster of its own, and leaves no order doubled and nothing behind',
    async () => {
      // The servers run as another user if this process is root's.
      chmodSync(folder, 0o711);
      const environment = { TMPDIR: folder };
      const { code, stdout, stderr } = await runCommand(['demo', '--cluster', '--orders', '100'], {
        cwd: folder,
        environment,
      });
      expect([code, stderr]).toEqual([0, '']);
      const [, lost, promoted] =
        /^(db\d), the primary, is killed[^]*^(db\d) is promoted [\d.]+ s after/m.exec(stdout) ?? [];
      expect([lost, promoted]).toEqual([expect.any(String), expect.any(String)]);
      expect(promoted).not.toBe(lost);
      expect(stdout).toMatch(/\n100 orders sent, 100 pre-orders at the exchange, 0 created twice\.\n/);
      expect(stdout).toMatch(/^Reconciliation of 100 orders of 5 accounts: clean\.$/m);
      expect(stdout).toMatch(/, 0 because of the fail-over\. They are now: 5 final\.$/m);
      expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
    },
  );

  it.skipIf(!hasCluster)('ends all servers of its cluster when it is stopped while they start', async () => {
    chmodSync(folder, 0o711);
    const demo = startCommand(['demo', '--cluster'], { cwd: folder, environment: { TMPDIR: folder } });
    await once(demo.process.stdout!, 'data');
    demo.process.kill('SIGINT');
    expect(await demo.finished).toMatchObject({ code: 69 });
    expect(readdirSync(folder).filter((name) => name.startsWith('order-sync'))).toEqual([]);
    expect(spawnSync('pgrep', ['-f', folder]).status).toBe(1);
  });
});
