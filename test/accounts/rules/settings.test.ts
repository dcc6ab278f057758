import { expect, it } from 'vitest';
import { differences } from '../../../src/accounts/rules/fail-over.ts';

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
