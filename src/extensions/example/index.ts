import type { Extension } from '../../cli/extension.ts';

/** A complete extension, to begin another with: the statuses that the exchange uses, in a command and in the log. */
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
