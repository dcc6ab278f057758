import { settingsPart } from '../../settings/settings.ts';
import { optional, wholeNumber } from '../../settings/values.ts';

/** `log.statuses` limits the command's list. Only the package's own settings have defaults in `config/default.yaml`. */
export const exampleSettings = settingsPart({
  fields: { log: { statuses: optional(wholeNumber(1, 1_000)).optional() } },
});
