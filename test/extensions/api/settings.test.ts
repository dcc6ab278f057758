import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SCOPES, SOCKET_CALLER } from '../../../src/extensions/api/caller.ts';
import { apiSettings } from '../../../src/extensions/api/settings.ts';
import type { ConfigError } from '../../../src/settings/config.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { loadWith } from '../../support/load-with.ts';

const SECRET = 'canary'.repeat(6);
let folder = '';

beforeEach(() => void (folder = temporaryFolder()));

function fileWith(secret: string, mode = 0o600): string {
  const file = join(folder, `${secret.length}-${mode}.token`);
  writeFileSync(file, secret);
  chmodSync(file, mode);
  return file;
}

const listOf = (...tokens: readonly object[]) => ({ ORDER_SYNC_API_TOKENS: JSON.stringify(tokens) });
const tokenOf = (fields: object = {}) => ({ name: 'shop', scopes: ['read'], secretFile: fileWith(SECRET), ...fields });
const apiOf = (env: Readonly<Record<string, string>>, yaml?: string) => apiSettings.of(loadWith(env, yaml)).api;

/** The places of what is wrong. */
function faultsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    loadWith(env);
  } catch (error) {
    const { name, message, problems } = error as ConfigError;
    expect([name, message]).toEqual(['ConfigError', expect.not.stringContaining('canary')]);
    return problems.map(({ problem }) => problem.split(' ')[0] ?? '');
  }
  return [];
}

describe('api.listen', () => {
  it('is off by default, and needs no token then', () => {
    expect(apiOf({})).toMatchObject({ listen: undefined, tokens: [], insecure: false });
  });

  it.each<[Record<string, string>, readonly string[]]>([
    [{ ORDER_SYNC_API_LISTEN: '127.0.0.1:8443' }, []],
    [{ ORDER_SYNC_API_LISTEN: '[::1]:8443' }, []],
    [{ ORDER_SYNC_API_LISTEN: '0.0.0.0:8443' }, ['api.listen']],
    [{ ORDER_SYNC_API_LISTEN: 'shop.example:8443' }, ['api.listen']],
    [{ ORDER_SYNC_API_LISTEN: '0.0.0.0:8443', ORDER_SYNC_API_INSECURE: 'false' }, ['api.listen']],
    [{ ORDER_SYNC_API_LISTEN: '0.0.0.0:8443', ORDER_SYNC_API_INSECURE: 'true' }, []],
    [
      {
        ORDER_SYNC_API_LISTEN: '0.0.0.0:8443',
        ORDER_SYNC_API_CERT_FILE: 'cert.pem',
        ORDER_SYNC_API_KEY_FILE: 'key.pem',
      },
      [],
    ],
    [{ ORDER_SYNC_API_CERT_FILE: 'cert.pem' }, ['api.keyFile']],
    [{ ORDER_SYNC_API_LISTEN: '127.0.0.1:8443', ORDER_SYNC_API_TOKENS: '[]' }, ['api.tokens']],
    [{ ORDER_SYNC_API_ADVERTISE: 'ftp://shop.example' }, ['api.advertise']],
  ])('with %j is refused for %j', (env, faults) => {
    expect(faultsOf({ ...listOf(tokenOf()), ...env })).toEqual(faults);
  });

  it('has paths that begin at the folder of the start', () => {
    const env = { ORDER_SYNC_API_CERT_FILE: 'cert.pem', ORDER_SYNC_API_KEY_FILE: '/etc/key.pem' };
    expect(apiOf(env)).toMatchObject({
      certFile: expect.stringMatching(/^\/.+\/cert\.pem$/) as string,
      keyFile: '/etc/key.pem',
    });
  });
});

describe('api.tokens', () => {
  it('are read from the environment and from a file in the same way', () => {
    const secretFile = fileWith(`${SECRET}\n`);
    const rest = { secretFile, rate: 5 };
    const caller = { name: 'shop', scopes: ['read', 'decide'], accounts: ['a', 'b'] };
    const token = { name: 'shop', scopes: ['decide', 'read'], accounts: ['a', 'b'], ...rest };
    expect(apiOf(listOf(token)).tokens).toEqual([{ caller, ...rest }]);
    const yaml = `api:\n  tokens:\n    - {name: shop, scopes: [read, decide], accounts: [a, b], rate: 5, secretFile: ${secretFile}}\n`;
    expect(apiOf({}, yaml).tokens).toEqual([{ caller, ...rest }]);
  });

  it.each([undefined, ['*'], ['a', '*']])('are for all accounts with %j, and ask 100 times a second', (accounts) => {
    expect(apiOf(listOf(tokenOf({ accounts, scopes: SCOPES }))).tokens).toMatchObject([
      { caller: { accounts: 'all', scopes: SCOPES }, rate: 100 },
    ]);
  });

  it('are refused with all that is wrong in each of them at once', () => {
    const tokens = [
      tokenOf({ name: '', scopes: [] }),
      tokenOf({ scopes: ['write'], accounts: ['all'] }),
      tokenOf({ accounts: [], rate: 0 }),
      tokenOf({ secretFile: join(folder, 'none') }),
      tokenOf({ secretFile: fileWith(SECRET.slice(0, 31)) }),
      tokenOf({ secretFile: fileWith(SECRET, 0o640) }),
      tokenOf({ secretFile: fileWith(`canary ${SECRET}`) }),
      tokenOf({ secretFile: undefined }),
      tokenOf({ secret: SECRET }),
    ];
    expect(faultsOf(listOf(...tokens))).toEqual(
      [
        '[0].name',
        '[0].scopes',
        '[1].scopes[0]',
        '[1].accounts[0]',
        '[2].accounts',
        '[2].rate',
        '[3].secretFile',
        '[4].secretFile',
        '[5].secretFile',
        '[6].secretFile',
        '[7].secretFile',
        '[8]',
      ].map((place) => `api.tokens${place}`),
    );
  });

  it('have names of their own, which is not that of who asks over the control socket', () => {
    expect(faultsOf(listOf(tokenOf(), tokenOf()))).toEqual(['api.tokens']);
    expect(faultsOf(listOf(tokenOf({ name: SOCKET_CALLER.name })))).toEqual(['api.tokens[0].name']);
  });
});
