import type { Extension } from '../../cli/extension.ts';

/** The way from a command to the owner of an account on another machine: a sealed row of PostgreSQL. */
export const relay: Extension = {
  name: 'relay',
  // Loaded for each command that asks: it is light unless the database is PostgreSQL.
  ways: async () => async (config, drivers) =>
    config.database.kind === 'sqlite'
      ? undefined
      : await (await import('./ways.ts')).waysThroughDatabase(config, drivers),
  service: async () => (await import('./service.ts')).relayService(),
};
