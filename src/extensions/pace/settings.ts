import { z } from 'zod';
import { settingsPart } from '../../settings/settings.ts';
import { duration, oneOf, text } from '../../settings/values.ts';

const kind = oneOf('learned', 'every-tick');
const pace = z.preprocess((given, context) => {
  if (given === 'spaced') context.addIssue('cannot be spaced any more: write learned, which needs no steps');
  return given;
}, kind);

const share = text(
  (given) => {
    const parsed = /^[01](\.\d{1,6})?$/.test(given) ? Number(given) : Number.NaN;
    if (!(parsed > 0 && parsed <= 1)) throw new Error('must be a number above 0, up to 1, such as 0.5');
    return parsed;
  },
  { type: 'number', exclusiveMinimum: 0, maximum: 1 },
);

export const paceSettings = settingsPart({
  fields: { follow: { pace, worth: duration('1d'), share } },
  gone: { 'follow.steps': 'is gone: delete it, and write follow.pace: learned, which needs no steps' },
});
