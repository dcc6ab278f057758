import type { Extension } from '../../cli/extension.ts';

/** The way from a command to the owner of an account on another machine: a sealed row of PostgreSQL. */
export const relay: Extension = {
  name: 'relay',
  service: async () => (await import('./service.ts')).relayService(),
};
