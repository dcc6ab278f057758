import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConfigProblem } from '../../../src/settings/settings.ts';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';

const run = (line: string, environment: Record<string, string> = {}) => runProgram(line.split(' '), { environment });

describe('config', () => {
  it('show prints a line a setting with its source', async () => {
    const { stdout } = await run('--config config/default.yaml config show');
    expect(stdout).toMatch(/^exchange\.timeout +15s +\(config\/default\.yaml:\d+\)$/m);
  });

  it('show --json prints an array', async () => {
    const { stdout } = await run('--config config/default.yaml config show --json');
    expect(JSON.parse(stdout)).toContainEqual({
      setting: 'log.level',
      value: 'info',
      source: expect.stringMatching(/^config\/default\.yaml:\d+$/),
    });
  });

  it('shows as defaults what the package for YAML reads in config/default.yaml', async () => {
    const shown = async (options: string) => {
      const { stdout } = await run(`${options}config show --json`);
      return (JSON.parse(stdout) as { setting: string; value: string }[]).map(({ setting, value }) => [setting, value]);
    };
    expect(await shown('')).toEqual(await shown('--config config/default.yaml '));
  });

  it('check says that the settings are right, and names the exchange and the database', async () => {
    const environment = {
      ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example',
      ORDER_SYNC_EXCHANGE_API_KEY: 'k',
      ORDER_SYNC_DATABASE_URL: 'sqlite:/nowhere/orders.db',
    };
    const { code, stdout, stderr } = await run('config check --json', environment);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      exchange: 'https://exchange.example',
      database: '/nowhere/orders.db',
    });
  });

  it('check warns if cron is sparser than a look-up stays fresh', async () => {
    const environment = {
      ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example',
      ORDER_SYNC_EXCHANGE_API_KEY: 'k',
      ORDER_SYNC_SCHEDULE_CRON: '0 9 * * 1-5',
    };
    const warned = await run('config check --json', environment);
    expect(warned.code).toBe(0);
    expect(JSON.parse(warned.stdout)).toMatchObject({ ok: true, warnings: [expect.stringContaining('up to 3d ')] });
    expect(warned.stderr).toContain('schedule.cron');
    const fitting = await run('config check --json', { ...environment, ORDER_SYNC_RECONCILE_FRESH_FOR: '4d' });
    expect(fitting.stderr).toBe('');
  });

  it('check counts accounts, names those of one key, and a password that stands in an address', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'own.yaml');
    const accounts = "accounts: {a: , b: , c: {rateGroup: g}, d: {exchange: {apiKey: 'other'}}}";
    writeFileSync(file, `exchange: {baseUrl: https://a.example, apiKey: k}\n${accounts}\n`, { mode: 0o600 });
    const environment = { ORDER_SYNC_DATABASE_URL: 'postgres://u:p4ss@db.example/orders' };
    const { code, stdout } = await run(`--config ${file} config check --json`, environment);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      exchange: 'https://a.example',
      database: 'postgres://u@db.example/orders',
      accounts: ['a', 'b', 'c', 'd'],
      warnings: [expect.stringContaining('database.passwordFile'), expect.stringMatching(/^the accounts a, b, c /)],
    });
  });

  it('check names each account whose key cannot be read', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'own.yaml');
    const accounts = `accounts:\n  a: {exchange: {apiKeyFile: ${folder}/none}}\n  b: {exchange: {apiKey: k}}\n`;
    writeFileSync(file, `exchange: {baseUrl: https://a.example}\n${accounts}`, { mode: 0o600 });
    const { code, stdout } = await run(`--config ${file} config check --json`);
    expect(code).toBe(78);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [{ setting: 'accounts.a.exchange.apiKey' }] });
  });

  it('show takes a setting or all below one, and shows people a bounded number', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'own.yaml');
    const lines = Array.from({ length: 300 }, (_, at) => `  a${at}: {rateGroup: g}`);
    writeFileSync(file, `accounts:\n${lines.join('\n')}\n`);
    const show = (words: string) => run(`--config ${file} config show${words}`);
    expect((await show(' accounts.a7')).stdout).toMatch(/^accounts\.a7\.rateGroup +g +\(.*\)\n$/);
    expect(JSON.parse((await show(' accounts --json')).stdout)).toHaveLength(300);
    const { stdout, stderr } = await show('');
    expect([stdout.trimEnd().split('\n').length, stderr]).toEqual([200, expect.stringContaining('more')]);
    expect(await show(' log.levl')).toMatchObject({ code: 64, stderr: expect.stringContaining('log.level') });
  });

  it('check names everything that is wrong at once, with its place', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'own.yaml');
    writeFileSync(file, 'exchange:\n  baseURL: https://a.example\n  timeout: 15\nlog:\n  level: inf\n');
    const environment = { ORDER_SYNC_EXCHANGE_API_KEY_FILE: join(folder, 'none'), ORDER_SYNC_SCHEDUL_CRON: 'x' };
    const { code, stdout, stderr } = await run(`--config ${file} config check --json`, environment);
    expect(code).toBe(78);
    const { ok, problems } = JSON.parse(stdout) as { ok: boolean; problems: ConfigProblem[] };
    expect([ok, problems.map(({ setting, source }) => [setting, source])]).toEqual([
      false,
      [
        ['exchange.baseURL', `${file}:2`],
        [undefined, 'ORDER_SYNC_SCHEDUL_CRON'],
        ['exchange.apiKey', 'ORDER_SYNC_EXCHANGE_API_KEY_FILE'],
        ['exchange.timeout', `${file}:3`],
        ['log.level', `${file}:5`],
      ],
    ]);
    expect(problems.map(({ problem }) => problem).join('\n')).toMatch(
      /exchange\.baseUrl\?[^]*SCHEDULE_CRON\?[^]*info\?/,
    );
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(1 + problems.length);
    for (const [index, { source = '' }] of problems.entries()) expect(lines[index + 1]).toContain(`  ${source}: `);
  });

  it('check ends with 78 if something is missing', async () => {
    const { code, stdout } = await run('--config config/default.yaml config check');
    expect([code, stdout]).toEqual([78, '']);
  });
});
