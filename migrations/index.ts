import type { Migration } from 'kysely/migration';
import { up as postgresInitial } from './postgres/0001_initial.ts';
import { up as postgresDeliveries } from './postgres/0002_webhook_deliveries.ts';
import { up as postgresNotify } from './postgres/0003_notify.ts';
import { up as sqliteInitial } from './sqlite/0001_initial.ts';
import { up as sqliteDeliveries } from './sqlite/0002_webhook_deliveries.ts';
import { up as sqliteQuickMoves } from './sqlite/0003_quick_moves.ts';
import { up as sqliteQuickFollowed } from './sqlite/0004_quick_followed.ts';

/**
 * The SHA-256 of the statements that each migration runs. A database keeps it, so that tables of another commit are known as such.
 * Migrations are only added once a version was released. test/store/migrations.test.ts prints the new value after a change.
 */
const SQLITE_0001 = 'e25baba0d916abe2345272540a60db207f576973adc1c03537e9b8de6c339e90';
const SQLITE_0002 = '793d6a3816a98d035ab33f09d5b78b4198195e7b0f6c873da01344497814d191';
const SQLITE_0003 = 'c72316af26a400ae7138705fa7a2679bba266b3997f3d28b816f38e6be46450d';
const SQLITE_0004 = 'a048b5c0f5043061d660667722052f6a9d268e9efe271e5e8a56f74214c7e97d';
const POSTGRES_0001 = '96d9018b66d06cf68934492fca1c22c200fe9c2f5b516b52f3257b69bf8a5b17';
const POSTGRES_0002 = '2f144d9907f9cdf3ea40a265d3184a8229556aa8335f9b670b4c4b99e25d00fe';
const POSTGRES_0003 = 'bb6d741c47f1c8b5ceecb638d8e494a8aee34c89b10f5b3ccf476f0c6c654153';

/** A migration with the hash of its statements. */
interface HashedMigration extends Migration {
  readonly hash: string;
}

/** Every migration of each dialect by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  sqlite: {
    '0001_initial': { up: sqliteInitial, hash: SQLITE_0001 },
    '0002_webhook_deliveries': { up: sqliteDeliveries, hash: SQLITE_0002 },
    '0003_quick_moves': { up: sqliteQuickMoves, hash: SQLITE_0003 },
    '0004_quick_followed': { up: sqliteQuickFollowed, hash: SQLITE_0004 },
  },
  postgres: {
    '0001_initial': { up: postgresInitial, hash: POSTGRES_0001 },
    '0002_webhook_deliveries': { up: postgresDeliveries, hash: POSTGRES_0002 },
    '0003_notify': { up: postgresNotify, hash: POSTGRES_0003 },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, HashedMigration>>>>;
