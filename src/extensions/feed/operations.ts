import { z } from 'zod';
import type { Database } from '../../store/port.ts';
import { done, invalid, type OwnRefusal } from '../api/envelope.ts';
import { countParameter, named, READ_ERRORS, reading, textParameter } from '../api/operation.ts';
import { EVENT_TYPES, writeCursor, type Place } from './event.ts';
import { placeOf, readPage, type FeedFilter } from './feed.ts';
import { feedEvent } from './schema.ts';
import { EventStreams } from './stream.ts';

const MOST_EVENTS = 1_000;

export const EVENT_EXAMPLE = {
  version: 1,
  id: 'evt_3f9ac0d1e2b44a5f8a6be3d1c07f92ab',
  cursor: 1042,
  type: 'order.state_changed',
  account: 'default',
  timestamp: '2026-01-05T12:00:00.000Z',
  data: {
    externalOrderId: 'shop-1001',
    field: 'state',
    oldValue: 'pending',
    newValue: 'sending',
    exchangeTime: null,
    source: 'create',
    reason: null,
    actor: null,
  },
};
export const EVENT = named('Event', 'An event; docs/events.schema.json has the same schema.', feedEvent, EVENT_EXAMPLE);
const cursor = z.string().describe('A cursor: send it back unchanged, in `after`.');

const eventsValue = named(
  'Events',
  'A page of the feed. If `next` equals `head`, everything was read.',
  z.object({
    events: z.array(EVENT),
    next: cursor.describe('The last event that was looked at, also if a filter left it out. Read on after it.'),
    head: cursor.describe('The newest event of the account.'),
  }),
  { events: [EVENT_EXAMPLE], next: '1042.3f9ac0d1e2b44a5f', head: '1042.3f9ac0d1e2b44a5f' },
);

const eventType = z.enum(EVENT_TYPES);
const eventsQuery = z.object({
  after: textParameter(
    'The cursor of the last event that was read; 0 reads from the beginning, head reads new events only.',
    '0',
  )
    .max(100)
    .default('0'),
  limit: countParameter('The most events in a page; a stream has no end.', MOST_EVENTS, 100),
  type: z
    .union([eventType, z.array(eventType)])
    .optional()
    .meta({ description: 'Only events of this type; may be given several times.', examples: ['order.state_changed'] }),
  order: textParameter('Your order id: only events of this order and of its findings.', 'shop-1001').optional(),
});

type EventsInput = z.output<typeof eventsQuery> & { readonly account: string };

function filterOf({ account, type, order }: EventsInput): FeedFilter {
  const types = typeof type === 'string' ? [type] : type;
  return { account, types, externalOrderId: order };
}

async function startOf(db: Database, { account, after }: EventsInput): Promise<Place | OwnRefusal> {
  const place = await placeOf(db, account, after);
  if (!('reason' in place)) return place;
  const { reason, message } = place;
  return invalid(message, reason === 'cursor-unreadable' ? 400 : 409, reason);
}

const TOO_MANY = { kind: 'not-sent', why: 'too many streams of events are open; ask again later' } as const;

export const OPERATIONS = {
  listEvents: reading({
    tag: 'events',
    summary: 'The next events of an account, in the order in which they were committed.',
    description:
      'Store `next` together with the effects of the events, and send it as `after`. A page with filters looks at 10,000 events at ' +
      'the most, so such a page may be empty before the end. With `accept: text/event-stream` the answer is a stream of server-sent ' +
      'events that does not end: `id` is the cursor, `event` the type and `data` the event; `Last-Event-ID` takes precedence over `after`. ' +
      'A reader that reads nothing for 30 s is disconnected, and can continue from its cursor; 503 when too many streams are open.',
    query: eventsQuery,
    value: eventsValue,
    errors: [...READ_ERRORS, '409'],
    async run({ store: { db } }, input) {
      const start = await startOf(db, input);
      if ('kind' in start) return start;
      const { events, next, head } = await readPage(db, filterOf(input), start, input.limit);
      return done({ events, next: writeCursor(next), head: writeCursor(head) });
    },
    streams(deps) {
      const streams = new EventStreams(deps, deps.stopping);
      return {
        async open(input, lastId) {
          const after = lastId === undefined || lastId === '' ? input.after : lastId;
          const start = await startOf(deps.store.db, { ...input, after });
          if ('kind' in start) return start;
          if (streams.isFull) return TOO_MANY;
          return (response) => streams.serve(response, filterOf(input), start);
        },
      };
    },
  }),
};
