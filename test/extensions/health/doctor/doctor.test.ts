import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/extensions/health/doctor/check.ts';
import { insertHappenings } from '../../../../src/store/tables/events.ts';
import { createPass } from '../../../../src/orders/create.ts';
import { followPass } from '../../../../src/orders/follow.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { scriptedControlSocket } from '../../../support/control-socket.ts';
import { echo, NOT_FOUND, record, refusal } from '../../../support/scripted-exchange.ts';
import type { StatusVerdict } from '../../../../src/extensions/health/status/problems.ts';
import { scriptedProgram, settingsOf, type TestProgram } from '../../../support/test-program.ts';
import { DAY } from '../../../support/tracking.ts';
import { endpointAt, webhookReceiver } from '../../../support/webhooks.ts';

const NEVER = new AbortController().signal;

async function doctor(program: TestProgram, args: readonly string[] = [], more: Record<string, string> = {}) {
  const environment = { ...settingsOf(program), ORDER_SYNC_OPS_LISTEN: 'off', ...more };
  const { code, stdout } = await runProgram(['doctor', '--json', ...args], { environment });
  const { findings, exitCode } = JSON.parse(stdout) as { findings: readonly CheckResult[]; exitCode: number };
  expect(exitCode).toBe(code);
  return { code, findings, of: (check: string) => findings.filter((one) => one.check === check) };
}

function newFile(name: string): string {
  return join(mkdtempSync(join(tmpdir(), 'order-sync-')), name);
}

describe('order-sync doctor', () => {
  it('looks at everything, and asks the exchange through the daemon for an id that no order has', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => NOT_FOUND;
    const { findings, of } = await doctor(program);
    expect(new Set(findings.map(({ check }) => check))).toEqual(
      new Set([
        'accounts',
        'runtime',
        'settings',
        'permissions',
        'database',
        'mark',
        'disk',
        'clock',
        'address',
        'key',
        'service',
        'ops',
      ]),
    );
    expect(findings.filter(({ level }) => level === 'fault')).toEqual([]);
    expect(of('key')).toMatchObject([{ level: 'ok', found: expect.stringContaining('the daemon') as string }]);
    expect(exchange.requests.map(({ method, externalOrderId }) => [method, externalOrderId])).toEqual([
      ['GET', expect.stringMatching(/^order-sync-check-/)],
    ]);
  });

  it('warns of rows in an account that the settings do not name, with a daemon and without', async () => {
    for (const { program } of [await scriptedControlSocket(), await scriptedProgram()]) {
      program.merchant.exec("insert into merchant_orders (account, external_order_id) values ('defualt', 'a')");
      const { of } = await doctor(program);
      expect(of('accounts')).toMatchObject([
        { level: 'warning', found: expect.stringContaining('"defualt"') as string },
      ]);
    }
  });

  it('warns, as status and webhooks list do, of settings that changed after the daemon had started, which does not see them', async () => {
    const receiver = await webhookReceiver();
    const file = newFile('shop.yaml');
    writeFileSync(file, 'log: { level: warn }\n', { mode: 0o600 });
    const { program, exchange } = await scriptedControlSocket({ environment: { ORDER_SYNC_CONFIG: file } });
    exchange.answer = () => NOT_FOUND;
    const ages = async () => {
      const { of } = await doctor(program);
      return of('settings')
        .filter(({ level }) => level === 'warning')
        .map(({ found, remedy }) => [found, remedy?.includes('config check')]);
    };
    const others = async () => {
      const { url, secrets, allowPrivate } = endpointAt(receiver);
      const endpoints = JSON.stringify([{ name: 'shop', url, secrets, allowPrivate }]);
      const environment = { ...settingsOf(program), ORDER_SYNC_WEBHOOKS_ENDPOINTS: endpoints };
      const status = await runProgram(['status', '--json'], { environment });
      const { verdict } = JSON.parse(status.stdout) as { verdict: StatusVerdict };
      const hints = [];
      for (const command of [['list'], ['test', 'shop']]) {
        const { code, stderr } = await runProgram(['webhooks', ...command], { environment });
        hints.push(code === 0 && stderr.includes(file));
      }
      return [status.code, verdict.reasons.map(({ code }) => code), ...hints];
    };
    expect([await ages(), await others()]).toEqual([[], [0, [], false, false]]);
    utimesSync(file, 0, 0);
    const found = [[`${file} changed after the daemon started`, true]];
    expect([await ages(), await others()]).toEqual([found, [1, ['settings-changed'], true, true]]);
  });

  it('tells, as status does, why the exchange is out of reach now, if a daemon answers', async () => {
    const { program } = await scriptedControlSocket();
    const lost = {
      account: 'default',
      type: 'account',
      subject: 'default',
      field: 'exchange',
      source: 'exchange',
    } as const;
    const { store, clock } = program.app;
    await store.writer.write(
      async (tx) =>
        await insertHappenings(tx, [{ ...lost, new_value: 'out-of-reach', reason: 'HTTP 503' }], clock.now()),
    );
    program.activity.hear({ kind: 'exchange.failed', cause: 'ECONNREFUSED' });
    const [{ found } = { found: '' }] = (await doctor(program)).of('accounts');
    expect(found).toContain('ECONNREFUSED');
    expect(found).not.toContain('HTTP 503');
  });

  it('ends by the gravest fault, and each says what to do', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => refusal(401);
    const { code, of } = await doctor(program);
    expect(code).toBe(77);
    expect(of('key')).toMatchObject([{ level: 'fault', exitCode: 77, remedy: expect.any(String) as string }]);
    writeFileSync(`${program.config.database.path}.mark`, JSON.stringify({ generation: 9, eventId: 900, at: '2026' }));
    expect(await doctor(program)).toMatchObject({ code: 65 });
  });

  it('warns of a key that was not checked', async () => {
    const { program } = await scriptedProgram();
    await program.app[Symbol.asyncDispose]();
    const { of } = await doctor(program, [], { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1' });
    expect(of('key')).toMatchObject([{ level: 'warning', exitCode: 1 }]);
  });

  it('says that nothing is reached if the exchange is gone, and continues', async () => {
    const { program } = await scriptedProgram();
    const { code, of } = await doctor(program, [], { ORDER_SYNC_EXCHANGE_BASE_URL: 'http://127.0.0.1:1' });
    expect(of('address')).toMatchObject([{ level: 'fault', exitCode: 69 }]);
    expect(of('service')).toMatchObject([{ level: 'warning' }]);
    expect(code).toBeGreaterThan(1);
  });

  it('connects to each receiver of events, and sends nothing', async () => {
    const { program } = await scriptedControlSocket();
    const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
    const url = program.config.exchange.baseUrl;
    const endpoints = [
      { name: 'near', url, secrets, allowPrivate: true },
      { name: 'refused', url: 'https://localhost:1/', secrets },
    ];
    const { code, of } = await doctor(program, [], { ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify(endpoints) });
    expect(of('webhook').map(({ level }) => level)).toEqual(['ok', 'warning']);
    expect(code).toBe(1);
  });

  it('does not judge an ops endpoint whose port the system chooses', async () => {
    const { program } = await scriptedControlSocket();
    const { of } = await doctor(program, [], { ORDER_SYNC_OPS_LISTEN: '127.0.0.1:0' });
    expect(of('ops')).toMatchObject([{ level: 'ok' }]);
  });

  it('says whether the port of the API is free for the daemon, if there is an API', async () => {
    const { program } = await scriptedProgram();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const secretFile = newFile('shop.token');
    writeFileSync(secretFile, 'x'.repeat(32), { mode: 0o600 });
    const api = {
      ORDER_SYNC_API_LISTEN: `127.0.0.1:${port}`,
      ORDER_SYNC_API_TOKENS: JSON.stringify([{ name: 'shop', scopes: ['read'], secretFile }]),
    };
    const levelsOf = async (more = {}) => (await doctor(program, [], more)).of('api').map(({ level }) => level);
    expect([await levelsOf(), await levelsOf(api)]).toEqual([[], ['warning']]);
    other.close();
    await once(other, 'close');
    expect(await levelsOf(api)).toEqual(['ok']);
  });

  it('names each file that others may read', async () => {
    const { program } = await scriptedControlSocket();
    const { path } = program.config.database;
    chmodSync(path, 0o644);
    const { of } = await doctor(program);
    expect(of('permissions')).toMatchObject([{ level: 'warning', remedy: `chmod 600 ${path}` }]);
  });

  it('says what is wrong with the settings, with 78', async () => {
    const { program } = await scriptedProgram();
    const { code, of } = await doctor(program, [], { ORDER_SYNC_EXCHANGE_TIMEOUT: 'soon' });
    expect(code).toBe(78);
    expect(of('settings')).toMatchObject([{ level: 'fault', exitCode: 78 }]);
  });
});

describe('a support file', () => {
  const CANARY = 'canary';

  it('holds no id, address, token, name or reason, and each id has one pseudonym', async () => {
    const { program, exchange } = await scriptedControlSocket();
    const id = `${CANARY}-order`;
    exchange.answer = (request) => {
      if (request.method === 'POST') return echo(request, { id: `${CANARY}-pre-order` });
      return request.externalOrderId === id
        ? record(id, { status: `${CANARY}-status`, crypto: `${CANARY}@shop.example` })
        : NOT_FOUND;
    };
    program.insert({ external_order_id: id });
    program.merchant.exec(
      `update merchant_orders set crypto_address = '${CANARY}-address', payment_token = '${CANARY}-token'`,
    );
    program.merchant.exec(`insert into links (account, link_id, reference, source, status, created_at, updated_at,
      last_checked_at) values ('default', '${CANARY}-link', '${CANARY}', 'create', 'x', '2026', '2026', '2026')`);
    await createPass(program.app, NEVER);
    program.clock.advance(DAY);
    await followPass(program.app, 'all', NEVER);
    await runProgram(['pause', '--reason', `${CANARY}-reason`, '--actor', `${CANARY}-actor`], {
      environment: settingsOf(program),
    });
    const file = newFile('support.json');
    await doctor(program, ['--bundle', file]);
    const text = readFileSync(file, 'utf8');
    const bundle = JSON.parse(text) as { overview: { orders: object }; events: { type: string; subject: string }[] };
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(settingsOf(program)['ORDER_SYNC_EXCHANGE_API_KEY']);
    expect(text).not.toContain(new URL(program.config.exchange.baseUrl ?? '').host);
    expect(text).not.toContain(program.config.database.path);
    expect(bundle.overview.orders).toMatchObject({ pending: 0 });
    const orders = bundle.events.filter(({ type }) => type === 'order').map(({ subject }) => subject);
    expect(orders.length).toBeGreaterThan(3);
    expect(new Set(orders).size).toBe(1);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  });

  it('replaces no file', async () => {
    const { program } = await scriptedControlSocket();
    const file = newFile('support.json');
    writeFileSync(file, 'mine');
    const { of } = await doctor(program, ['--bundle', file]);
    expect(of('bundle')).toMatchObject([{ level: 'fault', exitCode: 64 }]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});
