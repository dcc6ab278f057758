import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/extensions/feed/event.ts';
import { runProgram } from '../../support/cli-function.ts';
import { startCommand } from '../../support/cli-process.ts';
import { eventWriter } from '../../support/events.ts';
import { commandFolder } from '../../support/folders.ts';

const AT = '2026-01-05T12:00:00.000Z';

const place = commandFolder();
const run = (args: string, columns?: number) =>
  runProgram(['events', ...args.split(' ').filter(Boolean)], { ...place.options, ...(columns && { columns }) });

/** Writes an event of each order, in this order. */
function write(...orders: readonly string[]): void {
  const merchant = new Database(place.path);
  const insert = eventWriter(merchant);
  for (const external_order_id of orders) insert({ external_order_id, new_value: 'held', observed_at: AT });
  merchant.close();
}

function ordersIn(stdout: string): string[] {
  const events = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as FeedEvent);
  return events.map(({ data }) => ('externalOrderId' in data ? data.externalOrderId : ''));
}

it('prints the events after a cursor, as many as wanted, one JSON object a line', async () => {
  write('a', 'b', 'c');
  const { code, stdout, stderr } = await run('--json --limit 2');
  expect([code, ordersIn(stdout), stderr]).toEqual([0, ['a', 'b'], '']);
  expect(ordersIn((await run('--json --after 2')).stdout)).toEqual(['c']);
  expect(ordersIn((await run('--json --after head')).stdout)).toEqual([]);
  expect(ordersIn((await run('--json --order b --type order.state_changed')).stdout)).toEqual(['b']);
  expect((await run('--json --type finding.opened link.status_changed')).stdout).toBe('');
});

it('prints one line an event that fits the terminal, ids whole, what could steer it escaped', async () => {
  const long = `shop-${'1'.repeat(20)}`;
  write('a', long, '=\u001b[2J<script>');
  for (const columns of [60, 100, 160]) {
    const { code, stdout } = await run('', columns);
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b[2J');
    const lines = stripVTControlCharacters(stdout).trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(`  ${long}  state is`);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  }
  const piped = (await run('')).stdout.trimEnd().split('\n');
  expect([piped.length, piped[0]]).toEqual([3, `${AT}  1  order.state_changed  a  state is held`]);
});

it('prints on a terminal as many of the newest events as its screen has lines, and says how to see all', async () => {
  write('a', 'b', 'c', 'd', 'e');
  const shown = await runProgram(['events'], { ...place.options, columns: 100, rows: 5 });
  const orders = (text: string) => [...stripVTControlCharacters(text).matchAll(/ ([a-e]) +state/g)].map(([, id]) => id);
  expect([orders(shown.stdout), shown.stderr]).toEqual([['c', 'd', 'e'], expect.stringContaining('--after 0')]);
  const all = await runProgram(['events', '--after', '0'], { ...place.options, columns: 100, rows: 5 });
  expect([orders(all.stdout), all.stderr]).toEqual([['a', 'b', 'c', 'd', 'e'], '']);
});

it('refuses a cursor that is ahead of the feed or of no account, and one that is none', async () => {
  write('a');
  expect((await run('--after 2')).code).toBe(2);
  expect((await run('--after 1 --account all')).code).toBe(64);
  expect((await run('--after 1.x')).code).toBe(64);
});

it('prints the newest event of each account for --head', async () => {
  expect((await run('--head')).code).toBe(0);
  expect((await run('--head --json')).stdout).toBe('');
  write('a', 'b');
  const { stdout } = await run('--head --json');
  const [line = '', ...rest] = stdout.split('\n');
  expect(JSON.parse(line)).toEqual({ account: 'default', id: 2, hash: '', observed_at: AT, cursor: '2' });
  expect(rest).toEqual(['']);
});

it('continues with new events until SIGINT, which is a good end', async () => {
  write('a');
  const { process: child, finished } = startCommand(['events', '--follow', '--json'], place.options);
  const stdout = child.stdout ?? expect.fail();
  expect(ordersIn(String((await once(stdout, 'data'))[0]))).toEqual(['a']);
  const next = once(stdout, 'data');
  write('b');
  expect(ordersIn(String((await next)[0]))).toEqual(['b']);
  child.kill('SIGINT');
  expect(await finished).toMatchObject({ code: 0, stderr: '' });
});

it('ends quietly when no process reads any more', async () => {
  write('a');
  const { process: child, finished } = startCommand(['events', '--follow'], place.options);
  const stdout = child.stdout ?? expect.fail();
  await once(stdout, 'data');
  stdout.destroy();
  write('b');
  expect(await finished).toMatchObject({ code: 0, stderr: '' });
});
