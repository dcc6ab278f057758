import type { ServiceMaker } from '../../daemon.ts';
import { relayRequests } from './relay.ts';
import { newKeyPair } from './table-transport.ts';

/** Passes requests that come through PostgreSQL, from commands on other machines, to the control socket. */
export function relayService(): ServiceMaker {
  const keys = newKeyPair();
  return {
    prepare: async ({ database }) => (database.kind === 'postgres' ? { publicKey: keys.publicKey } : {}),
    async start(deps) {
      const { socketPath } = deps.services;
      if (socketPath === undefined || deps.config.database.kind !== 'postgres') return {};
      return { work: relayRequests({ ...deps, keys, socketPath }, deps.stop) };
    },
  };
}
