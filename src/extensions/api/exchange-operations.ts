import { z } from 'zod';
import { ORDER_RECORD, PRE_ORDER } from '../../orders/rules/record.ts';
import { LOOKUP_ERRORS, named, operation, textParameter } from './operation.ts';

const tag = 'orders';

const asked = { asset: 0.25, assetPosition: 'INPUT', currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' } };
const types = { orderType: 'DEPOSIT', exchangeType: 'SELL' };
const preOrder = { id: '4be1c7', ...asked, externalOrderId: 'shop-1001', ...types, limit: null };
const preOrderValue = named('PreOrder', 'A pre-order (§2.6), as received.', PRE_ORDER, preOrder);

const orderRecordValue = named('OrderRecord', 'An order record (§2.7), as received.', ORDER_RECORD, {
  externalOrderId: 'shop-1001',
  merchant: { id: 'merchant-1' },
  order: {
    id: 'order-1',
    number: 1,
    ...types,
    status: 'REQUEST',
    creationDate: '2026-01-05T12:00:00Z',
    cryptoTransaction: { currency: 'BTC', status: 'NEW' },
    fiatTransaction: { currency: 'EUR', status: 'NEW' },
  },
  percent: 1.5,
  percentEnabled: true,
  reward: 0,
});

export const OPERATIONS = {
  lookUpOrder: operation({
    tag,
    summary: 'The order record of an external order id (§4.11), as the exchange answers now.',
    query: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
    value: orderRecordValue,
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showOrder(input.externalOrderId, signal),
  }),
  showPreOrder: operation({
    tag,
    summary: 'A pre-order (§4.10), as the exchange answers now.',
    params: z.object({ id: textParameter('Id of the pre-order.', '4be1c7') }),
    value: preOrderValue,
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showPreOrder(input.id, signal),
  }),
};
