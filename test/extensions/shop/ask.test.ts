import fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { numbersAsText } from '../../../src/extensions/shop/ask.ts';

const exact = (text: string) => parse(text, undefined, (digits) => digits);

describe('numbers as text', () => {
  it.each([
    ['0.10', '"0.10"'],
    ['{"a":-1.50E+400,"b":[1,2e-7]}', '{"a":"-1.50E+400","b":["1","2e-7"]}'],
    ['{"1":"2 \\"3\\" 4","5\\\\":6}', '{"1":"2 \\"3\\" 4","5\\\\":"6"}'],
    ['[true,null,"",12345678901234567.123456789]', '[true,null,"","12345678901234567.123456789"]'],
  ])('are made of those outside of strings: %s', (json, expected) => {
    expect(numbersAsText(json)).toBe(expected);
  });

  it('keep every digit of any JSON, and change nothing else', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom(0, 2), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), undefined, space);
        expect(JSON.parse(numbersAsText(text))).toEqual(exact(text));
      }),
    );
  });

  it('leave a text that is no JSON unreadable', () => {
    for (const text of ['"open', '{"a":1', '1 2', '"\\"'])
      expect(() => JSON.parse(numbersAsText(text))).toThrow(SyntaxError);
  });
});
