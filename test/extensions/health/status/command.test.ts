import { describe, expect, it, vi } from 'vitest';
import type { CheckResult } from '../../../../src/extensions/health/doctor/check.ts';
import { createPass } from '../../../../src/orders/create.ts';
import { problem } from '../../../../src/extensions/commands/problem.ts';
import type { StatusVerdict } from '../../../../src/extensions/health/status/problems.ts';
import type { Status } from '../../../../src/extensions/health/status/status.ts';
import { setHold } from '../../../../src/store/tables/account-holds.ts';
import { insertHappenings } from '../../../../src/store/tables/events.ts';
import { StoreError } from '../../../../src/store/errors.ts';
import type { Transaction } from '../../../../src/store/port.ts';
import { widthOf } from '../../../../src/cli/shared/terminal.ts';
import { runProgram, type ProgramOptions } from '../../../support/cli-function.ts';
import { scriptedControlSocket } from '../../../support/control-socket.ts';
import { echo, NOT_FOUND } from '../../../support/scripted-exchange.ts';
import { scriptedProgram, settingsOf, type TestProgram } from '../../../support/test-program.ts';
import { MINUTE } from '../../../support/tracking.ts';
import { SECRET } from '../../../support/webhooks.ts';

const NEVER = new AbortController().signal;

function commandOf(program: TestProgram) {
  const run = async (args: readonly string[], options: ProgramOptions = {}) =>
    await runProgram(['status', ...args], { environment: settingsOf(program), ...options });
  const json = async (...args: string[]) => {
    const { code, stdout } = await run(['--json', ...args]);
    return { code, status: JSON.parse(stdout) as Status & { verdict: StatusVerdict } };
  };
  const write = async (work: (tx: Transaction) => Promise<void>) => await program.app.store.writer.write(work);
  return { run, json, write };
}

describe('order-sync status', () => {
  it('tells what the daemon does and what the database has, and that all is well', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = (request) => (request.method === 'POST' ? echo(request) : NOT_FOUND);
    program.insert({ external_order_id: 'a' });
    await createPass(program.app, NEVER);
    program.activity.hear({ kind: 'change.seen', lateMs: 3_000 });
    program.activity.overdue = { orders: 2, since: program.clock.now() };
    const { code, status } = await commandOf(program).json();
    expect(code).toBe(0);
    expect(status).toMatchObject({
      verdict: { end: 'well', reasons: [] },
      daemon: {
        pid: process.pid,
        rate: { spent: 1, requests: 100, intervalMs: 10_000 },
        seenLate: { count: 1, p50Ms: 3_000, p99Ms: 3_000 },
        overdue: { orders: 2, since: program.clock.now().toISOString() },
        accounts: [{ account: 'default', isDriven: true, inFlight: 0, answeredAt: program.clock.now().toISOString() }],
      },
      overview: { account: 'default', orders: { accepted: 1, pending: 0 } },
    });
  });

  it('tells why the exchange is out of reach now, and not why it was at first', async () => {
    const { program } = await scriptedControlSocket();
    const { json, write } = commandOf(program);
    const about = {
      account: 'default',
      type: 'account',
      subject: 'default',
      field: 'exchange',
      source: 'exchange',
    } as const;
    const lost = [{ ...about, new_value: 'out-of-reach', reason: 'HTTP 503' }];
    await write(async (tx) => await insertHappenings(tx, lost, program.clock.now()));
    const reason = async () => (await json()).status.overview.outOfReach[0]?.reason;
    expect(await reason()).toBe('HTTP 503');
    program.activity.hear({ kind: 'exchange.failed', cause: 'ECONNREFUSED' });
    expect(await reason()).toBe('ECONNREFUSED');
  });

  it('does not call it well that the daemon cannot write the database', async () => {
    const { program } = await scriptedControlSocket();
    const full = new StoreError('disk', 'the disk is full');
    vi.spyOn(program.app.store.writer, 'failure', 'get').mockReturnValue(full);
    const { code, status } = await commandOf(program).json();
    expect([code, status.verdict.reasons.map(({ remedy }) => remedy)]).toEqual([1, ['order-sync doctor']]);
    expect(status.daemon?.unwritten).toBe(full.message);
  });

  it.each(['status', 'orders explain a', 'webhooks list'])(
    'says with wrong settings whether a daemon that runs can be seen: %s',
    async (words) => {
      const environment = { ORDER_SYNC_LOG_LEVEL: 'loud' };
      const { code, stderr } = await runProgram(words.split(' '), { environment });
      expect([code, stderr]).toEqual([78, expect.stringMatching(/ORDER_SYNC_LOG_LEVEL[^]*ops\.listen/)]);
    },
  );

  it('says without a daemon that work waits for one', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    const { json } = commandOf(program);
    await program.app[Symbol.asyncDispose]();
    expect(await json()).toMatchObject({
      code: 1,
      status: { daemon: null, verdict: { end: 'look', reasons: [{ remedy: 'order-sync run' }] } },
    });
    program.merchant.exec('delete from merchant_orders');
    expect(await json('--account', 'all')).toMatchObject({ code: 0, status: { overview: { account: null } } });
  });

  it('names the process that drives the account and does not answer, and advises no second one', async () => {
    const { program } = await scriptedProgram();
    program.insert({ external_order_id: 'a' });
    const { code, status } = await commandOf(program).json();
    expect([code, status.daemon, status.driver]).toEqual([1, null, expect.stringContaining('process')]);
    expect(status.verdict.reasons).toMatchObject([
      { end: 'look', text: expect.stringContaining(status.driver ?? '-') },
    ]);
    expect(status.verdict.reasons[0]?.remedy).not.toContain('order-sync run');
    const doctor = await runProgram(['doctor', '--json'], { environment: settingsOf(program) });
    const { findings } = JSON.parse(doctor.stdout) as { findings: CheckResult[] };
    const service = findings.find(({ check }) => check === 'service');
    expect(service).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('process'),
      remedy: problem('silent-owner', '').remedy,
    });
  });

  it('ends by what is gravest: pauses, then an exchange out of reach, then a key that is refused', async () => {
    const { program } = await scriptedProgram();
    const { json, write } = commandOf(program);
    const since = program.clock.now();
    const hold = { since, until: null, reason: 'r', actor: 'kim' };
    await write(async (tx) => await setHold(tx, 'default', { ...hold, kind: 'creates-paused' }, since));
    const paused = await json();
    expect(paused).toMatchObject({ code: 1, status: { verdict: { end: 'look' } } });
    expect(paused.status.verdict.reasons[0]?.remedy).toContain('order-sync resume');
    const lost = {
      account: 'default',
      type: 'account',
      subject: 'default',
      field: 'exchange',
      source: 'exchange',
    } as const;
    await write(async (tx) => await insertHappenings(tx, [{ ...lost, new_value: 'out-of-reach', reason: 'r' }], since));
    expect(await json()).toMatchObject({ code: 69, status: { verdict: { end: 'out-of-reach' } } });
    const doctor = await runProgram(['doctor', '--json'], { environment: settingsOf(program) });
    const { findings } = JSON.parse(doctor.stdout) as { findings: CheckResult[] };
    const { level, remedy } = findings.find(({ check }) => check === 'accounts')!;
    expect([level, remedy]).toEqual(['warning', expect.not.stringContaining('doctor')]);
    await write(async (tx) => await insertHappenings(tx, [{ ...lost, new_value: null, reason: 'r' }], since));
    expect((await json()).code).toBe(1);
    await write(async (tx) => await setHold(tx, 'default', { ...hold, kind: 'key-refused', actor: null }, since));
    const refused = await json();
    expect(refused).toMatchObject({ code: 77, status: { verdict: { end: 'key-refused' } } });
    expect(refused.status.verdict.reasons[0]?.remedy).toContain('exchange.apiKey:');
  });

  it('names the command that helps with a receiver that fails for long or has refused events', async () => {
    const { program } = await scriptedProgram();
    const endpoint = { url: 'https://shop.test', secrets: SECRET };
    const endpoints = JSON.stringify(['slow', 'dead', 'well', 'a b'].map((name) => ({ name, ...endpoint })));
    const environment = { ...settingsOf(program), ORDER_SYNC_WEBHOOKS_ENDPOINTS: endpoints };
    const failing = program.merchant.prepare(
      'insert into webhook_endpoints (name, since, failing_since) values (?, ?, ?)',
    );
    const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();
    failing.run('slow', ago(9), ago(1));
    failing.run('dead', ago(9), ago(6));
    failing.run('a b', ago(9), null);
    program.merchant
      .exec(`insert into webhook_deliveries (account, endpoint, event_id, kind, subject, status, attempts, answer, since)
      values ('default', 'a b', 1, 'order', 'a', 'dead', 11, 400, '')`);
    const { code, stdout } = await runProgram(['status', '--json'], { environment });
    const { verdict } = JSON.parse(stdout) as { verdict: StatusVerdict };
    expect([code, verdict.reasons.map(({ remedy }) => remedy)]).toEqual([
      1,
      ['order-sync webhooks list', "order-sync webhooks show 'a b'"],
    ]);
    const text = await runProgram(['status'], { environment, columns: 80 });
    expect(text.stdout.match(/^ *receiver /gm)).toHaveLength(4);
  });

  it.each([60, 120])('fits a terminal of %i columns', async (columns) => {
    const { program } = await scriptedProgram();
    const { run, write } = commandOf(program);
    const now = program.clock.now();
    const hold = { since: now, until: null, reason: 'a long reason '.repeat(20), actor: 'kim' };
    await write(async (tx) => await setHold(tx, 'default', { ...hold, kind: 'creates-paused' }, now));
    const { stdout } = await run([], { columns });
    const lines = stdout.split('\n');
    expect(lines.length).toBeGreaterThan(8);
    expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThanOrEqual(columns);
  });

  it('refuses an unknown account', async () => {
    const { program } = await scriptedProgram();
    expect((await commandOf(program).run(['--account', 'nobody'])).code).toBe(78);
  });

  it('is watched in a terminal until Ctrl-C, which ends it with 0, and refused elsewhere', async () => {
    const { program } = await scriptedProgram();
    const { run } = commandOf(program);
    expect((await run(['--watch'])).code).toBe(64);
    const before = process.listenerCount('SIGINT');
    const watched = run(['--watch'], { columns: 80 });
    await vi.waitUntil(() => process.listenerCount('SIGINT') > before);
    process.emit('SIGINT');
    expect((await watched).code).toBe(0);
  });
});
