import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './folders.ts';
import { openMerchant } from './merchant-postgres.ts';
import { OWNER } from './postgres-server.ts';
import type { PostgresTestDatabase } from './postgres.ts';

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
