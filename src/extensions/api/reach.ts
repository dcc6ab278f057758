import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Extension } from '../../cli/extension.ts';
import type { ServiceMaker } from '../../daemon.ts';
import { ConfigError, type Config } from '../../settings/config.ts';
import { serveApi } from './door/server.ts';
import { isListenedTo, serveControl } from './server.ts';
import { apiSettings } from './settings.ts';
import { controlSocketOf, socketFolder, unusableSocket } from './asking/transport.ts';

/** A socket younger than this is not removed, because its process may not listen yet. */
const NEW_MS = 60_000;
/** A starting worker examines at most this many sockets, because killed workers may have left many. */
const MOST_LOOKED_AT = 200;

const MOST_NAMING = 3;
const UNNAMED: Disposable = { [Symbol.dispose]: () => {} };

/**
 * Returns the control socket of this process. With PostgreSQL, each worker has its own socket, and commands read its
 * path from the database. Sockets of killed workers are removed. `publish` makes `control.socket` a link to the socket,
 * unless another process listens at `control.socket`. Disposing of the result of `publish` removes the link.
 */
export async function reachOf(config: Pick<Config, 'database'>, clock: Clock) {
  if (config.database.kind === 'sqlite') return { socket: controlSocketOf(config), publish: async () => UNNAMED };
  const folder = socketFolder();
  await removeLeft(folder, clock);
  const socket = join(folder, `${randomUUID()}.sock`);
  const { socket: name } = apiSettings.of(config).control;
  return { socket, publish: async () => (name === undefined ? UNNAMED : await nameSocket(socket, name)) };
}

/** Workers that start together may replace each other's link. Commands still find each worker by its socket's path. */
async function nameSocket(socketPath: string, name: string): Promise<Disposable> {
  for (let tries = 1; tries <= MOST_NAMING; tries += 1) {
    try {
      symlinkSync(socketPath, name);
      return {
        [Symbol.dispose]() {
          const isLink = lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() === true;
          if (isLink && readlinkSync(name) === socketPath) rmSync(name, { force: true });
        },
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw unusableSocket(name, error);
    }
    if (await isListenedTo(name)) break;
    const found = lstatSync(name, { throwIfNoEntry: false });
    const isOther = found !== undefined && !found.isSocket() && !found.isSymbolicLink();
    if (isOther) throw new ConfigError(`control.socket: ${name} is there and is no socket; name another path`);
    rmSync(name, { force: true });
  }
  return UNNAMED;
}

async function removeLeft(folder: string, clock: Clock): Promise<void> {
  const paths = readdirSync(folder).filter((name) => name.endsWith('.sock'));
  for (const path of paths.slice(0, MOST_LOOKED_AT).map((name) => join(folder, name))) {
    const found = statSync(path, { throwIfNoEntry: false });
    const isOld = found !== undefined && clock.now().getTime() - found.mtimeMs > NEW_MS;
    if (isOld && found.isSocket() && !(await isListenedTo(path))) rmSync(path, { force: true });
  }
}

/** Serves the operations of all extensions at the control socket and at `api.listen`. */
export function controlService(extensions: readonly Extension[]): ServiceMaker {
  let reach: Awaited<ReturnType<typeof reachOf>> | undefined;
  return {
    async prepare(config, clock) {
      reach = await reachOf(config, clock);
      return { socket: reach.socket, advertise: apiSettings.of(config).api.advertise };
    },
    async start(deps) {
      reach ??= await reachOf(deps.config, deps.clock);
      const { socket } = reach;
      const use = (name: string) => deps.accounts.use(name);
      // One process drives all accounts of a SQLite file, so no answer names another owner.
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
