import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runProgram } from '../../../support/cli-function.ts';
import { served } from '../../../support/control-socket.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { SELF_SIGNED } from '../../../support/self-signed.ts';
import {
  apiOf,
  scriptedApi,
  secretOf,
  servedApi,
  type ServedApi,
  type TokenOptions,
} from '../../../support/served-api.ts';
import type { TestProgram } from '../../../support/test-program.ts';

const TOKEN = secretOf('shop');
type Api = Pick<ServedApi<TestProgram>, 'url' | 'asked'>;

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

const lookup = (...apis: readonly Pick<Api, 'url'>[]) =>
  elsewhere(
    apis.map(({ url }) => url),
    ['exchange', 'lookup', 'a', '--json'],
  );

/** A worker that drives the account, and its API. */
async function driver(options: Parameters<typeof scriptedApi>[0] = {}) {
  const api = await scriptedApi(options);
  api.exchange.answer = ({ externalOrderId }) => record(externalOrderId);
  return api;
}

/** A worker that does not drive it, and names an owner. */
async function other(owner: () => string | undefined, options: { readonly isTls?: boolean } = {}): Promise<Api> {
  const instead = { use: async () => undefined, ownerUrl: async () => owner() };
  return await scriptedApi({ instead, ...options });
}

/** Workers that do not drive it, each of which says so in its way. */
async function others(...owners: readonly (string | undefined)[]): Promise<readonly Api[]> {
  return await Promise.all(owners.map(async (owner) => await other(() => owner)));
}

/** As NODE_EXTRA_CA_CERTS does for a process that begins. */
function trustSelfSigned(): void {
  const before = tls.getCACertificates();
  tls.setDefaultCACertificates([SELF_SIGNED.cert]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}

const counts = (...apis: readonly Api[]) => apis.map(({ asked }) => asked.length);

describe('a command with --url', () => {
  it('does over the API what it does over the socket, without database, exchange and key', async () => {
    const api = await servedApi();
    api.program.insert({ external_order_id: 'a' });
    const run = (...args: string[]) => elsewhere([api.url], args);
    expect(await run('sync', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"sent":1') as string,
    });
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ daemon: { pid: process.pid } });
    expect(await run('exchange', 'client', 'create', 'ada@shop.example', '--json')).toMatchObject({ code: 0 });
    expect(await run('exchange', 'pre-order', 'show', 'none')).toMatchObject({ code: 2 });
    expect(await run('exchange', 'pre-order', 'show', '..')).toMatchObject({ code: 64 });
  });

  it('names an account that the settings of its machine do not have', async () => {
    const { url } = await servedApi({ tokens: [{ accounts: ['shop-1'] }] });
    const { code, stderr } = await elsewhere([url], ['exchange', 'lookup', 'a', '--account', 'shop-2']);
    expect([code, stderr.includes('shop-2')]).toEqual([78, true]);
  });

  it('adopts the orders of a file, and keeps the answers of a probe in its own folder', async () => {
    const api = await driver();
    const file = join(temporaryFolder(), 'orders.csv');
    writeFileSync(file, 'external_order_id,asset,from_currency,to_currency\na,1.5,BTC,EUR\n');
    expect(await elsewhere([api.url], ['orders', 'adopt', file, '--json'])).toMatchObject({
      stdout: expect.stringContaining('"adopted"') as string,
    });
    api.exchange.answer = () => ({ status: 404, body: '{"message":"none","code":"404","status":"NOT_FOUND"}' });
    const probed = await runProgram(['probe', '--yes', '--json', '--url', api.url], {
      cwd: temporaryFolder(),
      environment: { ORDER_SYNC_API_TOKEN: TOKEN },
    });
    expect(JSON.parse(probed.stdout)).toMatchObject({ evidence: expect.stringContaining('probe-') as string });
  });
});

describe('a process that does not drive the account', () => {
  it('says who does, and is followed to a URL of the list', async () => {
    const api = await driver();
    const [first, second] = (await others(`${api.url}/`, undefined)) as [Api, Api];
    expect(await lookup(first, second, api)).toMatchObject({ code: 0, stderr: '' });
    expect(counts(first, second, api)).toEqual([1, 0, 1]);
  });

  it('is not followed to another host, nor to another path or port of one that is known: the error names it', async () => {
    const api = await driver();
    for (const owner of [api.url, `${api.url}/other`]) {
      const [first, second] = (await others(owner, undefined)) as [Api, Api];
      const listed = owner === api.url ? [first, second] : [first, second, await other(() => undefined)];
      const said = await lookup(...listed);
      expect(said).toMatchObject({ code: 69, stdout: '' });
      expect(said.stderr).toContain(`--url ${owner}`);
      expect(counts(...listed)).toEqual(listed.map(() => 1));
    }
    expect(api.asked).toEqual([]);
  });

  it('is followed from http to https, whose certificate is checked', async () => {
    const api = await driver({ isTls: true });
    const [first] = (await others(api.url)) as [Api];
    trustSelfSigned();
    expect(await lookup(first, api)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is followed twice at the most', async () => {
    const first: Api = await other(() => second.url);
    const second = await other(() => first.url);
    const api = await driver();
    expect(await lookup(first, second, api)).toMatchObject({ code: 0 });
    expect(counts(first, second, api)).toEqual([2, 1, 1]);
  });

  it('is not followed from https to http, and nothing of http is asked after it', async () => {
    const api = await driver();
    const secure = await other(() => api.url, { isTls: true });
    trustSelfSigned();
    expect(await lookup(secure, api)).toMatchObject({ code: 69, stderr: expect.stringContaining(api.url) as string });
    expect(counts(secure, api)).toEqual([1, 0]);
  });

  it('has each other URL of the list tried once if it names no owner, one that is down too', async () => {
    const api = await driver();
    const [first, second] = (await others(undefined, 'https://no url')) as [Api, Api];
    expect(await lookup(first, { url: 'http://127.0.0.1:1' }, second, api)).toMatchObject({ code: 0, stderr: '' });
    expect(counts(first, second, api)).toEqual([1, 1, 1]);
  });

  it('is asked again for a few seconds while the account changes hands', async () => {
    const { program } = await driver();
    const use = async (account: string) => (api.asked.length > 2 ? await served(program.app).use(account) : undefined);
    const api: Api = await apiOf(program, { instead: { use } });
    expect(await lookup(api)).toMatchObject({ code: 0 });
    expect(api.asked).toHaveLength(3);
  });
});

describe('a command that the API does not serve says so in one line', () => {
  const COMMANDS = [['exchange', 'lookup', 'a'], ['sync'], ['status']];

  it.each<[string, TokenOptions, number]>([
    ['the token is refused', { secret: 'another-secret'.padEnd(40, '0') }, 78],
    ['the token lacks the scope', { scopes: ['clients'] }, 78],
    ['the token asks too often', { rate: 1 }, 69],
  ])('if %s', async (_name, token, code) => {
    const api = await servedApi({ tokens: [token] });
    await api.ask('GET', '/status');
    for (const command of COMMANDS) expect(await elsewhere([api.url], command)).toMatchObject({ code, stdout: '' });
  });

  it('if a proxy has no worker', async () => {
    const proxy = createServer((_request, response) => response.writeHead(502).end('<html>'));
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const command of COMMANDS) expect(await elsewhere([url], command)).toMatchObject({ code: 69, stdout: '' });
  });

  it('if no URL can be reached, or a certificate is not trusted whatever the environment says, and sends no token there', async () => {
    const secure = await driver({ isTls: true });
    // Node itself warns of the variable.
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    for (const command of COMMANDS) {
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
