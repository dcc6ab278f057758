import type { Extension } from '../../cli/extension.ts';

export const sandbox: Extension = {
  name: 'sandbox',
  welcome:
    'New here? `order-sync demo` shows order-sync at work on a sandbox exchange,\nwithout any settings. `order-sync init` makes settings for your own exchange.',
  commands: {
    'First steps:': {
      demo: ['runs the orders of a shop to their end, on a sandbox exchange', () => import('./demo/demo.ts')],
      sandbox: ['runs an exchange to try things on', () => import('./command.ts')],
    },
  },
};
