import type { ServiceMaker } from '../../daemon.ts';
import { receivePhotos } from './photo-receiver.ts';

/** Receives photos. */
export const clientsService: ServiceMaker = {
  async start(deps) {
    const photos = await receivePhotos({ ...deps, photos: deps.config.photos }, deps.stop);
    return { work: photos.waiting, close: photos.close };
  },
};
