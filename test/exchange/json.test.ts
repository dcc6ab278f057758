import fc from 'fast-check';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { readJson, readUnambiguous } from '../../src/exchange/json.ts';

/** The parser that keeps every digit: the last value of a name that is given twice counts. */
function parsed(body: string): unknown {
  try {
    return parse(body, null, { onDuplicateKey: ({ newValue }) => newValue });
  } catch {
    return undefined;
  }
}

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,3})?$/);
/** Texts that look like names, numbers and the ends of strings. */
const oddText = fc.array(
  fc.constantFrom('"', '\\', ':', ' ', '1', '-0.5e3', '[', '{', ',', 'a', '\u00a0', '__proto__', '12345678901234568'),
);
const text = oddText.map((parts) => parts.join(''));
const { value } = fc.letrec<{ value: unknown; list: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    digits.map((number) => new LosslessNumber(number)),
    // The same number for a parser that keeps no digits.
    fc
      .constantFrom('12345678901234567', '12345678901234567.1', '1e999', '2e999')
      .map((near) => new LosslessNumber(near)),
    text,
    fc.constantFrom(null, true, false),
    tie('object'),
    tie('list'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
}));

describe('reading a JSON body', () => {
  it('keeps every digit, wherever a number stands, as the parser that keeps digits does', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (given, space) => {
        const body = stringify(given, null, space) ?? 'null';
        expect(readJson(body)).toEqual(parsed(body));
      }),
    );
  });

  it('reads a body that was cut or changed as the parser that keeps digits does', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom('', '"', '0', '.', ':', ' 7', '\\', '}'), (given, at, instead) => {
        const body = stringify({ a: given, b: given }) ?? '';
        const changed = body.slice(0, at % body.length) + instead + body.slice((at % body.length) + 1);
        expect(readJson(changed)).toEqual(parsed(changed));
      }),
    );
  });

  it.each([
    ['{"a" : 12345678901234567.123456789}', '12345678901234567.123456789'],
    ['{"a":1,"a":0.10}', '0.10'],
    ['{"a":\n-0}', '-0'],
  ])('reads the number of %s', (body, number) => {
    expect(readJson(body)).toEqual({ a: new LosslessNumber(number) });
    expect(readJson(body)).toEqual({ a: new LosslessNumber(number) });
  });

  it.each([
    ['{"a" : 12345678901234567.1,"b":"\\":12345678901234568"}', 'a', '12345678901234567.1'],
    ['{"a":"","b":12345678901234567,"a":12345678901234568}', 'b', '12345678901234567'],
    ['{"b":12345678901234567,"1":12345678901234568}', 'b', '12345678901234567'],
    ['{"a" : 12345678901234567,"b":12345678901234568,"b":12345678901234568}', 'a', '12345678901234567'],
  ])('takes no digits of another number that is as near: %s', (body, name, number) => {
    expect(readJson(body)).toEqual(parsed(body));
    expect(readJson(body)).toMatchObject({ [name]: new LosslessNumber(number) });
  });

  it.each(['{"a":01}', '{"a":1.}', '{"a":+1}', '{"a":.5}', `${'{"a":'.repeat(51)}1${'}'.repeat(51)}`])(
    'reads nothing from %s',
    (body) => expect(readJson(body)).toBeUndefined(),
  );
});

describe('reading a JSON body that must be unambiguous', () => {
  const names = fc.constantFrom('a', 'b', 'a":', 'a" :1', '__proto__');
  const bodies = fc
    .array(fc.tuple(names, value), { maxLength: 5 })
    .map((fields) => `{${fields.map(([name, given]) => `${JSON.stringify(name)}:${stringify(given)}`).join(',')}}`);
  const parsedStrictly = (body: string) => {
    try {
      return parse(body);
    } catch {
      return undefined;
    }
  };

  it('reads it as the strict parser does: a name with two values makes it unreadable', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(readUnambiguous(body)).toEqual(parsedStrictly(body));
      }),
    );
  });

  it.each([
    ['{"id":"1","id":"2"}', undefined],
    ['{"id":"1","id":"1"}', { id: '1' }],
    ['{"in":{"id":1,"id":2}}', undefined],
    ['{"id":"1","i\\u0064":"2"}', undefined],
    ['{"id":"1","text":"\\"id\\":2"}', { id: '1', text: '"id":2' }],
  ])('reads %s as %j', (body, expected) => expect(readUnambiguous(body)).toEqual(expected));
});
