import { Migrator, type Migration } from 'kysely/migration';
import { MIGRATIONS } from '../../migrations/index.ts';
import { StoreError } from './errors.ts';
import type { Database, MigrationStatus, Store } from './port.ts';

/** The kinds of databases, each with migrations of its own. */
export type DatabaseKind = keyof typeof MIGRATIONS;

/**
 * What a command wants of a database: `migrate` makes it or brings it up to date; `upgrade` only the latter; `current` wants
 * one that is up to date; `any` takes an older one too.
 */
export type Expectation = 'migrate' | 'upgrade' | 'current' | 'any';

/** Tells which migrations a database has, of which those in `applied` ran. */
export function migrationStatus(kind: DatabaseKind, applied: readonly string[]): MigrationStatus {
  return { applied, pending: Object.keys(MIGRATIONS[kind]).filter((name) => !applied.includes(name)) };
}

/** Throws `StoreError` where the tables are not what a command wants. */
export function assertKnownVersion(
  { kind, address }: { readonly kind: DatabaseKind; readonly address: string },
  applied: readonly string[],
  expectation: Expectation,
): void {
  const unknown = applied.find((name) => !Object.hasOwn(MIGRATIONS[kind], name));
  if (unknown !== undefined) {
    throw unusable(`${address} was made by another version of order-sync (migration ${unknown}); use that version`);
  }
  if (expectation === 'current' && applied.length === 0) {
    const hint = 'check database.url, or make them with: order-sync db migrate';
    throw unusable(`${address} is a database without the tables of order-sync; ${hint}`);
  }
  if (expectation === 'current' && !isUpToDate(kind, applied)) {
    throw unusable(`${address} is not up to date; bring it up to date with: order-sync db migrate`);
  }
}

/**
 * Throws `StoreError` where a newer version has changed the tables meanwhile: this one would take them for what they were. A
 * database that cannot be asked for now is asked again.
 */
export async function assertNotNewer({ address, migrations }: Pick<Store, 'address' | 'migrations'>): Promise<void> {
  const { applied } = await migrations().catch((error: unknown) => {
    if (error instanceof StoreError) return { applied: [] };
    throw error;
  });
  const known: readonly string[] = Object.values(MIGRATIONS).flatMap((ofKind) => Object.keys(ofKind));
  const newer = applied.find((name) => !known.includes(name));
  if (newer === undefined) return;
  throw unusable(
    `a newer version of order-sync has changed ${address} (migration ${newer}); start that version here too`,
  );
}

/** Asked before the migrator, which describes every table to itself to find that there is nothing to do. */
export function isUpToDate(kind: DatabaseKind, applied: readonly string[]): boolean {
  return applied.length === Object.keys(MIGRATIONS[kind]).length;
}

/** Runs the migrations that wait. Throws `StoreError`; what the driver says is told by `explain`. */
export async function migrate(
  db: Database,
  { kind, address }: { readonly kind: DatabaseKind; readonly address: string },
  explain: (error: unknown) => unknown,
): Promise<void> {
  const provider = { getMigrations: async (): Promise<Record<string, Migration>> => ({ ...MIGRATIONS[kind] }) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error === undefined) return;
  const known = explain(error);
  if (known instanceof StoreError) throw known;
  const detail = error instanceof Error ? error.message : 'no reason given';
  throw unusable(`${address} could not be migrated: ${detail}`, { cause: error });
}

function unusable(message: string, options?: ErrorOptions): StoreError {
  return new StoreError('unusable', message, options);
}
