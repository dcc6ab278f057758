import type { Migration } from 'kysely/migration';
import { up as postgresInitial } from './postgres/0001_initial.ts';
import { up as sqliteInitial } from './sqlite/0001_initial.ts';

/**
 * The SHA-256 of the statements that each migration runs. A database keeps it, so that tables of another commit are known as such.
 * Migrations are only added once a version was released. test/store/migrations.test.ts prints the new value after a change.
 */
const SQLITE_0001 = '5f5147472e58bd9ab0ea1e9bb0986e149c4fecc7bb301c7b76f7583cc54a87c9';
const POSTGRES_0001 = '4a90607d78933a92fe48e870af09c8e2e60607fd93668dde98f1a4888b028e3b';

/** A migration with the hash of its statements. */
interface HashedMigration extends Migration {
  readonly hash: string;
}

/** Every migration of each dialect by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  sqlite: { '0001_initial': { up: sqliteInitial, hash: SQLITE_0001 } },
  postgres: { '0001_initial': { up: postgresInitial, hash: POSTGRES_0001 } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, HashedMigration>>>>;
