import type { Extension } from '../../cli/extension.ts';

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
      events: [
        'prints the events in their order; --follow also prints new events',
        () => import('./command.ts'),
        'one-or-all',
      ],
    },
  },
};
