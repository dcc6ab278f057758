import type { Config } from '../../config/config.ts';
import { StoreError } from '../../store/errors.ts';
import { AddressInUseError, servePhotos, type PhotoReceiver } from './receiver.ts';

/** A worker that waits looks so often whether the address is free. */
const LOOK_MS = 5_000;

type OneReceiverDeps = Parameters<typeof servePhotos>[0] & { readonly config: Pick<Config, 'database'> };

/**
 * Receives photos where `photos.listen` is set. Of several workers on a machine one does, as photos are files of the machine; the
 * others wait until it has ended. Throws `ConfigError` if it cannot listen; `waiting` rejects with it if that shows only
 * later.
 */
export async function receivePhotos(deps: OneReceiverDeps, stopping: AbortSignal) {
  const { clock, log, config } = deps;
  const { listen } = deps.photos;
  let receiver: PhotoReceiver | undefined;
  /** False while another worker has the address. */
  const begin = async () => {
    try {
      if (listen !== undefined) receiver = await servePhotos(deps, listen, stopping);
      return true;
    } catch (error) {
      if (config.database.kind === 'postgres' && error instanceof AddressInUseError) return false;
      throw error;
    }
  };
  const wait = async () => {
    for (;;) {
      await clock.sleep(LOOK_MS, stopping).catch(() => undefined);
      if (stopping.aborted) return;
      try {
        if (await begin()) return;
      } catch (error) {
        // A database that is out of reach comes back.
        if (!(error instanceof StoreError)) throw error;
      }
    }
  };
  const isAlone = await begin();
  if (!isAlone) {
    log.warn({ ...listen }, 'another process listens at photos.listen; this one receives photos when that has ended');
  }
  const waiting = isAlone ? Promise.resolve() : wait();
  const close = async () => {
    await waiting.catch(() => undefined);
    await receiver?.close();
  };
  return { waiting, close, [Symbol.asyncDispose]: close };
}
