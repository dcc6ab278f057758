import { settingsPart } from '../../settings/settings.ts';
import { optional, wholeNumber } from '../../settings/values.ts';

/** `log.statuses` limits the command's list. It is optional, because `config/default.yaml` has no default for it. */
export const exampleSettings = settingsPart({
  fields: { log: { statuses: optional(wholeNumber(1, 1_000)).optional() } },
});
