import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import type { Store } from '../../../src/store/port.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { findPostgres, OWNER, startPostgres, type PostgresServer } from '../../support/postgres-server.ts';
import { placeOf } from '../../support/postgres-store.ts';

const BIN = findPostgres();
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

interface Authority {
  /** The file of its certificate. */
  readonly file: string;
  /** Signs a certificate for names of a host; the files of its key and of itself. */
  sign(names: string, days?: number): { readonly key: string; readonly cert: string };
}

function newAuthority(): Authority {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '9');
  return {
    file: at('ca.pem'),
    sign(names, days = 9) {
      openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=server');
      writeFileSync(at('names'), `subjectAltName=${names}`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', String(days)];
      openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...by);
      return { key: at('server.key'), cert: at('server.pem') };
    },
  };
}

const OF_SERVER = 'IP:127.0.0.1';

describe.skipIf(BIN === undefined || !hasOpenssl)('a server with TLS', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let authority: Authority;

  const install = (files: ReturnType<Authority['sign']>) => {
    const { uid, gid } = statSync(server.folder);
    for (const [from, name] of [
      [files.key, 'server.key'],
      [files.cert, 'server.crt'],
    ] as const) {
      const to = join(server.folder, 'data', name);
      copyFileSync(from, to);
      chownSync(to, uid, gid);
    }
  };
  /** Has the server show a certificate to whoever connects from now on. */
  const show = async (files: ReturnType<Authority['sign']>) => {
    install(files);
    await admin.query('alter system set ssl = on');
    await admin.query('select pg_reload_conf()');
    // The processes of new connections have it once the postmaster has read it.
    const shown = async () =>
      spawnSync('openssl', ['s_client', '-starttls', 'postgres', '-connect', `127.0.0.1:${server.port}`], {
        input: '',
      });
    const certificate = /-----BEGIN[^-]*/.exec(readFileSync(files.cert, 'utf8'))?.[0] ?? '';
    while (!String((await shown()).stdout).includes(certificate));
  };

  const place = (tlsCaFile: string, tls = 'verify') =>
    placeOf(server.url('shop'), {
      ORDER_SYNC_DATABASE_TLS: tls,
      ...(tls === 'verify' && { ORDER_SYNC_DATABASE_TLS_CA_FILE: tlsCaFile }),
    });
  const open = async (...where: Parameters<typeof place>) => {
    const store = await openStore(place(...where), systemClock(), { expect: 'migrate' });
    onTestFinished(() => store.close());
    return store;
  };
  /** The result of a new connection. */
  const answer = async ({ db }: Store) => {
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${OWNER}'`);
    await sql`select 1`.execute(db).catch(() => undefined);
    return await sql`select 1`.execute(db).then(
      () => 'answered',
      (error: unknown) => error,
    );
  };
  const refused = (code: string) =>
    expect.objectContaining({ problem: 'denied', cause: expect.objectContaining({ code }) });

  beforeAll(async () => {
    server = await startPostgres(BIN ?? '');
    admin = server.admin();
    await admin.query(`create database shop owner ${OWNER}`);
  });
  afterAll(async () => {
    await admin.end();
    await server[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    authority = newAuthority();
    await show(authority.sign(OF_SERVER));
  });

  it('is used by its authority, encrypted, with a password by SCRAM', async () => {
    const store = await open(authority.file);
    const { rows } = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.db);
    expect(rows).toEqual([{ ssl: 1 }]);
    const { rows: rules } = await admin.query(
      `select auth_method from pg_hba_file_rules where type = 'host' and auth_method <> 'scram-sha-256'`,
    );
    expect(rules).toEqual([]);
  });

  it.each([
    ['another authority has signed', async () => newAuthority().sign(OF_SERVER), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['is of another host', async () => authority.sign('DNS:elsewhere.example'), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['has expired', async () => authority.sign(OF_SERVER, -1), 'CERT_HAS_EXPIRED'],
  ])('is refused whose certificate %s, and used without a check if that is set', async (_name, sign, code) => {
    await show(await sign());
    await expect(open(authority.file)).rejects.toEqual(refused(code));
    await open(authority.file, 'require');
  });

  it('has its certificate replaced while connections are open', async () => {
    const store = await open(authority.file);
    await show(authority.sign(OF_SERVER));
    expect(await answer(store)).toBe('answered');
  });

  it('has another authority from the moment when the file of the authorities is replaced', async () => {
    const store = await open(authority.file);
    const next = newAuthority();
    await show(next.sign(OF_SERVER));
    expect(await answer(store)).toEqual(refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
    // Both, as while servers change one after the other.
    writeFileSync(
      authority.file,
      `${readFileSync(authority.file, 'utf8')}\n# next\n${readFileSync(next.file, 'utf8')}`,
    );
    expect(await answer(store)).toBe('answered');
    copyFileSync(next.file, authority.file);
    expect(await answer(store)).toBe('answered');
  });

  it('keeps the authorities that it had while their file is of no use, which is refused at the start', async () => {
    const store = await open(authority.file);
    const whole = readFileSync(authority.file, 'utf8');
    for (const text of ['', 'nothing', whole.slice(0, 200), `${whole}${whole.slice(0, 200)}`]) {
      writeFileSync(authority.file, text);
      expect(await answer(store)).toBe('answered');
      await expect(open(authority.file)).rejects.toMatchObject({
        problem: 'unusable',
        message: expect.stringContaining('database.tlsCaFile'),
      });
    }
  });
});
