import { settingsPart } from '../../settings/settings.ts';
import { optional, wholeNumber } from '../../settings/values.ts';

/** `log.statuses`: how many statuses the command lists. An extension of the package has its defaults in `config/default.yaml`. */
export const exampleSettings = settingsPart({
  fields: { log: { statuses: optional(wholeNumber(1, 1_000)).optional() } },
});
