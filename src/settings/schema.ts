import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DEFAULTS_FILE } from '../base/places.ts';
import { accountOf, generalOf, SECTIONS, type Sections, type SettingsPart } from './settings.ts';

/** Relative paths of files start at `cwd`. Without `parts` the schema has the settings of the core alone. */
export interface SchemaOptions {
  readonly cwd: string;
  readonly parts?: readonly SettingsPart[] | undefined;
}

/** All settings: those of the core and those of `parts`, in the order of `config/default.yaml`. */
export type Schema = ReturnType<typeof makeSchema>;

const NO_PARTS: readonly SettingsPart[] = [];
const made = new WeakMap<readonly SettingsPart[], Schema>();

/** Schemas are kept, because tests read the settings many times and zod compiles a schema at its first use. */
export function schemaOf({ parts = NO_PARTS }: SchemaOptions): Schema {
  const schema = made.get(parts) ?? makeSchema(parts);
  made.set(parts, schema);
  return schema;
}

function makeSchema(parts: readonly SettingsPart[]) {
  const written = readDefaults();
  const sections = sectionsOf(parts, [...new Set(written.map(({ path }) => path.replace(/\..*/, '')))]);
  const [general, account] = [
    generalOf(sections),
    accountOf(
      sections,
      parts.flatMap(({ ofAccounts = [] }) => ofAccounts),
    ),
  ];
  const secrets = ['exchange.apiKey', ...parts.flatMap((part) => part.secrets ?? [])];
  const known = new Map(fieldsIn(general));
  const absent = written.map(({ path }) => path).filter((path) => !known.has(path));
  const isOfAccount = (path: string) => Object.hasOwn(account.shape, path.replace(/\..*/, ''));
  return {
    general: { type: general, ...namesOf(general, secrets, absent) },
    account: { type: account, ...namesOf(account, secrets, absent.filter(isOfAccount)) },
    secrets,
    files: parts.flatMap((part) => part.files ?? []),
    server: parts.find((part) => part.server !== undefined)?.server,
    gone: new Map(parts.flatMap((part) => Object.entries(part.gone ?? {}))),
    /** A core field that an extension may replace has its own default, for the program without the extension. */
    defaults: written.flatMap((setting) => {
      const field = known.get(setting.path);
      if (field === undefined) return [];
      return field instanceof z.ZodDefault ? { ...setting, value: String(field.def.defaultValue) } : setting;
    }),
  };
}

/** Reads the few forms of YAML in the file, because to load a YAML parser takes longer than to read all settings. */
function readDefaults() {
  const lines = readFileSync(DEFAULTS_FILE, 'utf8').split('\n');
  const above: string[] = [];
  return lines
    .filter((line) => /^ *\w/.test(line))
    .flatMap((line, at, all) => {
      const [, indent = '', name = '', text = ''] = /^( *)(\w+): *(.*)$/.exec(line) ?? [];
      above.splice(indent.length / 2, Infinity, name);
      if (indent === '' || all[at + 1]?.startsWith(`${indent}  `) === true) return [];
      const [, list] = /^\[(.*)\]$/.exec(text) ?? [];
      const value = list?.split(', ').filter(Boolean) ?? text.replace(/^'(.*)'$/, '$1');
      return [{ path: above.join('.'), value, source: 'default' }];
    });
}

function sectionsOf(parts: readonly SettingsPart[], order: readonly string[]): Sections {
  const all: Record<string, z.ZodObject> = Object.assign({}, SECTIONS, ...parts.map((part) => part.sections));
  const sections = Object.entries(all).map(([name, section]) => {
    const added = parts.map((part) => part.fields?.[name]).filter((fields) => fields !== undefined);
    return [name, added.length === 0 ? section : section.safeExtend(Object.assign({}, ...added))] as const;
  });
  const placeOf = ([name]: (typeof sections)[number]) => order.indexOf(name);
  return Object.fromEntries(sections.toSorted((one, other) => placeOf(one) - placeOf(other))) as Sections;
}

function namesOf(type: z.ZodObject, secrets: readonly string[], absent: readonly string[]) {
  const isSecretFile = (path: string) => secrets.some((secret) => path === `${secret}File`);
  const paths = fieldsIn(type).flatMap(([path]) => (isSecretFile(path) ? [] : path));
  const sections = [...paths, ...absent].flatMap((path) =>
    path.split('.').flatMap((_, at, names) => (at === 0 ? [] : names.slice(0, at).join('.'))),
  );
  const variables = [...paths, ...absent].flatMap((path) =>
    ['', '_FILE'].map((suffix) => [variableOf(path) + suffix, path] as const),
  );
  return {
    paths: new Set(paths),
    absent: new Set(absent),
    sections: new Set(sections),
    variables: new Map(variables),
  };
}

/** `exchange.baseUrl` is EXCHANGE_BASE_URL. */
export function variableOf(path: string): string {
  return path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

function fieldsIn({ shape }: z.ZodObject): (readonly [path: string, field: z.core.$ZodType])[] {
  return Object.entries(shape).flatMap(([name, inner]) =>
    inner instanceof z.ZodObject
      ? fieldsIn(inner).map(([path, field]) => [`${name}.${path}`, field] as const)
      : [[name, inner] as const],
  );
}
