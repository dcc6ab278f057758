import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { commandFolder } from '../support/folders.ts';
import { openMerchant } from '../support/merchant-postgres.ts';
import { postgresOfTests } from '../support/postgres-server.ts';
import { newPostgresDatabase } from '../support/postgres.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [, SECTION = ''] = /\n## The code\n([^]*)/.exec(readFileSync(join(ROOT, 'docs/examples.md'), 'utf8')) ?? [];
/** The examples of the manual, by the name that the first line has as a comment. */
const CODE = new Map(
  [...SECTION.matchAll(/```\w+\n(?:<\?php )?(?:\/\/|#|--) ([^\n]+)\n[^]*?\n```/g)].map(([block, name = '']) => [
    name,
    block.replaceAll(/^```\w*\n?/gm, ''),
  ]),
);
const SHELL = 'The shell sqlite3; leave out .timeout in psql, the shell of PostgreSQL.';

const node = { file: 'example.mjs', command: process.execPath, probe: ['--version'], packages: [] };
const EXAMPLES = [
  { ...node, name: 'better-sqlite3', packages: ['better-sqlite3'] },
  { ...node, name: 'node:sqlite' },
  { ...node, name: 'Drizzle', packages: ['drizzle-orm', 'better-sqlite3'] },
  { ...node, name: 'TypeORM', packages: ['typeorm', 'better-sqlite3'] },
  { ...node, name: 'Knex', packages: ['knex', 'better-sqlite3'] },
  { name: 'Python', file: 'example.py', command: 'python3', probe: ['-c', 'import sqlite3'], packages: [] },
  {
    name: 'PHP',
    file: 'example.php',
    command: 'php',
    probe: ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
    packages: [],
  },
];

function canRun(command: string, ...probe: string[]): boolean {
  return spawnSync(command, probe, { stdio: 'ignore' }).status === 0;
}

/** The folder of a package of the checkout or, after `npm run tools`, of `tools`. */
function folderOf(name: string): string | undefined {
  return ['', 'tools'].map((folder) => join(ROOT, folder, 'node_modules', name)).find((path) => existsSync(path));
}

function run(command: string, args: string[], cwd: string, input = ''): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, input, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim();
}

describe('the examples', () => {
  const place = commandFolder();

  function expectOneOrder(): void {
    const db = new Database(place.path, { readonly: true });
    const orders = db
      .prepare('select account, external_order_id, asset, typeof(asset) from merchant_orders')
      .raw()
      .all();
    db.close();
    expect(orders).toEqual([['default', 'shop-1001', '0.25', 'text']]);
  }

  it('are tried here, each but those of Prisma', () => {
    const tried = [...EXAMPLES.map(({ name }) => name), SHELL];
    expect([...CODE.keys()].filter((name) => !tried.includes(name))).toEqual(['Prisma, in schema.prisma', 'Prisma']);
    expect(tried.filter((name) => !CODE.has(name))).toEqual([]);
  });

  for (const { name, file, command, probe, packages } of EXAMPLES) {
    const isHere = canRun(command, ...probe) && packages.every((one) => folderOf(one) !== undefined);
    it.skipIf(!isHere)(`in ${name} inserts its order once and reads its state, however often it is run`, () => {
      writeFileSync(join(place.folder, file), CODE.get(name) ?? '');
      for (const one of packages) {
        const link = join(place.folder, 'node_modules', one);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(folderOf(one) ?? '', link);
      }
      for (let time = 1; time <= 2; time += 1) {
        expect(run(command, [file, place.path], place.folder)).toBe('pending');
        expectOneOrder();
      }
      // A missing database is not made.
      spawnSync(command, [file, 'missing.db'], { cwd: place.folder, stdio: 'ignore' });
      expect(existsSync(join(place.folder, 'missing.db'))).toBe(false);
    });
  }

  it.skipIf(!canRun('sqlite3', '--version'))('in the shell sqlite3 does so too', () => {
    for (let time = 1; time <= 2; time += 1) {
      expect(run('sqlite3', ['-bail', place.path], place.folder, CODE.get(SHELL))).toBe('pending');
      expectOneOrder();
    }
  });

  it.skipIf(postgresOfTests() === undefined || !canRun('psql', '--version'))('in psql does so too', async () => {
    const server = await newPostgresDatabase();
    const { host, port, user, database } = server.connection;
    const args = ['-X', '-qAt', '-v', 'ON_ERROR_STOP=1', '-h', host, '-p', String(port), '-U', user, '-d', database];
    const statements = CODE.get(SHELL)?.replace('.timeout 5000\n', '');
    for (let time = 1; time <= 2; time += 1) {
      expect(run('psql', args, place.folder, statements)).toBe('pending');
    }
    const orders = openMerchant(server).prepare('select external_order_id, asset from merchant_orders').raw().all();
    expect(orders).toEqual([['shop-1001', '0.25']]);
  });

  it.skipIf(postgresOfTests() === undefined)('of queries on PostgreSQL are understood', async () => {
    const queries = readFileSync(join(ROOT, 'docs/postgresql.md'), 'utf8').match(/^select .*;$/gm) ?? [];
    expect(queries).toHaveLength(2);
    const db = openMerchant(await newPostgresDatabase());
    for (const query of queries) expect(db.prepare(query).raw().all()).toBeInstanceOf(Array);
  });
});
