import type { Extension } from '../../cli/extension.ts';

const db = () => import('./db.ts');
const accept = () => import('./command.ts');

/** Copies of the database, and the acceptance of a copy that was put back. */
export const restore: Extension = {
  name: 'restore',
  commands: {
    'More commands:': {
      db: {
        commands: {
          check: ['checks that the database is sound, and not older than its mark', db],
          'accept-restore': ['accepts a database that was restored to an older state', accept, 'one-or-all'],
          backup: ['copies the database while it is in use', db],
        },
      },
    },
  },
};
