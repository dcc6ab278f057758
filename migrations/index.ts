import type { Migration } from 'kysely/migration';
import { up as postgresInitial } from './postgres/0001_initial.ts';
import { up as sqliteInitial } from './sqlite/0001_initial.ts';

/** Every migration of each dialect by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  sqlite: { '0001_initial': { up: sqliteInitial } },
  postgres: { '0001_initial': { up: postgresInitial } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Migration>>>>;
