import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { settingsSchema } from '../../../src/extensions/setup/schema.ts';
import { SETTINGS_PARTS } from '../../support/settings.ts';

const FOLDER = new URL('../../../config/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
const JSON_SCHEMA = settingsSchema({ cwd: '/', parts: SETTINGS_PARTS });
const SCHEMA = z.fromJSONSchema(JSON_SCHEMA);
const takes = (yaml: string) => SCHEMA.safeParse(parse(yaml)).success;

describe('the JSON Schema of the settings', () => {
  it('stands in config/schema.json as order-sync config schema prints it', () => {
    expect(JSON.parse(read('schema.json'))).toEqual(JSON_SCHEMA);
  });

  it('is made of a file that begins with the settings that people set', () => {
    const [first] = parseAllDocuments(read('default.yaml')).map((document) => document.toJS() as object);
    const names = Object.entries(first ?? {}).flatMap(([section, settings]) =>
      Object.keys(settings as object).map((name) => `${section}.${name}`),
    );
    expect(names).toEqual([
      'exchange.baseUrl',
      'exchange.apiKeyFile',
      'exchange.rate',
      'database.url',
      'follow.finalStatuses',
      'follow.succeededStatuses',
      'webhooks.endpoints',
      'ops.listen',
    ]);
  });

  it('is named in the place that an editor reads, and has the defaults', () => {
    expect(read('default.yaml')).toMatch(/^# yaml-language-server: \$schema=\.\/schema\.json\n/);
    const documents = parseAllDocuments(read('default.yaml')).map((document) => String(document));
    expect(documents.map(takes)).toEqual([true, true]);
  });

  it.each([
    'exchange: {baseUrl: https://a.example, apiKeyFile: /etc/key, apiKey: 0012}',
    'exchange:\nlog:',
    'exchange: {absence: [{status: 404}, {status: 200, pointer: /code, value: NO_ORDER}]}',
    'reconcile: {tolerance: {EUR: 0.01, default: "0"}}',
    'follow: {finalStatuses: [COMPLETED, 200], succeededStatuses: COMPLETED, giveUpAfter: 30d}',
    'exchange: {maxResponseBytes: 512 KiB}',
    'photos: {listen: "127.0.0.1:80", maxTotalBytes: 1000}',
    'accounts: {shop-1: {rateGroup: g, exchange: {apiKeyFile: /etc/key}, create: {onUnknown: resend}}, b: null}',
    'database: {url: "postgres://u@h/o", passwordFile: /etc/password, tls: require}',
  ])('takes %s', (yaml) => expect(takes(yaml)).toBe(true));

  it.each([
    'exchange: {baseURL: https://a.example}',
    'exchagne: {}',
    'exchange: {timeout: 15}',
    'exchange: {rate: {requests: 0}}',
    'exchange: {absence: [{pointer: /a}]}',
    'create: {onUnknown: hld}',
    'follow: {disputedBy: [amounts]}',
    'reconcile: {ignore: [AMOUNT_MISMATCH]}',
    'database: {url: "mysql://a"}',
    'accounts: {all: {}}',
    'accounts: {a b: {}}',
    'accounts: {a: {exchange: {timeot: 1s}}}',
    'accounts: {a: {log: {level: info}}}',
  ])('refuses %s', (yaml) => expect(takes(yaml)).toBe(false));
});
