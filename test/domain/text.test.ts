import { describe, expect, it } from 'vitest';
import { isSameSpelling } from '../../src/domain/text.ts';

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
