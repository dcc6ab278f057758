import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { z } from 'zod';
import { addOrder, adoptOrder } from './add.ts';
import { probe } from './probe/probe.ts';
import { evidenceSchema, PROBE_STEPS, probeRow } from './probe/questions.ts';
import { conflict, done, invalid } from '../api/envelope.ts';
import { EXCHANGE_ERRORS, named, operation, OWN_ERRORS } from '../api/operation.ts';

const tag = 'orders';
/** The server parses numbers in a body as `LosslessNumber`, which keeps every digit. */
const jsonNumber = z.custom<LosslessNumber>(isLosslessNumber, 'expected a number').meta({ type: 'number' });
const amount = z.union([z.string(), jsonNumber]).describe('A decimal, as text or as a number; every digit counts.');

const orderBody = z
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
  .meta({ examples: [{ external_order_id: 'shop-1001', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' }] });

/** Text from 1 to 30. More look-ups at once show nothing more, and a JSON number would become a `LosslessNumber`. */
const MOST_REQUESTS = /^([1-9]|[12]\d|30)$/;

const rowExample = {
  question: 'a look-up of an id that no order has (§4.11)',
  seen: '404, empty',
  follows: 'without the setting, order-sync reads this answer as likely absence',
  setting: { path: 'exchange.absence', value: [{ status: 404 }] },
  isOdd: false,
};
const request = 'GET /api/v1/merchant/orders?externalOrderId=order-sync-probe-1';
const answer = { status: 404, headers: { date: 'Mon, 05 Jan 2026 12:00:00 GMT' }, body: '', why: null };
const evidenceExample = { request, askedAt: '2026-01-05T12:00:00.000Z', tookMs: 41, ...answer };
const probedValue = named(
  'Probed',
  'The observations, the settings that follow from them, and the answers without key and tokens.',
  z.object({ rows: z.array(probeRow), evidence: z.array(evidenceSchema) }),
  { rows: [rowExample], evidence: [evidenceExample] },
);

const added = z.object({ external_order_id: z.string(), state: z.string() });
const result = z.enum(['adopted', 'present', 'absent']);
const adopted = z.object({ external_order_id: z.string(), result, state: z.string().nullable() });

export const OPERATIONS = {
  addOrder: operation({
    tag,
    summary: 'Puts an order into the table, as inserting a row does.',
    description: 'The answer is 201 for a new order, and 200 for one that is there with the same content.',
    body: orderBody,
    value: named('AddedOrder', 'The order in the table.', added, { external_order_id: 'shop-1001', state: 'pending' }),
    statuses: [200, 201],
    errors: [...OWN_ERRORS, '409', '413'],
    async run(deps, fields) {
      const addition = await addOrder(deps, fields);
      if ('why' in addition) return addition.kind === 'invalid' ? invalid(addition.why) : conflict(addition.why);
      const isNew = addition.kind === 'inserted';
      if (isNew) deps.wakeCreates();
      return done({ external_order_id: addition.externalOrderId, state: addition.state }, isNew ? 201 : 200);
    },
  }),
  adoptOrder: operation({
    tag,
    summary: 'Takes over an order that exists at the exchange: it is looked up, put into the table, and never created.',
    description:
      'An order that the exchange does not find (`absent`) is not inserted, and may still have a pre-order; ' +
      'an order that is in the table (`present`) does not change.',
    body: orderBody,
    value: named(
      'AdoptedOrder',
      'The result; `state` is that of the order in the table, null if it was not inserted.',
      adopted,
      { external_order_id: 'shop-1001', result: 'adopted', state: 'open' },
    ),
    errors: [...EXCHANGE_ERRORS, '413'],
    run: adoptOrder,
  }),
  probe: operation({
    tag,
    summary: 'Asks the exchange what its document leaves open, one step at a time.',
    description:
      'The step `order` creates the given order like any other order; `repeat` sends its create once more, which ' +
      'may make a second pre-order. The other steps make nothing.',
    body: z
      .strictObject({
        step: z.enum(PROBE_STEPS),
        order: orderBody.optional(),
        requests: z.string().regex(MOST_REQUESTS).optional().describe('The look-ups of the step `rate`, from 1 to 30.'),
      })
      .meta({ examples: [{ step: 'absence' }] }),
    value: probedValue,
    errors: [...EXCHANGE_ERRORS, '413'],
    run: probe,
  }),
};
