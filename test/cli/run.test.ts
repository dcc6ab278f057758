import { describe, expect, it } from 'vitest';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, startCommand } from '../support/cli-process.ts';
import { newDatabase, temporaryFolder } from '../support/folders.ts';
import { refusal, scriptedExchange } from '../support/scripted-exchange.ts';

const KEY = { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-key' };
const NOWHERE = { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1', ...KEY };

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Runs the daemon as a service manager does, until it ends by itself. */
async function run(environment: Readonly<Record<string, string>>, cwd = temporaryFolder()) {
  return await runCommand(['run'], { cwd, environment });
}

describe('a daemon that cannot continue ends with one JSON line that says why', () => {
  it.each([
    ['without the exchange', 78, {}],
    ['with a setting that does not exist', 78, { ...NOWHERE, ORDER_SYNC_EXCHANGE_TIMEOT: '5s' }],
    ['with a database that is missing', 65, NOWHERE],
  ])('%s (exit %i)', async (_name, exitCode, environment) => {
    const { code, stdout, stderr } = await run(environment);
    const fatal = linesOf(stdout).filter(({ level }) => level === 'fatal');
    expect([code, fatal]).toMatchObject([exitCode, [{ exitCode, cause: expect.any(String) as string }]]);
    expect(stderr).toBe(`order-sync: ${String(fatal[0]?.['cause'])}\n`);
  });

  it('and says it no second time if stdout and stderr lead to one file', async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, 'log');
    const fd = openSync(file, 'a');
    const { code } = await runCommand(['run'], { cwd, stdout: fd, stderr: fd });
    closeSync(fd);
    expect([code, linesOf(readFileSync(file, 'utf8'))]).toMatchObject([78, [{ level: 'fatal', exitCode: 78 }]]);
  });

  it('beside another daemon (exit 75)', async () => {
    const cwd = temporaryFolder();
    const environment = { ...NOWHERE, ORDER_SYNC_DATABASE_URL: `sqlite:${join(cwd, 'orders.db')}` };
    await newDatabase(join(cwd, 'orders.db'));
    const first = startCommand(['run'], { cwd, environment });
    await new Promise((resolve) => first.process.stdout?.once('data', resolve));
    const { code, stdout } = await run(environment, cwd);
    first.process.kill('SIGTERM');
    expect([code, linesOf(stdout).at(-1)]).toMatchObject([75, { level: 'fatal', exitCode: 75 }]);
    expect((await first.finished).code).toBe(0);
  });

  it('with a key that the exchange never took (exit 77)', async () => {
    await using exchange = await scriptedExchange();
    exchange.answer = () => refusal(401);
    const cwd = temporaryFolder();
    const environment = { ...NOWHERE, ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url };
    const database = { ORDER_SYNC_DATABASE_URL: `sqlite:${join(cwd, 'orders.db')}` };
    await newDatabase(join(cwd, 'orders.db'));
    await runCommand('orders add --external-order-id a --asset 1 --from BTC --to EUR'.split(' '), {
      cwd,
      environment: database,
    });
    const { code, stdout, stderr } = await run({ ...environment, ...database }, cwd);
    expect([code, linesOf(stdout).at(-1)]).toMatchObject([77, { level: 'fatal', exitCode: 77 }]);
    expect(stdout + stderr).not.toContain('canary');
  });
});
