import { file, section, settingsPart } from '../../settings/settings.ts';
import { apiUrl, flag, headerText, optional, plainText } from '../../settings/values.ts';

const api = section({
  advertise: optional(apiUrl),
  insecure: flag,
  token: optional(headerText),
  tokenFile: file,
});

export const apiSettings = settingsPart({
  sections: { control: section({ socket: optional(plainText) }), api },
  secrets: ['api.token'],
  files: ['control.socket'],
});
