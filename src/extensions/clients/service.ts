import type { Purge, ServiceMaker } from '../../daemon.ts';
import { receivePhotos } from './photo-receiver.ts';
import { purgeSomePhotos } from './photos.ts';
import { clientsSettings } from './settings.ts';

export const clientsService: ServiceMaker = {
  async start(deps) {
    const ageMs = clientsSettings.of(deps.config).retention.photos;
    const deleteSome: Purge['deleteSome'] = (store, query) => purgeSomePhotos({ ...deps, store }, query);
    deps.services.purges.push({ name: 'photos', ageMs, deleteSome });
    const photos = await receivePhotos(deps, deps.stop);
    return { work: photos.waiting, close: photos.close };
  },
};
