import type { Extension } from '../../cli/extension.ts';

/** The events of the accounts, in their order: pages and streams. */
export const feed: Extension = {
  name: 'feed',
  operations: {
    listEvents: {
      method: 'GET',
      scopes: ['read'],
      url: '/events',
      rest: 'query',
      read: async () => (await import('./operations.ts')).OPERATIONS.listEvents,
    },
  },
  commands: {
    'More commands:': {
      events: ['what has happened, in its order, and what happens', () => import('./command.ts'), 'one-or-all'],
    },
  },
};
