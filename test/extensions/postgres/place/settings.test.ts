import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../../src/settings/config.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { loadWith } from '../../../support/load-with.ts';
import { configSources } from '../../../support/settings.ts';

const KEY = 'k3y-that-must-stay-hidden';

function refusalOf(env: Readonly<Record<string, string>>): string {
  try {
    loadWith(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain(KEY);
    return message;
  }
  throw new Error('was accepted');
}

describe('a database of PostgreSQL', () => {
  const at = (url: string, env: Readonly<Record<string, string>> = {}) =>
    loadWith({ ORDER_SYNC_DATABASE_URL: url, ...env }).database;

  it.each([
    [
      'postgres://u@db.example/orders',
      { hosts: [{ host: 'db.example', port: 5432 }], user: 'u', name: 'orders', tls: 'verify' },
    ],
    ['postgresql://u@127.0.0.1:6000/o', { hosts: [{ host: '127.0.0.1', port: 6000 }], tls: 'off' }],
    ['postgres://u@[::1]/o', { hosts: [{ host: '::1', port: 5432 }], tls: 'off', address: 'postgres://u@[::1]/o' }],
    [
      'postgres://u@/o?host=/run/pg',
      { hosts: [{ host: '/run/pg', port: 5432 }], tls: 'off', address: 'postgres://u@/o?host=/run/pg' },
    ],
    [
      'postgres://u@%2Frun%2Fpg:6000/o',
      { hosts: [{ host: '/run/pg', port: 6000 }], address: 'postgres://u@:6000/o?host=/run/pg' },
    ],
    [
      'postgres://u@a:5432,[fd00::2]:5433,c/o',
      {
        hosts: [
          { host: 'a', port: 5432 },
          { host: 'fd00::2', port: 5433 },
          { host: 'c', port: 5432 },
        ],
        tls: 'verify',
        address: 'postgres://u@a,[fd00::2]:5433,c/o',
      },
    ],
    ['postgres://u@127.0.0.1:1,[::1]:2/o', { tls: 'off', address: 'postgres://u@127.0.0.1:1,[::1]:2/o' }],
    ['postgres://u@127.0.0.1,db.example/o', { tls: 'verify' }],
    ['postgres://a%40b@h/x%2Fy', { user: 'a@b', name: 'x/y', address: 'postgres://a%40b@h/x%2Fy' }],
  ])('is at %s', (url, parts) => {
    const env = { ORDER_SYNC_DATABASE_MARKS: '/var/marks.db' };
    const database = at(url, env);
    expect(database).toMatchObject({ kind: 'postgres', poolSize: 10, ...parts });
    expect(at(database.address, env)).toEqual(database);
  });

  it('is read from a standby only if several hosts are named', () => {
    const env = { ORDER_SYNC_DATABASE_READ_FROM: 'standby' };
    expect(at('postgres://u@a,b/o', env)).toMatchObject({ readFrom: 'standby', readBehind: 10_000 });
    for (const url of ['postgres://u@a/o', 'sqlite:o.db'])
      expect(refusalOf({ ORDER_SYNC_DATABASE_URL: url, ...env })).toMatch(/several hosts/);
  });

  it('takes its password from a file, or from the address, and shows it nowhere', () => {
    const cwd = temporaryFolder();
    const url = `postgres://u:${KEY}@db.example/o`;
    expect(at(url)).toMatchObject({ password: KEY, address: 'postgres://u@db.example/o' });
    expect(at(`postgres://u:${KEY}@a:1,b:2/o`)).toMatchObject({ password: KEY, address: 'postgres://u@a:1,b:2/o' });
    const env = { ORDER_SYNC_DATABASE_PASSWORD_FILE: join(cwd, 'password') };
    writeFileSync(join(cwd, 'password'), 'from-file\n', { mode: 0o600 });
    expect(at(url, env)).toMatchObject({ password: 'from-file' });
    const sources = configSources({ env: { ORDER_SYNC_DATABASE_URL: url, ...env }, cwd, file: null });
    expect(sources).toContainEqual(expect.objectContaining({ value: 'postgres://u@db.example/o' }));
    expect(JSON.stringify(sources)).not.toMatch(/k3y|from-file/);
  });

  it('takes the accounts of several processes, and one of SQLite none', () => {
    const env = { ORDER_SYNC_WORKERS_INSTANCES: '2' };
    expect(loadWith({ ORDER_SYNC_DATABASE_URL: 'postgres://u@h/o', ...env }).workers.instances).toBe(2);
    expect(refusalOf({ ORDER_SYNC_DATABASE_URL: 'sqlite:o.db', ...env })).toMatch(/workers\.instances/);
    const standbys = { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: '1' };
    expect(refusalOf({ ORDER_SYNC_DATABASE_URL: 'sqlite:o.db', ...standbys })).toMatch(/synchronousStandbys/);
  });

  it.each([
    ['mysql://a/b', /postgres:/],
    ['postgres:///o', /name the host/],
    ['postgres://h', /DATABASE/],
    ['postgres://a,,b/o', /name the host/],
    ['postgres://a,a:5432/o', /once/],
    ['postgres://a,b/o?host=/run/pg', /one folder/],
    ['postgres://a,%2Frun%2Fpg/o', /one folder/],
    [`postgres://${Array.from({ length: 11 }, (_, index) => `h${index}`).join()}/o`, /at most 10/],
    ['postgres://a:1,b:70000/o', /port/],
    ['postgres://h:0/o', /port/],
    ['postgres://h/o?sslmode=disable', /database\.tls/],
    ['postgres://h/o?hots=a', /parameter hots/],
    ['postgres://h/o?host=run', /absolute folder/],
    [`postgres://u:${KEY}%zz@h/o`, /hexadecimal/],
    [`postgres://u:${KEY}@x@h/o`, /%40/],
  ])('is not at %s', (url, reason) => {
    expect(refusalOf({ ORDER_SYNC_DATABASE_URL: url })).toMatch(reason);
  });
});
