import { mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { OwnedError, StoreError } from '../../../src/store/errors.ts';
import { openError, storeError } from '../../../src/store/sqlite/errors.ts';
import { lockFile } from '../../../src/store/sqlite/owner.ts';
import { openStore, type OpenOptions } from '../../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../../support/folders.ts';

const NAMES = Object.keys(MIGRATIONS);
const EXPECTATIONS = ['migrate', 'upgrade', 'current', 'any'] as const satisfies readonly OpenOptions['expect'][];

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'orders.db');
});

const openAs = (expectation: OpenOptions['expect'], at = path) => openStore(at, systemClock(), { expect: expectation });

/** Makes a database, and changes it with SQL. */
async function makeDatabase(sql: string): Promise<void> {
  await (await openAs('migrate')).close();
  makeForeign(sql);
}

/** An SQLite database of another program. */
function makeForeign(sql: string): void {
  const connection = new Database(path);
  connection.exec(sql);
  connection.close();
}

async function problemOf(opening: Promise<unknown>): Promise<unknown> {
  const error: unknown = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof StoreError ? [error.problem, error.message] : error;
}

describe('a database that is not there', () => {
  it.each(['upgrade', 'current', 'any'] as const)(
    'is no database to work on, and is not made: %s',
    async (expectation) => {
      expect(await problemOf(openAs(expectation))).toEqual([
        'unusable',
        `there is no database at ${path}; make it with: order-sync db migrate`,
      ]);
      expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
    },
  );

  it.each(EXPECTATIONS)('is not made if the newest changes of a moved one are left: %s', async (expectation) => {
    await (await openAs('migrate')).close();
    const connection = new Database(path);
    connection.exec(`create table newest (id)`);
    renameSync(path, `${path}.moved`);
    connection.close();
    const { size } = statSync(`${path}-wal`);
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      expect.stringMatching(/^there is no database at .* put the database back beside it; /),
    ]);
    expect(statSync(`${path}-wal`).size).toBe(size);
    renameSync(`${path}.moved`, path);
    const back = await openAs(expectation);
    await back.close();
    const again = new Database(path);
    expect(again.prepare(`select name from sqlite_master where name = 'newest'`).all()).toHaveLength(1);
    again.close();
  });

  it('is made with all tables, and with its folder if that is asked for', async () => {
    path = join(folder, 'a', 'b', 'orders.db');
    expect(await problemOf(openAs('migrate'))).toMatchObject(['unusable', expect.any(String)]);
    const store = await openStore(path, systemClock(), { expect: 'migrate', createFolder: true });
    expect(await store.migrations()).toEqual({ applied: NAMES, pending: [], newer: [] });
    await store.close();
    const again = await openAs('current');
    await again.close();
  });

  it('cannot be made within a file: the problem is the disk', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await problemOf(openAs('migrate', join(folder, 'file', 'orders.db')))).toEqual([
      'disk',
      expect.stringMatching(/orders\.db cannot be opened \(.*\); check its folder and the permissions$/),
    ]);
  });
});

describe('a file that is no database of ours', () => {
  it.each(EXPECTATIONS)('of 0 bytes is left as it is: %s', async (expectation) => {
    writeFileSync(path, '');
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      `${path} is empty (0 bytes), a database was expected; restore a backup, or delete the file to begin anew`,
    ]);
    expect(statSync(path).size).toBe(0);
  });

  it.each(EXPECTATIONS)('of text is left as it is: %s', async (expectation) => {
    const text = 'external_order_id,asset\n'.repeat(100);
    writeFileSync(path, text);
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      expect.stringMatching(/orders\.db is not a sound SQLite database \(.*\); restore a backup$/),
    ]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each(EXPECTATIONS)('but a folder is refused: %s', async (expectation) => {
    mkdirSync(path);
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      `${path} is not a file; set database.url to the database file`,
    ]);
  });

  it('but of another program is not changed by a command that reads', async () => {
    makeForeign('create table theirs (id)');
    const before = readFileSync(path);
    expect(await problemOf(openAs('current'))).toEqual([
      'unusable',
      expect.stringMatching(/ and none of order-sync; correct database\.url, or /),
    ]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('but has no tables is none to work on', async () => {
    makeForeign('vacuum');
    expect(await problemOf(openAs('current'))).toEqual([
      'unusable',
      `${path} is a database without the tables of order-sync; check database.url, or make them with: order-sync db migrate`,
    ]);
  });
});

describe('a database without a write-ahead log', () => {
  it.each(EXPECTATIONS)('is left as it is beside the log of another database: %s', async (expectation) => {
    await makeDatabase('pragma journal_mode = delete');
    const without = readFileSync(path);
    makeForeign('pragma journal_mode = wal');
    const other = new Database(path);
    other.exec('create table newest (id)');
    const log = readFileSync(`${path}-wal`);
    other.close();
    writeFileSync(path, without);
    writeFileSync(`${path}-wal`, log);
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      expect.stringMatching(/; if you put a copy back, delete .*orders\.db-wal$/),
    ]);
    expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual([without, log]);
    // An empty log is harmless.
    truncateSync(`${path}-wal`);
    await (await openAs(expectation)).close();
  });
});

describe('a database of another version', () => {
  it.each(EXPECTATIONS)('that has a migration unknown here is left as it is: %s', async (expectation) => {
    await makeDatabase(`insert into kysely_migration (name, timestamp) values ('0002_links', '2030-01-01')`);
    const before = readFileSync(path);
    expect(await problemOf(openAs(expectation))).toEqual([
      'unusable',
      expect.stringMatching(/made by another version of order-sync \(migration 0002_links\)/),
    ]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('that is older is not read, but says which migrations are pending', async () => {
    makeForeign('create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)');
    expect(await problemOf(openAs('current'))).toMatchObject([
      'unusable',
      expect.stringContaining('order-sync db migrate'),
    ]);
    const store = await openAs('any');
    expect(await store.migrations()).toEqual({ applied: [], pending: NAMES, newer: [] });
    await store.close();
  });

  it.each(EXPECTATIONS)(
    'that another commit made, or one that kept no hashes, is left as it is: %s',
    async (expectation) => {
      for (const change of [`update migration_hashes set hash = 'other'`, 'drop table migration_hashes']) {
        await makeDatabase(change);
        const before = readFileSync(path);
        expect(await problemOf(openAs(expectation))).toEqual([
          'unusable',
          expect.stringMatching(/made by another commit of order-sync, whose migration 0001_initial /),
        ]);
        expect(readFileSync(path).equals(before)).toBe(true);
        rmSync(path);
      }
    },
  );

  it.each(['migrate', 'upgrade', 'current'] as const)(
    'is not made beside the tables of another program unless somebody says so: %s',
    async (expectation) => {
      makeForeign('create table customers (id); create table purchases (id)');
      const before = readFileSync(path);
      expect(await problemOf(openAs(expectation))).toEqual([
        'unusable',
        expect.stringMatching(/\(customers, purchases\).*--into-existing/),
      ]);
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  it('is left as it is if its tables have names of ours and none is of a migration', async () => {
    makeForeign('create table merchant_orders (id)');
    const before = readFileSync(path);
    for (const intoExisting of [false, true]) {
      const opening = openStore(path, systemClock(), { expect: 'migrate', intoExisting });
      expect(await problemOf(opening)).toEqual([
        'unusable',
        expect.stringMatching(/another program \(merchant_orders\)/),
      ]);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('of another program is only read by a command that takes any', async () => {
    makeForeign('create table theirs (id)');
    const before = readFileSync(path);
    const store = await openAs('any');
    expect(await store.migrations()).toEqual({ applied: [], pending: NAMES, newer: [] });
    await store.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('that is older is brought up to date', async () => {
    makeForeign('create table theirs (id)');
    const store = await openStore(path, systemClock(), { expect: 'migrate', intoExisting: true });
    expect(await store.migrations()).toEqual({ applied: NAMES, pending: [], newer: [] });
    await store.close();
  });
});

describe('a corrupt database', () => {
  const isUnusable = ['unusable', expect.stringMatching(/is not a sound SQLite database/)];

  it.each(EXPECTATIONS)('that was cut short is refused: %s', async (expectation) => {
    await makeDatabase('vacuum');
    truncateSync(path, 3 * 4_096);
    expect(await problemOf(openAs(expectation))).toEqual(isUnusable);
  });

  it('is found also if only some of its rows are', async () => {
    await makeDatabase(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
        insert into merchant_orders (external_order_id) select i from n;
      vacuum;`);
    const bytes = readFileSync(path);
    const rows = bytes.lastIndexOf('INPUTDEPOSIT');
    bytes.fill(0xa5, rows - 8_192, rows);
    writeFileSync(path, bytes);
    const store = await openAs('current');
    const reading = store.db.selectFrom('merchant_orders').selectAll().execute();
    await expect(reading).rejects.toSatisfy((error: unknown) => {
      const meant = storeError(error, path);
      return meant instanceof StoreError && meant.problem === 'unusable';
    });
    await store.close();
  });
});

describe('an error of the database', () => {
  const driver = (code: string) => Object.assign(new Error('what the driver says'), { code });

  it.each([
    ['SQLITE_CORRUPT', 'unusable'],
    ['SQLITE_CORRUPT_INDEX', 'unusable'],
    ['SQLITE_NOTADB', 'unusable'],
    ['SQLITE_FULL', 'disk'],
    ['SQLITE_IOERR_WRITE', 'disk'],
    ['SQLITE_READONLY', 'disk'],
    ['SQLITE_READONLY_DBMOVED', 'disk'],
    ['SQLITE_CANTOPEN', 'disk'],
    ['SQLITE_PERM', 'disk'],
    ['SQLITE_BUSY', 'busy'],
    ['SQLITE_BUSY_SNAPSHOT', 'busy'],
    ['SQLITE_CONSTRAINT_TRIGGER', 'refused'],
  ])('%s is: %s', (code, problem) => {
    const error = driver(code);
    const meant = storeError(error, '/data/orders.db');
    expect(meant).toMatchObject({ name: 'StoreError', problem, cause: error });
    expect(storeError(meant, 'elsewhere')).toBe(meant);
  });

  it('that is a fault of the program stays what it is', () => {
    const bug = driver('SQLITE_ERROR');
    expect(storeError(bug, path)).toBe(bug);
    const other = new TypeError('x is not a function');
    expect(openError(other, path)).toBe(other);
  });

  it.each(['EACCES', 'EROFS', 'ENOTDIR', 'ENOSPC', 'EMFILE'])('of the system for the file is the disk: %s', (code) => {
    const error = Object.assign(new Error(`${code}: refused, open '${path}'`), { code, errno: -1, syscall: 'open' });
    expect(openError(error, path)).toMatchObject({ problem: 'disk', cause: error });
  });
});

describe('the owner of an account', () => {
  it('is one at a time; the next one has its turn when the first goes', async () => {
    const first = await lockFile(path, systemClock(), 0);
    await expect(lockFile(path, systemClock(), 0)).rejects.toThrow(OwnedError);
    first.release();
    const second = await lockFile(path, systemClock(), 0);
    second.release();
    expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600);
  });

  it('is unknown if there can be no lock: the problem is the disk', async () => {
    writeFileSync(join(folder, 'file'), '');
    const within = join(folder, 'file', 'orders.db');
    expect(await problemOf(lockFile(within, systemClock(), 0))).toMatchObject(['disk', expect.any(String)]);
    mkdirSync(`${path}.lock`);
    expect(await problemOf(lockFile(path, systemClock(), 0))).toMatchObject(['disk', expect.any(String)]);
  });
});
