import { z } from 'zod';
import { EVENT_VERSION, type EventType, type FeedEvent } from './event.ts';
import { SEVERITIES } from '../../findings/rules/classes.ts';

const text = z.string();
const orNull = (description: string) => text.nullable().describe(description);
const externalOrderId = text.describe('The order: its id in your system.');
const linkId = text.describe('The client link (§2.1).');
const why = { reason: orNull('Why, for people; its wording may change.'), actor: orNull('The person who decided it.') };
const change = {
  oldValue: orNull('The value before: text as received, with every digit.'),
  newValue: orNull('The value after: text as received, with every digit.'),
  exchangeTime: orNull('`modificationDate` of the order record (§2.7), as received.'),
  source: text.describe('`create`, `lookup`, `operator`, `import` or another word for the source.'),
  ...why,
};

function orderChange(field: string) {
  return z.looseObject({ externalOrderId, field: text.describe(field), ...change });
}

const finding = z.looseObject({
  externalOrderId,
  class: text.describe('The class of the finding; `order-sync report explain CLASS` tells its meaning.'),
  severity: z.enum(SEVERITIES).nullable().describe('Null for a class of another version.'),
  expected: orNull('The value that was expected.'),
  actual: orNull('The value that was found.'),
  ...why,
});
const account = z.looseObject({ hold: orNull('The hold on the account; null if the event is about no hold.'), ...why });

const DATA = {
  'order.state_changed': [orderChange('`state`'), 'The state of an order changed.'],
  'order.status_changed': [
    orderChange('`order.status`, `cryptoTransaction.status` or `fiatTransaction.status`'),
    'A status in the order record changed.',
  ],
  'order.field_changed': [
    orderChange('A field of the order record, `record.…`.'),
    'Another field of the record changed.',
  ],
  'order.needs_attention': [orderChange('`state`'), 'An order became held or disputed: a person decides.'],
  'finding.opened': [finding, 'Reconciliation found a difference.'],
  'finding.resolved': [finding, 'The difference is gone.'],
  'finding.acknowledged': [finding, 'A person acknowledged the finding.'],
  'link.status_changed': [z.looseObject({ linkId, field: text, ...change }), 'The status of a client link changed.'],
  'photos.received': [
    z.looseObject({
      linkId,
      level: text.describe('The verification flow (§4.4).'),
      requestId: orNull('The request that the delivery answers.'),
      delivery: orNull('The delivery.'),
    }),
    'Photos of a client were received.',
  ],
  'account.out_of_reach': [account, 'The exchange cannot be reached.'],
  'account.back': [account, 'The exchange can be reached again.'],
  'account.key_refused': [account, 'The exchange refuses the key.'],
  'account.paused': [account, 'The account creates no orders, or sends no requests at all.'],
  'account.resumed': [account, 'The account works again.'],
  'account.restored': [account, 'A person accepted a database that was put back to an older state.'],
  'account.stopped': [account, 'No worker can work for the account; `account.resumed` follows when it works again.'],
  'account.unreadable': [account, 'The order records of several orders in a row cannot be read.'],
  'account.readable': [account, 'An order record was read again.'],
} as const satisfies Readonly<Record<EventType, readonly [z.ZodType, string]>>;

function ofType(type: EventType, [data, description]: (typeof DATA)[EventType]) {
  return z
    .looseObject({
      version: z.literal(EVENT_VERSION),
      id: text.regex(/^evt_[0-9a-f]{32}$/).describe('The same on every reading and delivery: deduplicate by it.'),
      cursor: z.int().min(1).describe('The place in the feed of the account.'),
      type: z.literal(type),
      account: text,
      timestamp: text.describe('When order-sync observed the event: UTC, ISO 8601.'),
      data,
    })
    .meta({ description });
}

const types = Object.keys(DATA) as [EventType, ...EventType[]];

export const feedEvent = z.discriminatedUnion(
  'type',
  types.map((type) => ofType(type, DATA[type])) as [ReturnType<typeof ofType>],
) satisfies z.ZodType<FeedEvent>;

export function eventSchema(): object {
  return {
    ...z.toJSONSchema(feedEvent, { io: 'input' }),
    title: 'An event of order-sync',
    description: `Version ${EVENT_VERSION}. Fields and types may be added; ignore unknown ones.`,
  };
}
