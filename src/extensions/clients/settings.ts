import { cron } from '../../settings/cron.ts';
import { section, settingsPart } from '../../settings/settings.ts';
import * as type from '../../settings/values.ts';
import { listenAddress } from '../http/settings.ts';
import { PHOTO_TYPES } from './photo.ts';

const photos = section({
  listen: listenAddress,
  folder: type.plainText,
  types: type.wordsOf(...PHOTO_TYPES),
  tokenLifetime: type.duration('90d'),
  maxFileBytes: type.size,
  maxFiles: type.wholeNumber(1, 1_000),
  maxTotalBytes: type.size,
  timeout: type.duration('1h'),
  concurrency: type.wholeNumber(1, 100),
});

export const clientsSettings = settingsPart({
  sections: { links: section({ cron: type.optional(cron), finalStatuses: type.words }), photos },
  fields: { retention: { photos: type.optional(type.duration('3650d')) } },
  files: ['photos.folder'],
});
export type PhotoSettings = ReturnType<typeof clientsSettings.of>['photos'];
