import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../../src/orders/create.ts';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder, temporaryFolder } from '../../support/folders.ts';
import { echo } from '../../support/scripted-exchange.ts';
import { scriptedProgram, type TestProgram } from '../../support/test-program.ts';

const NEVER = new AbortController().signal;

/** A program with orders that were sent, and commands for its database. */
async function withHistory(orders = 3) {
  const { program, exchange } = await scriptedProgram();
  exchange.answer = (request) => echo(request, { id: `pre-${request.externalOrderId}` });
  program.insert(...Array.from({ length: orders }, (_, index) => ({ external_order_id: `shop-${index}` })));
  await createPass(program.app, NEVER);
  const { path } = program.config.database;
  const options = { cwd: dirname(path), environment: { ORDER_SYNC_DATABASE_URL: `sqlite:${path}` } };
  return { program, path, run: (...args: string[]) => runProgram(args, options) };
}

function rowsOf(path: string): unknown[] {
  const copy = new Database(path, { readonly: true });
  const rows = copy.prepare('select external_order_id, state from merchant_orders order by 1').all();
  copy.close();
  return rows;
}

const stop = ({ app }: TestProgram) => app[Symbol.asyncDispose]();

describe('db backup', () => {
  it('copies a database in use, what stands in its write-ahead log too, into one file for its user alone', async () => {
    const { program, path, run } = await withHistory();
    const target = join(temporaryFolder(), 'copy.db');
    expect(await run('db', 'backup', target, '--json')).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ path, copy: target })}\n`,
      stderr: '',
    });
    expect(readdirSync(dirname(target))).toEqual(['copy.db']);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(rowsOf(target)).toEqual(rowsOf(path));
    expect(rowsOf(target)).toHaveLength(3);
    program.insert({ external_order_id: 'later' });
  });

  it('leaves the database and its write-ahead log as they are', async () => {
    const { program, path } = await withHistory();
    // As a crash leaves them, so that the command is the only one that has it open.
    const left = join(temporaryFolder(), 'left.db');
    for (const ending of ['', '-wal']) copyFileSync(`${path}${ending}`, `${left}${ending}`);
    const before = ['', '-wal'].map((ending) => readFileSync(`${left}${ending}`));
    const environment = { ORDER_SYNC_DATABASE_URL: `sqlite:${left}` };
    const target = `${left}.copy`;
    expect(await runProgram(['db', 'backup', target], { environment })).toMatchObject({ code: 0 });
    expect(['', '-wal'].map((ending) => readFileSync(`${left}${ending}`))).toEqual(before);
    expect(rowsOf(target)).toHaveLength(3);
    await stop(program);
  });

  it('replaces no file', async () => {
    const { run } = await withHistory();
    const target = join(temporaryFolder(), 'copy.db');
    writeFileSync(target, 'last week');
    expect(await run('db', 'backup', target)).toMatchObject({ code: 65, stdout: '' });
    expect([readFileSync(target, 'utf8'), readdirSync(dirname(target))]).toEqual(['last week', ['copy.db']]);
  });

  it('leaves the unfinished copy of another backup, which may be running, and names it', async () => {
    const { run } = await withHistory();
    const target = join(temporaryFolder(), 'copy.db');
    writeFileSync(`${target}.partial`, 'unfinished');
    expect(await run('db', 'backup', target)).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(/copy\.db\.partial .*delete/) as string,
    });
    expect(readFileSync(`${target}.partial`, 'utf8')).toBe('unfinished');
    rmSync(`${target}.partial`);
    expect(await run('db', 'backup', target)).toMatchObject({ code: 0 });
  });

  it('writes through no link', async () => {
    const { run } = await withHistory();
    const folder = temporaryFolder();
    for (const name of ['copy.db', 'other.db.partial']) symlinkSync('elsewhere', join(folder, name));
    for (const name of ['copy.db', 'other.db'])
      expect((await run('db', 'backup', join(folder, name))).code).not.toBe(0);
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });

  it('leaves no copy of a database that is not sound', async () => {
    const { program, path, run } = await withHistory(200);
    await stop(program);
    program.merchant.close();
    const bytes = readFileSync(path);
    const rows = bytes.lastIndexOf('DEPOSIT');
    writeFileSync(path, bytes.fill(0xa5, rows - 4_096, rows));
    const target = join(temporaryFolder(), 'copy.db');
    expect(await run('db', 'backup', target)).toMatchObject({ code: 65, stdout: '' });
    expect(await run('db', 'check')).toMatchObject({ code: 65 });
    expect(readdirSync(dirname(target))).toEqual([]);
  });

  const at = commandFolder();

  it.each([
    ['there is no database', () => rmSync(at.path), 65],
    ['it is empty', () => truncateSync(at.path), 65],
    ['there is no folder for the copy', () => {}, 74],
  ] as const)('ends with a line that says why: %s', async (_why, spoil, code) => {
    spoil();
    const target = join(at.folder, ...(code === 74 ? ['nowhere'] : []), 'copy.db');
    const ended = await runProgram(['db', 'backup', target], at.options);
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^order-sync: [^\n]+\n$/) as string });
    expect(existsSync(target)).toBe(false);
  });
});

describe('db check', () => {
  it('finds a sound database sound, with its mark and the chain of its events', async () => {
    const { program, run } = await withHistory();
    await stop(program);
    const { code, stdout, stderr } = await run('db', 'check', '--chain', '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      newestEvent: 6,
      mark: { eventId: 6, generation: 1 },
      older: null,
      chain: { events: 6, broken: null },
    });
    expect(await run('db', 'check')).toMatchObject({ code: 0, stderr: '' });
  });

  it('ends with 65 if the database is older than its mark', async () => {
    const { program, path, run } = await withHistory();
    await stop(program);
    writeFileSync(`${path}.mark`, JSON.stringify({ generation: 1, eventId: 7, at: '2026-01-05T12:00:00.000Z' }));
    const { code, stdout } = await run('db', 'check', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([65, { older: expect.any(String) as string, chain: null }]);
  });

  it.each([
    ['was changed', `update events set reason = 'a better one' where id = 3`, 3],
    ['was removed', 'delete from events where id = 3', 4],
    ['was removed at the end', 'delete from events where id = 6', 6],
  ])('finds the event of a chain that %s', async (_what, statement, id) => {
    const { program, run } = await withHistory();
    await stop(program);
    for (const trigger of ['no_update', 'no_delete']) program.merchant.exec(`drop trigger events_${trigger}`);
    program.merchant.exec(statement);
    // The mark as well would show that the newest is gone.
    const { code, stdout } = await run('db', 'check', '--chain', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([65, { chain: { broken: { id } } }]);
  });

  it('finds by the mark that the newest events are gone, also if the chain ends in order', async () => {
    const { program, run } = await withHistory();
    await stop(program);
    for (const trigger of ['no_update', 'no_delete']) program.merchant.exec(`drop trigger events_${trigger}`);
    program.merchant.exec(`delete from events where id = 6;
      update event_heads set (id, hash) = (select id, hash from events where id = 5)`);
    const { code, stdout, stderr } = await run('db', 'check', '--chain', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      65,
      { older: expect.any(String) as string, chain: { broken: null } },
    ]);
    expect(stderr).toContain('db accept-restore');
  });

  it('holds an event that was written down elsewhere against the chain', async () => {
    const { program, run } = await withHistory();
    await stop(program);
    const hash = String(program.merchant.prepare('select hash from events where id = 4').pluck().get());
    const check = async (head: string) => (await run('db', 'check', '--chain', '--head', head, '--json')).code;
    const other = hash.replaceAll(/./g, '0');
    expect(await Promise.all([`4:${hash}`, `4:${other}`, `9:${hash}`, '4'].map(check))).toEqual([0, 65, 65, 64]);
  });
});
