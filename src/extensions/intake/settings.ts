import { section, settingsPart } from '../../settings/settings.ts';
import { duration, optional } from '../../settings/values.ts';

export const intakeSettings = settingsPart({
  sections: { retention: section({ keptAnswers: optional(duration('3650d')) }) },
});
