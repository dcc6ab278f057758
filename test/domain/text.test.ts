import { describe, expect, it } from 'vitest';
import { isSameSpelling, withoutAddresses } from '../../src/domain/text.ts';

describe('another spelling of a text', () => {
  it.each([
    ['shop-1', 'SHOP-1'],
    ['shop-1', ' shop-1\t'],
    ['Straße', 'STRASSE'],
    ['ὀδός', 'ὈΔΌΣ'],
    ['caf\u00e9', 'cafe\u0301'],
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
