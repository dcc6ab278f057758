import { describe, expect, it } from 'vitest';
import { suggestion } from '../../src/domain/suggestion.ts';

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
