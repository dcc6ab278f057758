import type { Extension } from '../../cli/extension.ts';
import { EXCHANGE_OPERATIONS } from './addresses.ts';

export const api: Extension = {
  name: 'api',
  passBeside: async () => (await import('./asking/ask.ts')).passBeside,
  settings: async () => (await import('./settings.ts')).apiSettings,
  service: async (extensions) => (await import('./reach.ts')).controlService(extensions),
  operations: EXCHANGE_OPERATIONS,
  commands: {
    'More commands:': {
      openapi: ['prints the OpenAPI document of the control socket', () => import('./openapi/document.ts')],
    },
  },
};
