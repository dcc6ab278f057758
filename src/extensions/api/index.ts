import type { Extension } from '../../cli/extension.ts';

/** The control socket of a daemon. */
export const api: Extension = {
  name: 'api',
  commands: {
    'Other:': { openapi: ['prints the OpenAPI document of the control socket', () => import('./command.ts')] },
  },
};
