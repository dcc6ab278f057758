import type { Kysely } from 'kysely';
import { up as initial } from './sqlite/0001_initial.ts';
import { up as deliveries } from './sqlite/0002_webhook_deliveries.ts';
import { up as quickMoves } from './sqlite/0003_quick_moves.ts';
import { up as quickFollowed } from './sqlite/0004_quick_followed.ts';
import { up as idempotentRequests } from './sqlite/0005_idempotent_requests.ts';

/**
 * The SHA-256 of the statements that each migration runs. A database keeps it, so that tables of another commit are known as such.
 * Migrations are only added once a version was released. test/store/migrations.test.ts prints the new value after a change.
 */
const SQLITE_0001 = 'e25baba0d916abe2345272540a60db207f576973adc1c03537e9b8de6c339e90';
const SQLITE_0002 = '793d6a3816a98d035ab33f09d5b78b4198195e7b0f6c873da01344497814d191';
const SQLITE_0003 = 'c72316af26a400ae7138705fa7a2679bba266b3997f3d28b816f38e6be46450d';
const SQLITE_0004 = 'a048b5c0f5043061d660667722052f6a9d268e9efe271e5e8a56f74214c7e97d';
const SQLITE_0005 = '89f518e024fd773631a90d63cacf8c08cb6ace77525371febfbd6a77412196e9';

/** A migration with the hash of its statements. */
interface HashedMigration {
  readonly up: (db: Kysely<unknown>) => Promise<void>;
  readonly hash: string;
}

export type Migrations = Readonly<Record<string, HashedMigration>>;

/** Every migration of SQLite by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  '0001_initial': { up: initial, hash: SQLITE_0001 },
  '0002_webhook_deliveries': { up: deliveries, hash: SQLITE_0002 },
  '0003_quick_moves': { up: quickMoves, hash: SQLITE_0003 },
  '0004_quick_followed': { up: quickFollowed, hash: SQLITE_0004 },
  '0005_idempotent_requests': { up: idempotentRequests, hash: SQLITE_0005 },
} as const satisfies Migrations;
