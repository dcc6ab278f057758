import type { Extension } from '../../cli/extension.ts';

/** An exchange to try things on, and a demonstration on it. */
export const sandbox: Extension = {
  name: 'sandbox',
  welcome:
    'New here? `order-sync demo` shows it at work on a sandbox exchange, without any\nsettings. `order-sync init` sets it up for your own.',
  commands: {
    'First steps:': {
      demo: ['runs the orders of a shop to their end, on a sandbox exchange', () => import('./demo/demo.ts')],
      sandbox: ['runs an exchange to try things on', () => import('./command.ts')],
    },
  },
};
