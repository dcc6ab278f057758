import type { Extension } from '../../cli/extension.ts';
import type { ServiceMaker } from '../../daemon.ts';
import { reachOf, type Reach } from './reach.ts';
import { serveApi } from './door/server.ts';
import { serveControl } from './server.ts';
import { apiSettings } from './settings.ts';

/** Serves the control socket, with the operations of all extensions. */
export function controlService(extensions: readonly Extension[]): ServiceMaker {
  let reach: Reach | undefined;
  return {
    async prepare(config, clock) {
      reach = await reachOf(config, clock);
      return { socket: reach.socket, advertise: apiSettings.of(config).api.advertise };
    },
    async start(deps) {
      reach ??= await reachOf(deps.config, deps.clock);
      const { socket } = reach;
      const use = (name: string) => deps.accounts.use(name);
      // One process drives all accounts of a SQLite file.
      const isShared = deps.config.database.kind !== 'sqlite';
      const ownerUrl = async (name: string) => (await deps.store.driverOf([name]))?.advertise ?? undefined;
      const served = { ...deps, use, extensions, ...(isShared && { ownerUrl }) };
      await using undo = new AsyncDisposableStack();
      const control = await serveControl(served, socket, deps.stop);
      undo.defer(() => control.close());
      undo.use(await reach.publish());
      const api = await serveApi(served, apiSettings.of(deps.config).api, deps.stop);
      const name = undo.move();
      return { close: async () => void (await Promise.all([api.close(), name.disposeAsync()])) };
    },
  };
}
