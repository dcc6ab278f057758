import type { Extension } from '../../cli/extension.ts';

/** Learns how soon to look orders up (`follow.pace: learned`). */
export const pace: Extension = {
  name: 'pace',
  makePaces: async () => (await import('./follow-pace.ts')).learningPaces,
};
