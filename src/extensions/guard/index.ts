import type { Extension } from '../../cli/extension.ts';

/** Limits of creates, which stop an account that suddenly sends too much. */
export const guard: Extension = {
  name: 'guard',
  settings: async () => (await import('./settings.ts')).guardSettings,
  parts: async () => ({ makeGuard: (await import('./create-guard.ts')).createGuard }),
};
