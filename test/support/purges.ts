import type { Services } from '../../src/daemon.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Config } from '../../src/settings/config.ts';
import { purgeSomePhotos } from '../../src/extensions/clients/photos.ts';
import { purgeKeptAnswers } from '../../src/extensions/intake/retention.ts';
import { purgeDeadLetters } from '../../src/extensions/webhooks/webhooks.ts';

type Purges = Services['purges'];

/** What the daemon deletes by age. */
export function purgesOf({ clock, photos }: { readonly clock: Clock } & Pick<Config, 'photos'>): Purges {
  return {
    keptAnswers: purgeKeptAnswers,
    deadLetters: purgeDeadLetters,
    photos: (store, query) => purgeSomePhotos({ store, clock, photos }, query),
  };
}
