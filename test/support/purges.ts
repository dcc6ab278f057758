import type { Clock } from '../../src/base/clock.ts';
import type { Purge } from '../../src/extensions/commands/purges.ts';
import type { Config } from '../../src/settings/config.ts';
import { photosPurge } from '../../src/extensions/clients/photos.ts';
import { deleteSomeKeptAnswers } from '../../src/extensions/intake/retention.ts';
import { deleteSomeDeadLetters } from '../../src/extensions/webhooks/webhooks.ts';

interface Ages {
  readonly keptAnswers?: number;
  readonly deadLetters?: number;
  readonly photos?: number;
}

/** The rows that the daemon deletes by age. */
export function purgesOf(
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  { keptAnswers, deadLetters, photos }: Ages,
): readonly Purge[] {
  return [
    { name: 'keptAnswers', ageMs: keptAnswers, deleteSome: deleteSomeKeptAnswers },
    { name: 'deadLetters', ageMs: deadLetters, deleteSome: deleteSomeDeadLetters },
    { name: 'photos', ageMs: photos, deleteSome: photosPurge({ clock, config }) },
  ];
}
