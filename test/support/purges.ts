import type { Clock } from '../../src/base/clock.ts';
import type { Config } from '../../src/settings/config.ts';
import { purgeSomePhotos } from '../../src/extensions/clients/photos.ts';
import { purgeAccount, purgeKeptAnswers } from '../../src/extensions/intake/retention.ts';
import { purgeDeadLetters } from '../../src/extensions/webhooks/webhooks.ts';

type Purges = Parameters<typeof purgeAccount>[0]['purges'];

/** What the daemon deletes by age. */
export function purgesOf({ clock, photos }: { readonly clock: Clock } & Pick<Config, 'photos'>): Purges {
  return {
    keptAnswers: purgeKeptAnswers,
    deadLetters: purgeDeadLetters,
    photos: (store, query) => purgeSomePhotos({ store, clock, photos }, query),
  };
}
