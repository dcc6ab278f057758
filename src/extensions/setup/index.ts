import type { Extension } from '../../cli/extension.ts';

const config = () => import('./config.ts');

export const setup: Extension = {
  name: 'setup',
  commands: {
    'First steps:': { init: ['makes the settings and the database, and tries the key', () => import('./init.ts')] },
    'More commands:': {
      config: {
        text: 'settings, where they come from, and whether they are right',
        example: 'order-sync config check',
        commands: {
          show: ['shows every setting with its source', config],
          check: ['says what is wrong with the settings', config],
          schema: ['prints the JSON Schema of the settings', config],
        },
      },
      completion: ['prints the completion script for a shell', () => import('./completion.ts')],
    },
  },
};
