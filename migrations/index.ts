import type { Migration } from 'kysely/migration';
import { up as initial } from './0001_initial.ts';
import { up as links } from './0002_links.ts';
import { up as photos } from './0003_photos.ts';
import { up as reconciliation } from './0004_reconciliation.ts';

/** Every migration by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_initial': { up: initial },
  '0002_links': { up: links },
  '0003_photos': { up: photos },
  '0004_reconciliation': { up: reconciliation },
};
