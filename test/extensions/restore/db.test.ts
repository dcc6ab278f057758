import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/store/sqlite/store.ts';
import { runProgram } from '../../support/cli-function.ts';
import { runCommand } from '../../support/cli-process.ts';
import { temporaryFolder } from '../../support/folders.ts';

const NAMES = Object.keys(MIGRATIONS);

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'orders.db');
});

/** No process listens at its exchange: nothing here may ask it. */
const place = () => ({
  cwd: folder,
  environment: {
    ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
    ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:9',
    ORDER_SYNC_EXCHANGE_API_KEY: 'canary',
  },
});
const run = (...args: string[]) => runProgram(args, place());
const runProcess = (...args: string[]) => runCommand(args, place());

/** Makes a database and changes it with SQL. */
async function makeDatabase(sql: string): Promise<void> {
  await (await openStore(path, systemClock(), { expect: 'migrate' })).close();
  const connection = new Database(path);
  connection.exec(sql);
  connection.close();
}

describe('db migrate and db status', () => {
  it('make a database and say which migrations it has', async () => {
    path = join(folder, 'data', 'orders.db');
    const made = await run('db', 'migrate', '--create-folder');
    expect(made).toMatchObject({ code: 0, stderr: `made a new database: ${path}\n` });
    expect(made.stdout).toBe(`database: ${path}\napplied:  ${NAMES.join(', ')}\npending:  none\n`);
    const [again, status] = await Promise.all([run('db', 'migrate'), run('db', 'status', '--json')]);
    expect(again).toEqual({ code: 0, stdout: made.stdout, stderr: '' });
    expect([status.code, status.stderr, JSON.parse(status.stdout)]).toEqual([
      0,
      '',
      { path, applied: NAMES, pending: [] },
    ]);
    expect([statSync(join(folder, 'data')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it.each([
    'db migrate',
    'orders add --external-order-id a --asset 1 --from BTC --to EUR',
    'db status',
    'orders list',
    'sync',
    'run',
    'lookup a',
    'db accept-restore --yes',
  ])('make no folder of a path that is mistyped: %s', async (line) => {
    path = join(folder, 'typo', 'orders.db');
    const { code, stderr } = await run(...line.split(' '));
    expect([code, readdirSync(folder)]).toEqual([65, []]);
    if (!line.startsWith('run')) expect(stderr).toMatch(/database\.url.*--create-folder\n$/);
  });

  it('end with 1 when a migration is pending, and say how it is applied', async () => {
    const connection = new Database(path);
    connection.exec('create table theirs (id)');
    connection.close();
    expect(await run('db', 'status')).toMatchObject({
      code: 1,
      stdout: `database: ${path}\napplied:  none\npending:  ${NAMES.join(', ')}\n`,
      stderr: `${path} is not up to date; bring it up to date with: order-sync db migrate\n`,
    });
    const said = / \(theirs\) .* db migrate --into-existing/;
    expect(await run('db', 'migrate')).toMatchObject({ code: 65, stderr: expect.stringMatching(said) as string });
    expect(await runProcess('run')).toMatchObject({ code: 65, stdout: expect.stringMatching(said) as string });
    expect(await run('db', 'migrate', '--into-existing')).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a database that cannot be used', () => {
  it.each<[string, () => Promise<void> | void, RegExp]>([
    ['missing', () => {}, /^order-sync: there is no database at \S+; make it with: order-sync db migrate\n$/],
    [
      'empty',
      () => writeFileSync(path, ''),
      /^order-sync: \S+ is empty \(0 bytes\), a database was expected; restore a backup, or delete the file to begin anew\n$/,
    ],
    [
      'corrupt',
      async () => {
        await makeDatabase(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
          insert into merchant_orders (external_order_id) select i from n; vacuum`);
        const bytes = readFileSync(path);
        // Rows, not an index of them.
        const rows = bytes.lastIndexOf('DEPOSIT');
        writeFileSync(path, bytes.fill(0xa5, rows - 8_192, rows));
      },
      /^order-sync: \S+orders\.db is not a sound SQLite database \([^\n]*\); restore a backup\n$/,
    ],
  ])('makes a report end with 65, and says why in a line: %s', async (_what, make, message) => {
    await make();
    const { code, stdout, stderr } = await run('report', 'summary');
    expect([code, stdout]).toEqual([65, '']);
    expect(stderr).toMatch(message);
  });

  it.each<[string, () => Promise<void> | void, RegExp]>([
    [
      'newer',
      () => makeDatabase(`insert into kysely_migration values ('9999_future', 'x')`),
      /was made by another version of order-sync \(migration 9999_future\)/,
    ],
    ['text', () => writeFileSync(path, 'no database at all\n'.repeat(100)), /is not a sound SQLite database/],
    [
      'cut short',
      async () => {
        await makeDatabase('vacuum');
        truncateSync(path, 3 * 4_096);
      },
      /is not a sound SQLite database/,
    ],
  ])('is left as it is by every command that would write: %s', async (_what, make, message) => {
    await make();
    const before = readFileSync(path);
    const commands = [
      ['sync'],
      ['db', 'migrate'],
      ['orders', 'add', '--external-order-id', 'a', '--asset', '1', '--from', 'A', '--to', 'B'],
    ];
    const ends = [runProcess('run'), ...commands.map((words) => run(...words))];
    for (const { code, stderr } of await Promise.all(ends)) {
      expect([code, stderr]).toEqual([65, expect.stringMatching(message)]);
      expect(stderr).toMatch(/^order-sync: [^\n]+\n$/);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is the disk when there can be none at its place: exit 74', async () => {
    writeFileSync(join(folder, 'file'), '');
    path = join(folder, 'file', 'orders.db');
    for (const { code, stderr } of await Promise.all([run('db', 'migrate'), run('sync')])) {
      expect([code, stderr]).toEqual([
        74,
        expect.stringMatching(/^order-sync: \S+ cannot be opened \([^\n]*\); check its folder and the permissions\n$/),
      ]);
    }
  });
});
