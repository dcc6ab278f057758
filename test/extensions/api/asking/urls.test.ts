import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notOwner, problem, standInApi, TOKEN, type StandInApi } from '../../../support/api-server.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { controlSocket, scriptedControlSocket } from '../../../support/control-socket.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { SELF_SIGNED } from '../../../support/self-signed.ts';

/** Runs a command on a machine that has nothing of the program's but a token. */
async function elsewhere(urls: readonly string[], args: readonly string[], environment: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  const given = urls.flatMap((url) => ['--url', url]);
  const token = { ORDER_SYNC_API_TOKEN_FILE: join(cwd, 'token') };
  const result = await runProgram([...args, ...given], { cwd, environment: { ...token, ...environment } });
  expect(`${result.stdout}${result.stderr}${process.argv.join(' ')}`).not.toContain(TOKEN);
  expect(result.stderr.split('\n').length).toBeLessThanOrEqual(2);
  return result;
}

const lookup = (...apis: readonly Pick<StandInApi, 'url'>[]) =>
  elsewhere(
    apis.map(({ url }) => url),
    ['exchange', 'lookup', 'a', '--json'],
  );

/** A worker that drives the account, and its API. */
async function driver(options: { readonly isSecure?: boolean } = {}) {
  const on = await scriptedControlSocket();
  on.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
  return { on, api: await standInApi({ socketPath: on.socketPath, ...options }) };
}

/** Workers that do not drive it, each of which says so in its way. */
async function others(...owners: readonly (string | undefined)[]): Promise<readonly StandInApi[]> {
  return await Promise.all(
    owners.map(async (owner) => Object.assign(await standInApi(), { answer: () => notOwner(owner) })),
  );
}

/** As NODE_EXTRA_CA_CERTS does for a process that begins. */
function trustSelfSigned(): void {
  const before = tls.getCACertificates();
  tls.setDefaultCACertificates([SELF_SIGNED.cert]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}

const counts = (...apis: readonly StandInApi[]) => apis.map(({ asked }) => asked.length);

describe('a command with --url', () => {
  it('does over the API what it does over the socket, without database, exchange and key', async () => {
    const on = await controlSocket();
    const api = await standInApi({ socketPath: on.socketPath });
    on.program.insert({ external_order_id: 'a' });
    const run = (...args: string[]) => elsewhere([api.url], args);
    expect(await run('sync', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"sent":1') as string,
    });
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ daemon: { pid: process.pid } });
    expect(await run('exchange', 'client', 'create', 'ada@shop.example', '--json')).toMatchObject({ code: 0 });
    expect(await run('exchange', 'pre-order', 'show', 'none')).toMatchObject({ code: 2 });
    expect(await run('exchange', 'pre-order', 'show', '..')).toMatchObject({ code: 64 });
    expect(api.asked.every(({ authorization }) => authorization === `Bearer ${TOKEN}`)).toBe(true);
  });

  it('names an account that the settings of its machine do not have', async () => {
    const api = Object.assign(await standInApi(), { answer: () => problem(403, 'forbidden') });
    await elsewhere([api.url], ['exchange', 'lookup', 'a', '--account', 'shop-2']);
    expect(api.asked[0]?.path).toContain('account=shop-2');
  });

  it('adopts the orders of a file, and keeps the answers of a probe in its own folder', async () => {
    const { on, api } = await driver();
    const file = join(temporaryFolder(), 'orders.csv');
    writeFileSync(file, 'external_order_id,asset,from_currency,to_currency\na,1.5,BTC,EUR\n');
    expect(await elsewhere([api.url], ['orders', 'adopt', file, '--json'])).toMatchObject({
      stdout: expect.stringContaining('"adopted"') as string,
    });
    on.exchange.answer = () => ({ status: 404, body: '{"message":"none","code":"404","status":"NOT_FOUND"}' });
    const probed = await runProgram(['probe', '--yes', '--json', '--url', api.url], {
      cwd: temporaryFolder(),
      environment: { ORDER_SYNC_API_TOKEN: TOKEN },
    });
    expect(JSON.parse(probed.stdout)).toMatchObject({ evidence: expect.stringContaining('probe-') as string });
  });
});

describe('a process that does not drive the account', () => {
  it('says who does, and is followed to a URL of the list', async () => {
    const { api } = await driver();
    const [first, second] = (await others(`${api.url}/`, undefined)) as [StandInApi, StandInApi];
    expect(await lookup(first, second, api)).toMatchObject({ code: 0, stderr: '' });
    expect(counts(first, second, api)).toEqual([1, 0, 1]);
  });

  it('is not followed to another host, nor to another path or port of one that is known: the error names it', async () => {
    const { api } = await driver();
    for (const owner of [api.url, `${api.url}/other`]) {
      const [first, second] = (await others(owner, undefined)) as [StandInApi, StandInApi];
      const listed =
        owner === api.url ? [first, second] : [first, second, Object.assign(await standInApi(), { answer: notOwner })];
      const said = await lookup(...listed);
      expect(said).toMatchObject({ code: 69, stdout: '' });
      expect(said.stderr).toContain(`--url ${owner}`);
      expect(counts(...listed)).toEqual(listed.map(() => 1));
    }
    expect(api.asked).toEqual([]);
  });

  it('is followed from http to https, whose certificate is checked', async () => {
    const { api } = await driver({ isSecure: true });
    const [first] = (await others(api.url)) as [StandInApi];
    trustSelfSigned();
    expect(await lookup(first, api)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is followed twice at the most', async () => {
    const [first, second] = (await others(undefined, undefined)) as [StandInApi, StandInApi];
    first.answer = () => notOwner(second.url);
    second.answer = () => notOwner(first.url);
    const { api } = await driver();
    expect(await lookup(first, second, api)).toMatchObject({ code: 0 });
    expect(counts(first, second, api)).toEqual([2, 1, 1]);
  });

  it('is not followed from https to http, and nothing of http is asked after it', async () => {
    const { api } = await driver();
    const secure = await standInApi({ isSecure: true });
    secure.answer = () => notOwner(api.url);
    trustSelfSigned();
    expect(await lookup(secure, api)).toMatchObject({ code: 69, stderr: expect.stringContaining(api.url) as string });
    expect(counts(secure, api)).toEqual([1, 0]);
  });

  it('has each other URL of the list tried once if it names no owner, one that is down too', async () => {
    const { api } = await driver();
    const [first, second] = (await others(undefined, 'https://no url')) as [StandInApi, StandInApi];
    expect(await lookup(first, { url: 'http://127.0.0.1:1' }, second, api)).toMatchObject({ code: 0, stderr: '' });
    expect(counts(first, second, api)).toEqual([1, 1, 1]);
  });

  it('is asked again for a few seconds while the account changes hands', async () => {
    const { api } = await driver();
    api.answer = () => {
      if (api.asked.length > 1) api.answer = undefined;
      return notOwner();
    };
    expect(await lookup(api)).toMatchObject({ code: 0 });
    expect(api.asked).toHaveLength(3);
  });
});

describe('a command that the API does not serve says so in one line', () => {
  it.each([
    ['the token is refused', problem(401, 'unauthorized'), 78],
    ['the token lacks the scope', problem(403, 'forbidden'), 78],
    ['the token asks too often', { ...problem(429, 'limited'), headers: { 'retry-after': '3' } }, 69],
    ['a proxy has no worker', { status: 502, body: '<html>' }, 69],
  ])('if %s', async (_name, answer, code) => {
    const api = Object.assign(await standInApi(), { answer: () => answer });
    for (const command of [['exchange', 'lookup', 'a'], ['sync'], ['status']]) {
      expect(await elsewhere([api.url], command)).toMatchObject({ code, stdout: '' });
    }
  });

  it('if no URL can be reached, or a certificate is not trusted whatever the environment says, and sends no token there', async () => {
    const secure = await standInApi({ isSecure: true });
    // Node itself warns of the variable.
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    for (const command of [['exchange', 'lookup', 'a'], ['sync'], ['status']]) {
      const said = await elsewhere(['http://127.0.0.1:1', secure.url], command, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
      expect(said).toMatchObject({ code: 69, stdout: '' });
    }
    expect(secure.asked).toEqual([]);
  });

  it.each([
    ['there is no token', 'https://127.0.0.1:1', { ORDER_SYNC_API_TOKEN_FILE: '' }, 78],
    ['the token would go unencrypted', 'http://worker-2.invalid', {}, 64],
    [
      'the token goes unencrypted as the settings have it',
      'http://worker-2.invalid',
      { ORDER_SYNC_API_INSECURE: 'true' },
      69,
    ],
    ['the URL is none', 'worker-2:8443', {}, 64],
    ['the URL bears a password', 'https://a:b@worker-2.invalid', {}, 64],
  ])('if %s', async (_name, url, environment, code) => {
    const { stderr, ...said } = await runProgram(['exchange', 'lookup', 'a', '--url', url], {
      cwd: temporaryFolder(),
      environment: {
        ORDER_SYNC_API_TOKEN: TOKEN,
        ...environment,
        ...('ORDER_SYNC_API_TOKEN_FILE' in environment && { ORDER_SYNC_API_TOKEN: '' }),
      },
    });
    expect(said).toMatchObject({ code, stdout: '' });
    expect(stderr).not.toContain(TOKEN);
  });
});
