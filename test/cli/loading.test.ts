import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandFolder } from '../support/folders.ts';
import { controlSocket } from '../support/control-socket.ts';
import { loadedBy } from '../support/loaded-modules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const place = commandFolder();

/** Packages that a command may load to read settings and a database; each other one takes a tenth of its time or more. */
const READERS = new Set([
  'better-sqlite3',
  'big.js',
  'commander',
  'fastest-levenshtein',
  'kysely',
  'lossless-json',
  'zod',
]);

/** The modules of commands among files. */
const commandsIn = (files: readonly string[]) =>
  files.filter((file) => /^export (function|const) define\b/m.test(readFileSync(join(ROOT, file), 'utf8')));

describe('a command loads what it uses and nothing else:', () => {
  it('--help loads no command, no settings and no database', async () => {
    const { packages, files } = await loadedBy(['--help']);
    expect(packages).toEqual(['commander', 'fastest-levenshtein']);
    expect(files.filter((file) => !/^src\/extensions\/\w+\/(index|addresses)\.ts$/.test(file))).toEqual([
      'src/accounts/rules/name.ts',
      'src/base/clock.ts',
      'src/base/invocation.ts',
      'src/base/places.ts',
      'src/base/text.ts',
      'src/base/version.ts',
      'src/base/words.ts',
      'src/cli.ts',
      'src/cli/commands.ts',
      'src/cli/program.ts',
      'src/cli/shared/account.ts',
      'src/cli/shared/exit.ts',
      'src/cli/shared/extensions.ts',
      'src/cli/shared/help.ts',
      'src/extensions.ts',
      'src/store/errors.ts',
      'src/store/sqlite/errors.ts',
    ]);
  });

  it.each([
    ['orders list --help', ['src/extensions/operate/list.ts']],
    ['help sync', ['src/cli/sync.ts']],
    ['orders --help', []],
  ])('%s', async (line, commands) => {
    expect(commandsIn((await loadedBy(line.split(' '))).files)).toEqual(commands);
  });

  it('db status loads the database, and nothing that talks to the exchange or serves', async () => {
    const { packages, files } = await loadedBy(['db', 'status'], place.options.environment);
    expect(packages).toEqual(expect.arrayContaining(['better-sqlite3', 'kysely']));
    for (const name of ['got', 'fastify', 'pino', 'p-queue', 'log-update']) expect(packages).not.toContain(name);
    expect(commandsIn(files)).toEqual(['src/cli/migrations.ts']);
    expect(
      files.filter((file) => /^src\/(exchange|orders|findings|extensions\/http)\/(?!rules|settings)/.test(file)),
    ).toEqual([]);
  });

  it.each([
    'status',
    'orders list',
    'orders show order-1',
    'orders explain order-1',
    'report summary',
    'report ageing',
    'report changes',
    'report reconciliation',
    'events',
    'findings list',
    'webhooks list',
  ])('%s loads of all packages those alone that read settings and a database', async (line) => {
    const { packages, builtins } = await loadedBy(line.split(' '), place.options.environment);
    expect(packages.filter((name) => !READERS.has(name))).toEqual([]);
    // Its import loads the `WebSocket` and the `fetch` of Node too.
    expect(builtins).not.toContain('node:http');
  });

  it('settings in a file load the package that reads it', async () => {
    const file = join(place.folder, 'own.yaml');
    writeFileSync(file, 'log: {level: debug}\n', { mode: 0o600 });
    const { packages } = await loadedBy(['config', 'show'], { ORDER_SYNC_CONFIG: file });
    expect(packages).toContain('yaml');
  });

  it('a command beside a daemon loads no exchange client, no server and no database', async () => {
    const { program } = await controlSocket();
    const environment = {
      ORDER_SYNC_EXCHANGE_BASE_URL: program.config.exchange.baseUrl ?? '',
      ORDER_SYNC_EXCHANGE_API_KEY: 'unused',
      ORDER_SYNC_DATABASE_URL: `sqlite:${program.config.database.path}`,
    };
    const { packages, files } = await loadedBy(['client', 'show', 'link-1'], environment);
    for (const name of ['got', 'fastify', 'pino', 'p-queue', 'better-sqlite3', 'kysely']) {
      expect(packages).not.toContain(name);
    }
    expect(commandsIn(files)).toEqual(['src/extensions/clients/commands/operations.ts']);
    expect(program.sandbox.requests).toHaveLength(1);
  });
});
