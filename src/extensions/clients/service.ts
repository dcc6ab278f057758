import type { ServiceMaker } from '../../daemon.ts';
import { receivePhotos } from './photo-receiver.ts';
import { purgeSomePhotos } from './photos.ts';

/** Receives photos. */
export const clientsService: ServiceMaker = {
  async start(deps) {
    const { photos } = deps.config;
    deps.services.purges.photos = (store, query) => purgeSomePhotos({ ...deps, store, photos }, query);
    const receiver = await receivePhotos({ ...deps, photos }, deps.stop);
    return { work: receiver.waiting, close: receiver.close };
  },
};
