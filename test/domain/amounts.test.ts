import Big from 'big.js';
import { describe, expect, it } from 'vitest';
import { amountField, currencyOf, isWithin, type Tolerance } from '../../src/domain/amounts.ts';

describe('the amount that an order is compared with', () => {
  it.each([
    ['INPUT', undefined, 'inputAsset'],
    ['INPUT', 'outputAsset', 'inputAsset'],
    ['OUTPUT', 'outputAsset', 'outputAsset'],
    ['OUTPUT', undefined, undefined],
    ['input', 'outputAsset', undefined],
    [null, 'outputAsset', undefined],
  ] as const)('of position %s, where OUTPUT is %s, is %s', (position, outputPosition, field) => {
    expect(amountField(position, { outputPosition })).toBe(field);
  });

  it('is of the first currency of the pair where it goes in, and of the second where it comes out', () => {
    const pair = { fromCurrency: 'BTC', toCurrency: 'EUR' };
    expect([currencyOf('inputAsset', pair), currencyOf('outputAsset', pair)]).toEqual(['BTC', 'EUR']);
  });
});

describe('two amounts', () => {
  it.each<[string, string, Tolerance, string | null, boolean]>([
    ['1', '1', '0', 'BTC', true],
    ['1', '1.01', '0.01', 'BTC', true],
    ['1.01', '1', '0.01', null, true],
    ['1', '1.0100000000000000000000001', '0.01', 'BTC', false],
    ['1', '1.5', { BTC: '0.5', default: '0' }, 'BTC', true],
    ['1', '1.5', { BTC: '0.5', default: '0' }, 'EUR', false],
    ['1', '1.5', { BTC: '0', default: '0.5' }, 'EUR', true],
    ['1', '1.5', { BTC: '0', default: '0.5' }, null, true],
    ['1', '1.5', { BTC: '0.5' }, 'EUR', false],
    ['1', '1', { BTC: '0.5' }, 'EUR', true],
    // A name that every object has is no currency of the settings.
    ['1', '1', { BTC: '0.5' }, 'constructor', true],
  ])('%s and %s are equal within %o of %s: %s', (left, right, tolerance, currency, isEqual) => {
    expect(isWithin(new Big(left), new Big(right), tolerance, currency)).toBe(isEqual);
  });
});
