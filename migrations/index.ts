import type { Migration } from 'kysely/migration';
import { up as initial } from './0001_initial.ts';

/** Every migration by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001_initial': { up: initial } };
