import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { ACCOUNT_NAME } from '../domain/accounts/name.ts';
import { PATHS, rateGroup, SECRETS, SETTINGS } from './settings.ts';
import type { JsonSchema } from './values.ts';

const DEFAULTS = new URL('../../config/default.yaml', import.meta.url);

interface Section extends JsonSchema {
  readonly properties: Record<string, JsonSchema>;
}

/** JSON Schema (draft 7) of a file of settings: types from the table of settings, texts and defaults from config/default.yaml. */
export function settingsSchema(): JsonSchema {
  const documented = readDocumented();
  const root = sectionOf({});
  const add = (path: string, schema: JsonSchema) => {
    const names = path.split('.');
    const name = names.pop() ?? '';
    let section = root;
    for (const [index, one] of names.entries()) {
      section.properties[one] ??= sectionOf(documented.get(names.slice(0, index + 1).join('.')));
      section = section.properties[one] as Section;
    }
    section.properties[name] = { ...schema, ...documented.get(path) };
  };
  for (const path of PATHS) {
    add(path, SETTINGS[path].schema);
    if (SECRETS.includes(path)) add(`${path}File`, { type: ['string', 'null'] });
  }
  const { exchange, create, guard, follow } = root.properties;
  const account = { ...sectionOf(), properties: { rateGroup: rateGroup.schema, exchange, create, guard, follow } };
  root.properties['accounts'] = {
    type: ['object', 'null'],
    ...documented.get('accounts'),
    patternProperties: { [ACCOUNT_NAME.source]: withoutDefaults(account) },
    additionalProperties: false,
  };
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Settings of order-sync', ...root };
}

/** The same schema, without defaults: what an account does not set is as the general settings have it. */
function withoutDefaults(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const entries = Object.entries(schema).filter(([name]) => name !== 'default');
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutDefaults(value)]));
}

function sectionOf(keywords: JsonSchema = {}): Section {
  return { type: ['object', 'null'], ...keywords, properties: {}, additionalProperties: false };
}

/** The description and the default of each section and setting of config/default.yaml: the comment above it, and its value. */
function readDocumented(): ReadonlyMap<string, JsonSchema> {
  const text = readFileSync(DEFAULTS, 'utf8');
  const lines = text.split('\n');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const found = new Map<string, JsonSchema>();
  const visit = (node: unknown, path: readonly string[]): void => {
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const names = [...path, String(key.value)];
      const description = commentAbove(lines, counter.linePos(key.range?.[0] ?? 0).line);
      const usual = isMap(value) ? null : (document.getIn(names) ?? null);
      found.set(names.join('.'), {
        ...(description !== '' && { description }),
        ...(usual !== null && { default: JSON.parse(JSON.stringify(usual)) as unknown }),
      });
      visit(value, names);
    }
  };
  visit(document.contents, []);
  return found;
}

/** The lines of comment that end above a line, counted from 1, as one text. */
function commentAbove(lines: readonly string[], line: number): string {
  const above = lines.slice(0, line - 1);
  const first = above.findLastIndex((one) => !/^\s*#/.test(one)) + 1;
  return above
    .slice(first)
    .map((one) => one.replace(/^\s*# ?/, ''))
    .join(' ');
}
