import type { Extension } from '../../cli/extension.ts';
import type { ServiceMaker } from '../../daemon.ts';
import { reachOf, type Reach } from './reach.ts';
import { apiSettings } from './settings.ts';
import { serveControl } from './server.ts';

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
      const asked = { ...deps, use, extensions, ...(isShared && { ownerUrl }) };
      const control = await serveControl(asked, socket, deps.stop);
      try {
        const name = await reach.publish();
        return {
          async close() {
            await control.close();
            name[Symbol.dispose]();
          },
        };
      } catch (error) {
        // It would keep the process alive.
        await control.close();
        throw error;
      }
    },
  };
}
