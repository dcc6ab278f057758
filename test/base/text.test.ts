import { describe, expect, it } from 'vitest';
import {
  hasControlCharacter,
  isPlainText,
  isSameSpelling,
  isUnicode,
  LONGEST_PLAIN_TEXT,
  messageOf,
  quote,
  shellWord,
  storable,
  suggestion,
  withoutAddresses,
  withoutNul,
} from '../../src/base/text.ts';

describe('another spelling of a text', () => {
  it.each([
    ['shop-1', 'SHOP-1'],
    ['shop-1', ' shop-1\t'],
    ['Straße', 'STRASSE'],
    ['ὀδός', 'ὈΔΌΣ'],
    ['caf\u00e9', 'cafe\u0301'],
    ['\u0130', 'i\u0307'],
    ['№1', 'No1'],
  ])('is %j of %j', (one, other) => {
    expect([isSameSpelling(one, other), isSameSpelling(other, one)]).toEqual([true, true]);
  });

  it.each([
    ['shop-1', 'shop-01'],
    ['shop-1', 'shop 1'],
    ['a  b', 'a b'],
    ['1', '1.0'],
  ])('is not %j of %j', (one, other) => {
    expect(isSameSpelling(one, other)).toBe(false);
  });
});

describe('a text without addresses', () => {
  it.each([
    ['{"to":"a.b@shop.example"}', '{"to":"<hidden>"}'],
    ['to a%40shop.example and \\u0040 or b\\u0040c', 'to <hidden> and \\u0040 or <hidden>'],
    ['@ a@ @b a@@b', '@ a@ @b a@@b'],
    [`${'x'.repeat(300)}@y, z@y`, `${'x'.repeat(44)}<hidden> <hidden>`],
    ['a@b%40c@d e', '<hidden>@d e'],
  ])('of %j is %j', (text, shown) => {
    expect(withoutAddresses(text)).toBe(shown);
  });
});

describe('a text as a word of a shell', () => {
  it.each([
    ['shop-1', 'shop-1'],
    ['a/b.c:d@e_f', 'a/b.c:d@e_f'],
    ['--as=ours', '--as=ours'],
    ['=x', "'=x'"],
    ['', "''"],
    ['a b', "'a b'"],
    ['a$b', "'a$b'"],
    ['$a', "'$a'"],
    ["it's", `'it'\\''s'`],
  ])('%j is %s', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});

describe('a text that can be shown and stored', () => {
  it.each([
    ['x', true],
    ['é 🙂', true],
    ['x'.repeat(LONGEST_PLAIN_TEXT), true],
    ['x'.repeat(LONGEST_PLAIN_TEXT + 1), false],
    ['', false],
    ['a\nb', false],
    ['a\u009bb', false],
    ['a\uD800', false],
  ])('%j: %s', (text, isPlain) => {
    expect(isPlainText(text)).toBe(isPlain);
  });

  it('holds a control character or none, and lost a character or none', () => {
    expect(['a\u0007', 'a\u007f', 'a'].map(hasControlCharacter)).toEqual([true, true, false]);
    expect(['a\uD800', 'a\uFFFD', 'é'].map(isUnicode)).toEqual([false, false, true]);
  });

  it('is the same from every database, with a sign in place of what that does not take', () => {
    expect(storable('a\0b\uD800c\0')).toBe('a\uFFFDb\uFFFDc\uFFFD');
    expect(withoutNul('a\0b\0')).toBe('a\u2400b\u2400');
  });

  it('is quoted in full up to 60 characters', () => {
    expect(quote('x'.repeat(60))).toBe(`"${'x'.repeat(60)}"`);
  });

  it('is what was thrown', () => {
    expect([messageOf(new TypeError('broken')), messageOf('broken')]).toEqual(['broken', 'broken']);
  });
});

const KNOWN = ['exchange', 'exchange.baseUrl', 'exchange.rate.interval', 'reconciliation', 'AMOUNT_MISMATCH', 'held'];

describe('the name that was probably meant', () => {
  it.each([
    ['in other letter case', 'amount_mismatch', 'AMOUNT_MISMATCH'],
    ['by its beginning', 'recon', 'reconciliation'],
    ['by its end after a dot', 'baseURL', 'exchange.baseUrl'],
    ['with a slip', 'exchagne', 'exchange'],
    ['with fewer slips than another', 'hel', 'held'],
    ['with three slips', 'reconXYZiation', 'reconciliation'],
    ['with four', 'reconWXYZation', undefined],
    ['that begins so rather than one that ends so', 'rate', undefined],
    ['of four letters with one slip', 'hald', 'held'],
    ['when nothing is near', 'photos', undefined],
    ['when nothing is given', '', undefined],
    ['when something endless is given', 'reconciliation'.repeat(1_000), undefined],
  ])('%s', (_how, given, meant) => {
    expect(suggestion(given, KNOWN)).toBe(meant);
  });

  it.each([
    ['the one of that name', 'HELD', ['held.since', 'held'], 'held'],
    ['the nearest', 'abcdef', ['abcxyf', 'abcdex'], 'abcdex'],
    ['one with two slips in five letters', 'acd', ['abcde'], 'abcde'],
    ['none with three slips in three letters', 'abc', ['xyz'], undefined],
    ['one of 100 letters', 'x'.repeat(100), ['x'.repeat(100)], 'x'.repeat(100)],
    ['none of more', 'x'.repeat(101), ['x'.repeat(101)], undefined],
  ])('is %s', (_which, given, known, meant) => {
    expect(suggestion(given, known)).toBe(meant);
  });
});
