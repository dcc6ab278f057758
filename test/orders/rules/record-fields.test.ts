import { describe, expect, it } from 'vitest';
import { PRE_ORDER_NUMBERS, PRE_ORDER_PATHS, RECORD_NUMBERS } from '../../../src/orders/rules/record.ts';

describe('the documented fields', () => {
  it('of a pre-order are named by their paths, in the order of the document', () => {
    expect(PRE_ORDER_PATHS).toEqual([
      'id',
      'asset',
      'assetPosition',
      'currencyPair.fromCurrency',
      'currencyPair.toCurrency',
      'externalOrderId',
      'orderType',
      'exchangeType',
      'limit',
      'paymentToken',
      'providerType',
      'cryptoAddress',
      'bonus',
    ]);
  });

  it('of which two texts may be the same number are the numbers, and no others', () => {
    expect(PRE_ORDER_NUMBERS).toEqual(['asset', 'limit', 'bonus']);
    expect(RECORD_NUMBERS).toEqual([
      'order.number',
      'order.exchangeOperation.inputAsset',
      'order.exchangeOperation.outputAsset',
      'order.exchangeOperation.ratio',
      'order.cryptoTransaction.fee',
      'percent',
      'reward',
    ]);
  });
});
