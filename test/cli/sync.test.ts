import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/store/errors.ts';
import { runProgram, type CommandResult } from '../support/cli-function.ts';
import { runCommand, startCommand } from '../support/cli-process.ts';
import { controlSocket, scriptedControlSocket } from '../support/control-socket.ts';
import { testProcesses, type ProgramProcesses } from '../support/program-processes.ts';
import { echo } from '../support/scripted-exchange.ts';
import type { TestProgram } from '../support/test-program.ts';
import { CLI, FLAGS } from '../support/program.ts';

/** Runs a command with a terminal of its own. */
const SCRIPT = '/usr/bin/script';
const ONE_AN_HOUR = { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '1', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '1h' };
/** The names of the summary, which scripts rely on. */
const NAMES = [
  'accepted',
  'changed',
  'disputed',
  'durationMs',
  'failed',
  'final',
  'findings',
  'held',
  'invalid',
  'lookedUp',
  'newInvalid',
  'rejected',
  'remaining',
  'sent',
  'unknown',
];
const JSON_NAMES = [...NAMES, 'holds'].toSorted();

interface Place {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The folder, settings and environment of a command beside these processes. */
function at(on: ProgramProcesses, environment: Record<string, string> = {}): Place {
  return { cwd: dirname(on.path), environment: { ...on.environment, ...environment } };
}

/** Runs `sync` to its end with their settings. */
async function sync(
  on: ProgramProcesses,
  args: string[] = [],
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  return await runProgram(['sync', ...args], at(on, environment));
}

function summaryOf({ stdout }: { readonly stdout: string }): Record<string, number> {
  return JSON.parse(stdout) as Record<string, number>;
}

/** The exit code of `sync --json` and its summary. */
async function syncJson(on: ProgramProcesses, ...args: string[]): Promise<[number, Record<string, number>]> {
  const ended = await sync(on, ['--json', ...args]);
  return [ended.code, summaryOf(ended)];
}

describe('sync alone', () => {
  it('ends with 0 when all is well, with nothing but a summary of exactly the known names on stdout', async () => {
    // No order comes of the pre-orders, however slow the machine is.
    const on = await testProcesses({ scenarioOf: () => ({ appearsAfterMs: null, steps: [] }) });
    on.insert(3);
    const ended = await runCommand(['sync', '--json'], at(on));
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const summary = summaryOf(ended);
    expect(Object.keys(summary).toSorted()).toEqual(JSON_NAMES);
    expect(summary).toMatchObject({ sent: 3, accepted: 3, remaining: 0 });
    expect(ended.stdout).toMatch(/^\{[^\n]*\}\n$/);
    expect(on.states()).toEqual({ accepted: 3 });
    const asText = await sync(on);
    expect([asText.code, asText.stderr]).toEqual([0, '']);
    expect(asText.stdout).toMatch(/^all is well: 3 looked up\n\nlooked up  3\ntook +[\d.]+ s\n$/);
    expect(asText.stdout).not.toMatch(/ 0$/m);
  });

  it('carries an amount with each digit from the command line to the exchange, back, and into the report', async () => {
    const asset = '12345678901234567.123456789012345678';
    const on = await testProcesses({ scenarioOf: () => ({ appearsAfterMs: 0, steps: [] }) });
    const order = ['--external-order-id', 'shop-1', '--asset', asset, '--from', 'BTC', '--to', 'EUR'];
    expect((await runProgram(['orders', 'add', ...order], at(on))).code).toBe(0);
    expect((await sync(on)).code).toBe(0);
    expect((await sync(on)).code).toBe(0);
    expect(on.sandbox.exchange.preOrdersOf('shop-1')[0]?.asset).toBe(asset);
    const record = on.merchant.prepare('select body from order_records').pluck().get();
    expect(record).toContain(`"inputAsset":${asset},`);
    const report = await runProgram(['report', 'summary', '--json'], at(on));
    expect(JSON.parse(report.stdout)).toMatchObject([{ pair: 'BTC/EUR', state: 'open', orders: 1, asset }]);
  });

  it('looks up every order that is followed, due or not, and with --due-only none before its time', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_CREATE_VERIFY_AFTER: '1d' });
    on.insert(1, 'fault-reset-after');
    expect(await syncJson(on, '--due-only')).toMatchObject([1, { sent: 1, unknown: 1, lookedUp: 0 }]);
    expect(await syncJson(on, '--due-only')).toMatchObject([1, { sent: 0, unknown: 1, lookedUp: 0 }]);
    expect((await syncJson(on))[1]).toMatchObject({ sent: 0, lookedUp: 1 });
  });

  it('ends with 1 each time while an order is held, and says how to see it', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_CREATE_VERIFY_AFTER: '1ms' });
    on.insert(1, 'fault-error-not-taken');
    const first = await runCommand(['sync', '--json'], at(on));
    expect([first.code, summaryOf(first)]).toMatchObject([1, { sent: 1, lookedUp: 1, unknown: 0, held: 1 }]);
    expect(first.stderr).toMatch(
      /^a person should look: 1 order is held, 1 open finding; .* orders list --state held$/m,
    );
    expect(await syncJson(on)).toMatchObject([1, { sent: 0, held: 1 }]);
  });

  it('ends with 69 when the exchange is out of reach: what is left waits', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1' });
    on.insert(2);
    const ended = await sync(on, ['--json']);
    expect([ended.code, summaryOf(ended)]).toMatchObject([69, { sent: 0, unknown: 0, remaining: 2 }]);
    expect(ended.stderr).toMatch(
      /^the exchange is out of reach; 2 orders are waiting to be sent; [^\n]*order-sync sync[^\n]*\n$/m,
    );
    expect(on.states()).toEqual({ pending: 2 });
  });

  it('ends with 69 when the time has run out, however long the rate limit would have it wait', async () => {
    const on = await testProcesses({}, ONE_AN_HOUR);
    on.insert(3);
    const ended = await sync(on, ['--json', '--timeout', '2s']);
    expect(ended.code).toBe(69);
    expect(ended.stderr).toMatch(/^the time ran out before the end: [^\n]*--timeout[^\n]*\n$/);
    const { sent, remaining } = summaryOf(ended);
    expect([sent, remaining].reduce((sum = 0, orders = 0) => sum + orders)).toBe(3);
    expect(sent).toBeLessThanOrEqual(1);
    expect(on.states()['sending']).toBeUndefined();
  });

  it('ends with 77 when the exchange refuses the key, which stands in no output', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' });
    on.insert(2);
    const ended = await sync(on, ['--json']);
    expect(ended.code).toBe(77);
    expect(summaryOf(ended)).toMatchObject({ accepted: 0, unknown: 0 });
    expect(ended.stderr).toContain('the exchange refuses the key (401); put the right key into exchange.apiKey,');
    expect(ended.stdout + ended.stderr).not.toContain('canary');
    expect(on.states()).toEqual({ pending: 2 });
  });

  it.each([
    ['no address', { ORDER_SYNC_EXCHANGE_BASE_URL: '' }, /exchange\.baseUrl/],
    ['no key', { ORDER_SYNC_EXCHANGE_API_KEY: '' }, /exchange\.apiKey/],
    ['http to another machine', { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://shop.example' }, /exchange\.baseUrl/],
  ])('ends with 78 if the settings have %s, and sends nothing', async (_name, environment, message) => {
    const on = await testProcesses();
    on.insert(1);
    const { code, stdout, stderr } = await sync(on, ['--json'], environment);
    expect([code, stdout, stderr]).toEqual([78, '', expect.stringMatching(message)]);
    expect(on.sandbox.requests).toEqual([]);
  });

  it('waits until what an owner that was killed has sent is out of the rate window', async () => {
    // Longer than a process takes to start: one that had forgotten the window would be refused.
    const rate = { requests: 10, intervalMs: 3_000 };
    const environment = { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '10', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '3s' };
    const on = await testProcesses({ rate }, environment);
    on.insert(12);
    let arrived = 0;
    const reached = on.arrived(() => ++arrived === 10);
    const daemon = await on.start(['run']);
    await reached;
    daemon.process.kill('SIGKILL');
    await daemon.exit;
    await runCommand(['sync'], at(on));
    expect(on.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(on.sandbox.exchange.census()).toEqual({ preOrders: 12, duplicated: [] });
    expect(on.states()['pending']).toBeUndefined();
  });
});

/** How a command is run beside a program that owns its account. */
function beside({ config }: TestProgram): Place {
  return {
    cwd: dirname(config.database.path),
    environment: {
      ORDER_SYNC_DATABASE_URL: `sqlite:${config.database.path}`,
      ORDER_SYNC_EXCHANGE_BASE_URL: config.exchange.baseUrl ?? '',
      ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong',
    },
  };
}

describe('sync beside the daemon', () => {
  it('is a pass of the daemon: the same summary and exit codes; it needs neither address nor key', async () => {
    const on = await testProcesses({}, { ORDER_SYNC_CREATE_VERIFY_AFTER: '1ms' });
    const daemon = await on.start(['run']);
    const keyless = { ORDER_SYNC_EXCHANGE_BASE_URL: '', ORDER_SYNC_EXCHANGE_API_KEY: '' };
    const idle = await sync(on, ['--json'], keyless);
    expect([idle.code, idle.stderr]).toEqual([0, '']);
    expect(Object.keys(summaryOf(idle)).toSorted()).toEqual(JSON_NAMES);
    const lookedUp = on.arrived(({ method }) => method === 'GET');
    on.insert(1, 'fault-error-not-taken');
    // With this look-up the order is held, and still looked up.
    await lookedUp;
    const busy = await runCommand(['sync', '--json'], at(on, keyless));
    expect([busy.code, summaryOf(busy)]).toMatchObject([1, { held: 1, remaining: 0 }]);
    expect(summaryOf(busy)['lookedUp']).toBeGreaterThanOrEqual(1);
    expect(busy.stderr).toMatch(/^a person should look/);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
  });

  it('ends with 74 when the daemon cannot write its database, and with 70 when it fails for no known reason', async () => {
    const { program } = await controlSocket();
    const options = beside(program);
    program.insert({ external_order_id: 'a' });
    const write = vi.spyOn(program.app.store.writer, 'write');
    write.mockRejectedValue(new StoreError('disk', 'the disk is full; free some space'));
    const full = await runProgram(['sync', '--json'], options);
    expect([full.code, full.stdout]).toEqual([74, '']);
    expect(full.stderr).toBe(`order-sync: the daemon's pass failed: the disk is full; free some space\n`);
    write.mockRejectedValue(new TypeError('x is not a function'));
    expect(await runCommand(['sync', '--json'], options)).toMatchObject({ code: 70, stdout: '' });
  });

  it('ends with 64 if the daemon does not take what is asked, and says why', async () => {
    const { program } = await controlSocket();
    const { code, stdout, stderr } = await runProgram(['sync', '--timeout', '48h'], beside(program));
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/the daemon refuses this request: .*timeoutMs/);
  });

  it('ends with 69 at the first signal, whatever the daemon has in flight for it', async () => {
    const { program, exchange } = await scriptedControlSocket({
      environment: { ORDER_SYNC_EXCHANGE_CONCURRENCY: '1' },
    });
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    exchange.answer = async (request) => {
      arrived.resolve();
      await released.promise;
      return echo(request);
    };
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    const { process: child, finished } = startCommand(['sync', '--json'], beside(program));
    await arrived.promise;
    child.kill('SIGINT');
    const { code, stdout, stderr } = await finished;
    expect([code, stdout, stderr]).toEqual([
      69,
      '',
      expect.stringMatching(/^order-sync: stopped before the pass ended; [^\n]+\n$/),
    ]);
    released.resolve();
  });

  it('ends with 75 when another process drives the account and does not listen', async () => {
    const on = await testProcesses();
    const daemon = await on.start(['run']);
    rmSync(`${on.path}.sock`);
    const { code, stdout, stderr } = await sync(on, ['--json']);
    expect([code, stdout]).toEqual([75, '']);
    expect(stderr).toContain(` ${daemon.process.pid} drives `);
    expect(stderr).toMatch(/ \(it does not listen on .*\.sock\)\n$/);
    daemon.process.kill('SIGTERM');
    expect((await daemon.exit).code).toBe(0);
  });

  it('ends with 69 when its time has run out, and leaves the daemon free to stop at once', async () => {
    const on = await testProcesses({}, ONE_AN_HOUR);
    const daemon = await on.start(['run']);
    on.insert(3);
    const ended = await sync(on, ['--json', '--timeout', '500ms']);
    expect([ended.code, ended.stderr]).toEqual([69, expect.stringMatching(/^the time ran out/)]);
    expect(summaryOf(ended)['remaining']).toBeGreaterThanOrEqual(2);
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect(on.states()['sending']).toBeUndefined();
  });
});

describe.skipIf(!existsSync(SCRIPT))('the progress of sync', () => {
  it.each(['alone', 'beside the daemon'])('is drawn if stderr is a terminal, %s', async (where) => {
    // So slowly that there is something to see before the end.
    const on = await testProcesses(
      {},
      { ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '1', ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '400ms' },
    );
    on.insert(3);
    if (where !== 'alone') await on.start(['run']);
    const summary = join(dirname(on.path), 'summary.json');
    const command = 'stty rows 24 cols 120 <&2; "$NODE" $FLAGS "$CLI" sync --json > "$SUMMARY"';
    const child = spawn(SCRIPT, ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: {
        ...on.environment,
        SHELL: '/bin/sh',
        NODE: process.execPath,
        FLAGS: FLAGS.join(' '),
        CLI,
        SUMMARY: summary,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let terminal = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (terminal += text));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(terminal).toMatch(/\d of \d .*· sent \d · looked up \d · changed \d · failed 0/);
    // It is taken away at the end.
    expect(terminal.slice(terminal.lastIndexOf('failed'))).toContain('\u001b[');
    expect(Object.keys(JSON.parse(readFileSync(summary, 'utf8')) as object).toSorted()).toEqual(JSON_NAMES);
  });
});
