import type { Migration } from 'kysely/migration';
import { up as postgresInitial } from './postgres/0001_initial.ts';
import { up as sqliteInitial } from './sqlite/0001_initial.ts';

/**
 * The SHA-256 of the statements that each migration runs. A database keeps it, so that tables of another commit are known as such.
 * Migrations are only added once a version was released. test/store/migrations.test.ts prints the new value after a change.
 */
const SQLITE_0001 = '7d59a9af9c973690d062ca716d687e05e71bec33c1ada558ede4dcbd7cd67b28';
const POSTGRES_0001 = 'f5e08423ffe80bd774e5093caab5e63c8dedda52fd153b589df187c21ac91915';

/** A migration with the hash of its statements. */
interface HashedMigration extends Migration {
  readonly hash: string;
}

/** Every migration of each dialect by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  sqlite: { '0001_initial': { up: sqliteInitial, hash: SQLITE_0001 } },
  postgres: { '0001_initial': { up: postgresInitial, hash: POSTGRES_0001 } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, HashedMigration>>>>;
