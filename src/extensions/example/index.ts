import type { Extension } from '../../cli/extension.ts';

/** A complete extension to copy. A command lists the statuses of the exchange; a listener counts new statuses. */
export const example: Extension = {
  name: 'example',
  settings: async () => (await import('./settings.ts')).exampleSettings,
  parts: async () => ({ listeners: [(await import('./listener.ts')).countNewStatuses] }),
  commands: {
    'More commands:': {
      statuses: ['lists the statuses that the exchange has used', () => import('./command.ts'), 'one'],
    },
  },
};
