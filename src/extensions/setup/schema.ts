import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { z } from 'zod';
import { ACCOUNT_NAME } from '../../accounts/rules/name.ts';
import { DEFAULTS_FILE } from '../../base/places.ts';
import { schemaOf, type SchemaOptions } from '../../settings/schema.ts';

type JsonSchema = Record<string, unknown>;

/** Returns the JSON Schema (draft 7) of a settings file, with the texts and defaults of config/default.yaml. */
export function settingsSchema(options: SchemaOptions): JsonSchema {
  const schema = schemaOf(options);
  const { $schema, ...all } = jsonSchemaOf(schema.general.type);
  const { $schema: _, ...account } = jsonSchemaOf(schema.account.type);
  const accounts = {
    type: ['object', 'null'],
    patternProperties: { [ACCOUNT_NAME.source]: account },
    additionalProperties: false,
  };
  (all['properties'] as JsonSchema)['accounts'] = accounts;
  describe(all, { withDefaults: true });
  // An account has no defaults of its own, because a missing setting has the value of the general settings.
  describe(account, { withDefaults: false });
  return { $schema, title: 'Settings of order-sync', ...all };
}

/** In the schema every section may be empty, and no setting is required. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const json = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const inFile = z.globalRegistry.get(zodSchema)?.['json'];
      if (typeof inFile !== 'object' || inFile === null) return;
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      Object.assign(jsonSchema, inFile);
    },
  }) as JsonSchema;
  openSections(json);
  return json;
}

function openSections(schema: JsonSchema): void {
  if (schema['properties'] === undefined) return;
  schema['type'] = ['object', 'null'];
  delete schema['required'];
  for (const property of Object.values(schema['properties'] as Record<string, JsonSchema>)) openSections(property);
}

function describe(schema: JsonSchema, { withDefaults }: { readonly withDefaults: boolean }): void {
  const text = readFileSync(DEFAULTS_FILE, 'utf8');
  const lines = text.split('\n');
  const counter = new LineCounter();
  const visit = (section: JsonSchema, node: unknown, document: Document) => {
    const properties = (section['properties'] ?? {}) as Record<string, JsonSchema>;
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const property = isScalar(key) ? properties[String(key.value)] : undefined;
      if (property === undefined || !isScalar(key)) continue;
      const description = commentAbove(lines, counter.linePos(key.range?.[0] ?? 0).line);
      if (description !== '') property['description'] = description;
      visit(property, value, document);
      const usual: unknown = isMap(value) ? null : ((value as Node | null)?.toJS(document) as unknown);
      if (withDefaults && usual !== undefined && usual !== null) property['default'] ??= usual;
    }
  };
  // The file has two YAML documents: common settings in the first, advanced settings in the second.
  for (const document of parseAllDocuments(text, { lineCounter: counter })) visit(schema, document.contents, document);
}

function commentAbove(lines: readonly string[], line: number): string {
  const above = lines.slice(0, line - 1);
  const first = above.findLastIndex((text) => !/^\s*#/.test(text)) + 1;
  return above
    .slice(first)
    .map((text) => text.replace(/^\s*# ?/, ''))
    .join(' ');
}
