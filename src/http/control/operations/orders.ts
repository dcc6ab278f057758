import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { quote } from '../../../domain/text.ts';
import { addOrder } from '../../../flows/orders/add.ts';
import { LOOKUP_ERRORS, OWN_ERRORS } from './errors.ts';
import { operation } from './operation.ts';
import { addedOrderValue, orderRecordValue, preOrderValue } from './values.ts';

const tag = 'orders';
/** Bodies are read with every digit of their numbers. */
const jsonNumber = z.custom<LosslessNumber>(isLosslessNumber, 'expected a number').meta({ type: 'number' });
const amount = z.union([z.string(), jsonNumber]).describe('A decimal, as text or as a number; every digit counts.');

/** Operations about orders: putting one in, §4.10 and §4.11. */
export const ORDER_OPERATIONS = {
  addOrder: operation({
    tag,
    summary: 'Puts an order into the table, as inserting a row does.',
    description: 'The answer is 201 for a new order, and 200 for one that is there with the same content.',
    body: z
      .strictObject({
        external_order_id: z.string().describe('Id of the order in your system.'),
        asset: amount,
        asset_position: z.string().optional().describe('INPUT unless given.'),
        from_currency: z.string(),
        to_currency: z.string(),
        order_type: z.string().optional().describe('DEPOSIT unless given.'),
        order_limit: amount.nullish(),
        payment_token: z.string().nullish(),
        provider_type: z.string().nullish(),
        crypto_address: z.string().nullish(),
        bonus: amount.nullish(),
      })
      .meta({
        examples: [{ external_order_id: 'shop-1001', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' }],
      }),
    values: { 200: addedOrderValue, 201: addedOrderValue },
    errors: [...OWN_ERRORS, '409', '413'],
    async run(deps, fields) {
      const addition = await addOrder(deps, fields);
      switch (addition.kind) {
        case 'invalid':
          return { kind: 'invalid', message: addition.problems.join('; '), httpStatus: 400 };
        case 'differs': {
          const columns = addition.columns.join(', ');
          const message = `${quote(addition.externalOrderId)} stands in the table with another ${columns}`;
          return { kind: 'invalid', message, httpStatus: 409 };
        }
        case 'inserted':
        case 'present': {
          const { kind, externalOrderId, state } = addition;
          if (kind === 'inserted') deps.wakeCreates();
          const value = JSON.stringify({ external_order_id: externalOrderId, state });
          return { kind: 'ok', body: value, httpStatus: kind === 'inserted' ? 201 : 200 };
        }
      }
    },
  }),
  lookUpOrder: operation({
    tag,
    summary: 'The order record of an external order id (§4.11), as the exchange answers now.',
    query: z.object({
      externalOrderId: z.string().meta({ description: 'Id of the order in your system.', examples: ['shop-1001'] }),
    }),
    values: { 200: orderRecordValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showOrder(input.externalOrderId, signal),
  }),
  showPreOrder: operation({
    tag,
    summary: 'A pre-order (§4.10), as the exchange answers now.',
    params: z.object({ id: z.string().meta({ description: 'Id of the pre-order.', examples: ['4be1c7'] }) }),
    values: { 200: preOrderValue },
    errors: LOOKUP_ERRORS,
    run: ({ exchange }, input, signal) => exchange.showPreOrder(input.id, signal),
  }),
};
