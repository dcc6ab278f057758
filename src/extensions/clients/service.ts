import type { ServiceMaker } from '../../daemon.ts';
import { receivePhotos } from './photo-receiver.ts';

/** Receives photos. */
export const clientsService: ServiceMaker = {
  async start(deps) {
    const photos = await receivePhotos(deps, deps.stop);
    return { work: photos.waiting, close: photos.close };
  },
};
