import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Migrations } from '../../migrations/index.ts';
import { StoreError, unusable } from './errors.ts';
import type { Database, MigrationStatus, Store } from './port.ts';

interface Migrated {
  readonly migrations: Migrations;
  readonly address: string;
}

/** `migrate` makes or updates tables; `upgrade` updates them; `current` refuses older tables, `any` does not. */
export type Expectation = 'migrate' | 'upgrade' | 'current' | 'any';

const MOST_NAMED = 5;
/** A migration that only adds, such as `0006_expand_notes`. An earlier version works with the added tables. */
const EXPANDING = /^\d+_expand_/;

export type AppliedMigrations = ReadonlyMap<string, string | null>;

export function migrationStatus(migrations: Migrations, applied: AppliedMigrations): MigrationStatus {
  const known = Object.keys(migrations);
  const names = [...applied.keys()];
  const newer = names.filter((name) => !known.includes(name) && !EXPANDING.test(name));
  return { applied: names, pending: known.filter((name) => !applied.has(name)), newer };
}

/** Throws `StoreError` for unexpected tables. `others` are other programs' tables in a database without migrations. */
export function assertKnownVersion(
  { migrations, address }: Migrated,
  applied: AppliedMigrations,
  expectation: Expectation,
  others: readonly string[],
): void {
  const [unknown] = migrationStatus(migrations, applied).newer;
  if (unknown !== undefined) {
    throw unusable(`${address} was made by another version of order-sync (migration ${unknown}); use that version`);
  }
  const other = Object.keys(migrations).find(
    (name) => applied.has(name) && applied.get(name) !== migrations[name]?.hash,
  );
  if (other !== undefined) {
    const advice =
      'use that commit, or move the orders to a new database: run orders export with that commit and orders adopt with this one';
    throw unusable(
      `${address} was made by another commit of order-sync, whose migration ${other} has other statements; ${advice}`,
    );
  }
  if (expectation !== 'any' && others.length > 0) {
    const names = `${others.slice(0, MOST_NAMED).join(', ')}${others.length > MOST_NAMED ? ', …' : ''}`;
    const advice =
      'correct database.url, or make the tables of order-sync beside these tables with: order-sync db migrate --into-existing (init has this option, too)';
    throw unusable(`${address} has other tables (${names}) and none of order-sync; ${advice}`);
  }
  if (expectation === 'current' && applied.size === 0) {
    const hint = 'check database.url, or make them with: order-sync db migrate';
    throw unusable(`${address} is a database without the tables of order-sync; ${hint}`);
  }
  if (expectation === 'current' && !isUpToDate(migrations, applied)) {
    throw unusable(`${address} is not up to date; bring it up to date with: order-sync db migrate`);
  }
}

/** Throws `StoreError` if a newer version has changed the tables. Ignores a `StoreError` of `migrations`. */
export async function assertNotNewer({ address, migrations }: Pick<Store, 'address' | 'migrations'>): Promise<void> {
  const { newer } = await migrations().catch((error: unknown) => {
    if (error instanceof StoreError) return { newer: [] };
    throw error;
  });
  const [name] = newer;
  if (name === undefined) return;
  throw unusable(
    `a newer version of order-sync has changed ${address} (migration ${name}); start that version here too`,
  );
}

/** Lets the caller skip the migrator, because the migrator reads the description of every table. */
export function isUpToDate(migrations: Migrations, applied: AppliedMigrations): boolean {
  return migrationStatus(migrations, applied).pending.length === 0;
}

export function foreignTables(address: string, names: readonly string[]): StoreError {
  return unusable(`${address} holds tables of another program (${names.join(', ')}); name an empty database`);
}

export async function migrate(db: Database, { migrations, address }: Migrated, explain: (error: unknown) => unknown) {
  const recorded = (name: string, { up, hash }: Migrations[string]): Migration => ({
    async up(tx) {
      await up(tx);
      await sql`insert into migration_hashes (name, hash) values (${name}, ${hash})`.execute(tx);
    },
  });
  const named = Object.entries(migrations).map(([name, one]) => [name, recorded(name, one)]);
  const provider = { getMigrations: async () => Object.fromEntries(named) };
  const { Migrator } = await import('kysely/migration');
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error === undefined) return;
  const known = explain(error);
  if (known instanceof StoreError) throw known;
  const detail = error instanceof Error ? error.message : 'no reason given';
  throw unusable(`${address} could not be migrated: ${detail}`, { cause: error });
}
