import { withoutPassword } from '../../settings/database.ts';
import { readLayers, type ConfigOptions, type Entry } from '../../settings/layers.ts';
import { settingOf } from '../../settings/settings.ts';
import { read } from '../../settings/config.ts';

export type ConfigSource = Readonly<Record<'setting' | 'value' | 'source', string>>;

/** Returns every setting with its value and source, secrets hidden. Throws `ConfigError` if a setting is wrong. */
export function configSources(options: ConfigOptions): ConfigSource[] {
  const layers = readLayers(options);
  read(layers, false);
  const { schema, entries, accounts } = layers;
  const general = [...schema.general.paths].map((path) => [path, entries.get(path) ?? NOT_SET] as const);
  return [
    ...general.flatMap(([path, entry]) => sourcesOf(path, entry, schema.secrets.includes(path))),
    ...[...accounts].flatMap(([name, own]) =>
      [...own].flatMap(([path, entry]) => sourcesOf(settingOf(path, name), entry, schema.secrets.includes(path))),
    ),
  ];
}

const NOT_SET: Entry = { value: '', source: 'default' };

/** If a secret comes from a file, returns a second entry, which has the path of the file. */
function sourcesOf(setting: string, { file = '', value = file, source }: Entry, isSecret: boolean): ConfigSource[] {
  const shown = shownValue(value);
  if (!isSecret || shown === '' || shown === '[]') return [{ setting, value: shown || '(not set)', source }];
  const place = file === '' ? [] : [{ setting: `${setting}File`, value: file, source }];
  return [{ setting, value: '(set, hidden)', source }, ...place];
}

function shownValue(value: NonNullable<Entry['value']>): string {
  if (typeof value === 'string') return withoutPassword(value);
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? `[${value.join(', ')}]` : JSON.stringify(value);
}
