import {
  DURATION_SCHEMA,
  meantBy,
  parseDuration,
  settingType,
  TEXT_OR_NUMBER,
  type SettingText,
  type SettingType,
} from './values.ts';

/** Moments after an event, in milliseconds, each later than the one before. */
export const durations = (minCount: number): SettingType<readonly number[]> =>
  settingType({ type: 'array', items: DURATION_SCHEMA, minItems: minCount }, (text) => {
    const moments = listOf(text).map((item) => parseDuration(item));
    if (moments.length < minCount) throw new Error(`must list at least ${minCount} duration`);
    if (moments.some((ms, index) => index > 0 && ms <= moments[index - 1]!)) {
      throw new Error('must list durations that grow, such as [5s, 1m, 1h]');
    }
    return Object.freeze(moments);
  });

/** A list of words, each once. */
export const words: SettingType<readonly string[]> = settingType(
  { anyOf: [{ type: 'array', items: TEXT_OR_NUMBER }, TEXT_OR_NUMBER] },
  (text) => Object.freeze([...new Set(listOf(text))]),
);

/** A list of host names, in lower case. */
export const hostNames: SettingType<readonly string[]> = settingType(
  { type: 'array', items: { type: 'string', pattern: '^[A-Za-z0-9.-]+$' } },
  (text) => {
    const names = words(text);
    const other = names.find((name) => !/^[a-z0-9.-]+$/i.test(name));
    if (other !== undefined) throw new Error('must list names of hosts without a port, such as [ops.shop.example]');
    return Object.freeze(names.map((name) => name.toLowerCase()));
  },
);

/** A list of some of the words given, each once. */
export const wordsOf = <const T extends string>(...allowed: readonly T[]): SettingType<readonly T[]> =>
  settingType({ type: 'array', items: { enum: allowed } }, (text) => {
    const given = words(text);
    const other = given.find((word) => !allowed.some((one) => one === word));
    if (other !== undefined)
      throw new Error(`must list some of ${allowed.join(', ')}, or none${meantBy(other, allowed)}`);
    return allowed.filter((word) => given.includes(word));
  });

function listOf(text: SettingText): string[] {
  const parts =
    typeof text === 'string'
      ? text
          .trim()
          .replace(/^\[(.*)\]$/s, '$1')
          .split(',')
      : text;
  const items = parts.map((item) => item.trim().replace(/^(["'])(.*)\1$/s, '$2'));
  if (items.length === 1 && items[0] === '') return [];
  if (items.includes('')) throw new Error('has an empty item in its list');
  return items;
}
