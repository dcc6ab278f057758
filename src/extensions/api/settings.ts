import { section, settingsPart } from '../../settings/settings.ts';
import { optional, plainText } from '../../settings/values.ts';

export const apiSettings = settingsPart({
  sections: { control: section({ socket: optional(plainText) }) },
  files: ['control.socket'],
});
