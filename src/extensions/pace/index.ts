import type { Extension } from '../../cli/extension.ts';

export const pace: Extension = {
  name: 'pace',
  settings: async () => (await import('./settings.ts')).paceSettings,
  parts: async () => ({ makePaces: (await import('./follow-pace.ts')).learningPaces }),
};
