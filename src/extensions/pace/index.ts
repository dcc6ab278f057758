import type { Extension } from '../../cli/extension.ts';

/** Look-ups that are spaced by the history of the account: `follow.pace: learned`. */
export const pace: Extension = {
  name: 'pace',
  settings: async () => (await import('./settings.ts')).paceSettings,
  parts: async () => ({ makePaces: (await import('./follow-pace.ts')).learningPaces }),
};
