import { z } from 'zod';
import { PROBE_STEPS } from '../../../flows/probe/asking.ts';
import { probe } from '../../../flows/probe/probe.ts';
import { EXCHANGE_ERRORS } from './errors.ts';
import { named, operation } from './operation.ts';
import { orderBody } from './orders.ts';

/** From 1 to 30: more look-ups at once show nothing more. Bodies are read with every digit of their numbers, so it is text. */
const MOST_REQUESTS = /^([1-9]|[12]\d|30)$/;

const probedValue = named(
  'Probed',
  'What was seen, the settings that follow, and the answers without key and tokens.',
  z.object({
    rows: z.array(
      z.object({
        question: z.string(),
        seen: z.string(),
        follows: z.string(),
        setting: z.object({ path: z.string(), value: z.unknown() }).optional(),
        isOdd: z.boolean().describe('A person should look at it.'),
      }),
    ),
    evidence: z.array(
      z.object({
        request: z.string(),
        askedAt: z.string(),
        tookMs: z.number(),
        status: z.number().nullable(),
        headers: z.record(z.string(), z.string()),
        body: z.string(),
        why: z.string().nullable(),
      }),
    ),
  }),
  {
    rows: [
      {
        question: 'a look-up of an id that no order has (§4.11)',
        seen: '404, empty',
        follows: 'without a setting likely absence',
        setting: { path: 'exchange.absence', value: [{ status: 404 }] },
        isOdd: false,
      },
    ],
    evidence: [
      {
        request: 'GET /api/v1/merchant/orders?externalOrderId=order-sync-probe-1',
        askedAt: '2026-01-05T12:00:00.000Z',
        tookMs: 41,
        status: 404,
        headers: { date: 'Mon, 05 Jan 2026 12:00:00 GMT' },
        body: '',
        why: null,
      },
    ],
  },
);

/** The operation of `order-sync probe`. */
export const PROBE_OPERATIONS = {
  probe: operation({
    tag: 'orders',
    summary: 'Asks the exchange what its document leaves open, one step at a time.',
    description:
      'The step `order` creates the order that is given, as any other is created; `repeat` sends its create once more, which ' +
      'may make a second pre-order. The other steps make nothing.',
    body: z
      .strictObject({
        step: z.enum(PROBE_STEPS),
        order: orderBody.optional(),
        requests: z.string().regex(MOST_REQUESTS).optional().describe('Of the step `rate`: from 1 to 30.'),
      })
      .meta({ examples: [{ step: 'absence' }] }),
    value: probedValue,
    errors: [...EXCHANGE_ERRORS, '413'],
    async run(deps, input, signal) {
      const probed = await probe(deps, input, signal);
      switch (probed.kind) {
        case 'invalid':
          return { kind: 'invalid', message: probed.message, httpStatus: 400 };
        case 'failed':
          return probed.reply;
        case 'ok':
          return { kind: 'ok', body: JSON.stringify({ rows: probed.rows, evidence: probed.evidence }) };
      }
    },
  }),
};
