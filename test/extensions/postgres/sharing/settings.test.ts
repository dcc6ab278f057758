import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differences, settingsInForce } from '../../../../src/extensions/postgres/sharing/settings.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { loadWith } from '../../../support/load-with.ts';

const KEY = 'k3y-that-must-stay-hidden';
const TWO = `
exchange: {timeout: 9s}
accounts:
  shop-1: {rateGroup: shops, exchange: {apiKey: ${KEY}, concurrency: 2}}
  Shop.2: {rateGroup: shops, exchange: {apiKey: general}, create: {onUnknown: resend}}
`;
const settingsOf = (yaml: string) => settingsInForce(loadWith({}, yaml).accounts, 1);

describe('what workers compare of the settings of an account', () => {
  it('names what decides about its orders and limits, without the key', () => {
    const file = join(temporaryFolder(), 'key');
    writeFileSync(file, KEY, { mode: 0o600 });
    const settings = settingsOf(TWO)('shop-1');
    const other = settingsOf(TWO.replace('apiKey: general', `apiKeyFile: ${file}`))('Shop.2');
    expect(settings).toMatchObject({
      rateGroup: 'shops',
      'exchange.rate': '10 in 1000 ms',
      'exchange.rate.mode': 'proved',
      'exchange.timeout': '9000',
    });
    expect(Object.values({ ...settings, ...other }).join()).not.toMatch(new RegExp(`${KEY}|general`));
    expect(other['exchange.apiKey']).toMatch(/^[0-9a-f]{16}$/);
    expect(settingsOf(TWO)('unknown')).toEqual({});
  });

  it('leaves out the settings of the pace, on which two workers need not agree', () => {
    const paced = (pace: string) => settingsOf(`accounts: {a: {follow: {pace: ${pace}}}}`)('a');
    expect(paced('every-tick')).toEqual(paced('learned'));
  });

  it('tells one key from another', () => {
    const hashOf = (key: string) =>
      settingsOf(TWO.replace('apiKey: general', `apiKey: ${key}`))('Shop.2')['exchange.apiKey'];
    expect(hashOf('one')).toBe(hashOf('one'));
    expect(hashOf('one')).not.toBe(hashOf('two'));
  });
});

it.each([
  ['{"b":"1","a":"2"}', { a: '2', b: '1' }, []],
  ['{"b":"1","a":"2","d":"4"}', { b: '2', c: '3', a: '2' }, ['b', 'c', 'd']],
  ['{"b":1}', { b: '1' }, ['b']],
  ['no JSON', { a: '1' }, ['a']],
  ['null', { a: '1' }, ['a']],
  ['"text"', { a: '1' }, ['a']],
  ['{}', {}, []],
])('settings that are kept as %s differ from %o in %j', (kept, settings, names) => {
  expect(differences(kept, settings)).toEqual(names);
});
