import { settingsPart } from '../../settings/settings.ts';
import { optional, wholeNumber } from '../../settings/values.ts';

/** `log.statuses` limits the list. Settings of the package have their defaults in `config/default.yaml` instead. */
export const exampleSettings = settingsPart({
  fields: { log: { statuses: optional(wholeNumber(1, 1_000)).optional() } },
});
