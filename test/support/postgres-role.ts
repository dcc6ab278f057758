import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './folders.ts';
import { openMerchant } from './merchant-postgres.ts';
import { OWNER } from './postgres-server.ts';
import { newPostgresDatabase, type PostgresTestDatabase } from './postgres.ts';

/** A role that may do what the owner of the tables may, with a password of its own in a file. */
export interface RoleWithPassword {
  /** The database as the settings name it; the password stands in the file alone. */
  readonly url: string;
  readonly file: string;
  /** Writes a password into the file; undefined takes the file away. */
  readonly write: (password: string | undefined) => void;
  /** Changes the password on the server. */
  readonly alter: (password: string) => void;
  /** Ends all connections of the role. */
  readonly endConnections: () => void;
}

/** Makes such a role, which is gone with the server. Its first password is `first`. */
export function roleWithPassword(database: PostgresTestDatabase): RoleWithPassword {
  const name = `worker_${randomBytes(6).toString('hex')}`;
  const admin = openMerchant(database, 'postgres');
  admin.exec(`create role ${name} login password 'first' in role ${OWNER}`);
  const file = join(temporaryFolder(), 'password');
  const url = new URL(database.url);
  [url.username, url.password] = [name, ''];
  const role: RoleWithPassword = {
    url: url.href,
    file,
    write(password) {
      if (password === undefined) rmSync(file);
      else writeFileSync(file, `${password}\n`, { mode: 0o600 });
    },
    alter: (password) => admin.exec(`alter role ${name} password '${password}'`),
    endConnections: () =>
      admin.exec(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${name}'`),
  };
  role.write('first');
  return role;
}

const DOCS = new URL('../../docs/postgresql.md', import.meta.url);

/** The statements of the manual that make the role of the workers, and its rights. */
function documentedStatements(role: string): readonly string[] {
  const blocks = [...readFileSync(DOCS, 'utf8').matchAll(/```sql\n([^`]*\border_sync_worker\b[^`]*)```/g)];
  return blocks.map(([, block = '']) => block.replaceAll(/^\\.*$/gm, '').replaceAll('order_sync_worker', role));
}

/** A role with the documented rights, which is gone with the server, and the address with it. */
export async function documentedRole() {
  const database = await newPostgresDatabase();
  const role = `worker_${randomBytes(6).toString('hex')}`;
  const [make = '', grant = ''] = documentedStatements(role);
  const owner = openMerchant(database);
  const admin = openMerchant(database, 'postgres');
  admin.exec(make);
  admin.exec(`alter role ${role} password 'of-the-worker'`);
  owner.exec(grant);
  const url = Object.assign(new URL(database.url), { username: role, password: 'of-the-worker' }).href;
  return { database, owner, admin, role, worker: openMerchant(database, role), url };
}
