import type { PlantedBug } from '../bug.ts';

const ENDPOINT = 'src/flows/webhooks/endpoint.ts';
const LANES = 'src/flows/webhooks/lanes.ts';
const PARKED = 'src/flows/webhooks/parked.ts';

/** Bugs in sending events to the receivers of a merchant. */
export const WEBHOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'cursor-before-the-delivery',
    text: 'the cursor of an endpoint moves on over events that it has not taken',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: ENDPOINT,
        in: 'EndpointDelivery.#deliverPage',
        from: 'if (!passed.has(id) && !its.taken.has(id)) break;',
        to: '',
      },
    ],
  },
  {
    name: 'events-of-an-order-beside-each-other',
    text: 'events of one order are sent beside each other',
    breaks: /webhooks in order per order/,
    edits: [
      {
        file: LANES,
        in: 'lanesOf',
        from: 'const lane = lanes.get(subject);',
        to: 'const lane = lanes.get(eventKey(row));',
      },
      { file: LANES, in: 'lanesOf', from: 'lanes.set(subject, {', to: 'lanes.set(eventKey(row), {' },
    ],
  },
  {
    name: 'parked-order-is-overtaken',
    text: 'later events of an order do not wait for the one that is parked',
    breaks: /webhooks in order per order/,
    edits: [{ file: LANES, in: 'lanesOf', from: ' || parked.has(subject)', to: '' }],
  },
  {
    name: 'parked-in-memory-only',
    text: 'what is parked is not written',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: ENDPOINT,
        in: 'EndpointDelivery.#park',
        from: 'await its.store.writer.write(async (tx) => await park(tx, row));',
        to: '',
      },
    ],
  },
  {
    name: 'unparked-too-soon',
    text: 'once the event that was refused is taken, those that came behind it are passed over',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [{ file: PARKED, in: 'sendParked', from: 'event = await next(event.id);', to: 'event = undefined;' }],
  },
  {
    name: 'given-up-without-a-dead-letter',
    text: 'an event that was refused to the end is kept nowhere',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [{ file: PARKED, in: 'sendParked', from: 'await giveUp(its, row, deps.clock.now());', to: '' }],
  },
  {
    name: 'redirect-counts-as-taken',
    text: 'an endpoint that answers with a redirect has taken the event',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [{ file: 'src/domain/events/delivery.ts', in: 'outcomeOf', from: 'status < 300', to: 'status < 400' }],
  },
  {
    name: 'retry-after-of-an-endpoint-is-ignored',
    text: 'an endpoint is asked again after the usual wait, whatever it asks for',
    breaks: /Retry-After kept/,
    edits: [
      {
        file: 'src/domain/events/delivery.ts',
        in: 'endpointWaitMs',
        from: 'Math.max(usual, retryAfterMs)',
        to: 'usual',
      },
    ],
  },
  {
    name: 'ninth-delivery-in-flight',
    text: 'one delivery more than eight is under way at a time',
    breaks: /bounded concurrency/,
    edits: [
      {
        file: ENDPOINT,
        in: 'EndpointDelivery.#sends',
        from: 'concurrency: MOST_IN_FLIGHT',
        to: 'concurrency: MOST_IN_FLIGHT + 1',
      },
    ],
  },
  {
    name: 'only-the-first-receiver-is-woken',
    text: 'new events wake the first endpoint only',
    breaks: /no receiver waits for another|webhooks complete/,
    edits: [
      {
        file: 'src/flows/webhooks/webhooks.ts',
        in: 'Webhooks.#wake',
        from: 'of this.#deliveries)',
        to: 'of this.#deliveries.slice(0, 1))',
      },
    ],
  },
  {
    name: 'parked-waits-for-new-events',
    text: 'what is parked is sent again when there is a new event, and not when it is time',
    breaks: /what is parked is sent again|webhooks complete/,
    edits: [
      {
        file: ENDPOINT,
        in: 'EndpointDelivery.#queueAll',
        from: ' || hasDue(its, now)',
        to: '',
      },
    ],
  },
  {
    name: 'receiver-gets-all-types',
    text: 'the filter of an endpoint is not looked at',
    breaks: /only the types that are wanted/,
    edits: [{ file: LANES, in: 'lanesOf', from: '!isWanted || ', to: '' }],
  },
  {
    name: 'signed-with-the-first-secret',
    text: 'while secrets are rotated, a webhook is signed with the first one alone',
    breaks: /signed with each secret/,
    edits: [
      {
        file: 'src/flows/webhooks/sender.ts',
        in: 'webhookSender',
        from: 'signers.map(',
        to: 'signers.slice(0, 1).map(',
      },
    ],
  },
  {
    name: 'other-id-at-each-try',
    text: 'a webhook that is sent again has another id',
    breaks: /the id of a webhook is that of its event/,
    edits: [
      {
        file: 'src/flows/webhooks/sender.ts',
        in: 'webhookSender',
        from: "'webhook-id': id,",
        to: "'webhook-id': `${id}.${now.getTime()}`,",
      },
    ],
  },
  {
    name: 'former-owner-sends-webhooks',
    text: 'a process that does not know whether it still owns an account sends its events',
    breaks: /one owner an account/,
    edits: [
      {
        file: ENDPOINT,
        in: 'EndpointDelivery.#isOver',
        from: ' || holding.ending.aborted || !holding.isTrusted()',
        to: '',
      },
    ],
  },
  {
    name: 'receiver-begins-at-the-beginning',
    text: 'a new endpoint gets the events from before it was known',
    breaks: /a receiver begins when it is first known/,
    notCaught: 'the observer takes the beginning of an endpoint from the cursor that the program has written',
    edits: [
      {
        file: 'src/store/webhooks/cursors.ts',
        in: 'registerEndpoint',
        from: 'if (added.numInsertedOrUpdatedRows !== 1n) return;',
        to: 'if (added.numInsertedOrUpdatedRows !== 2n) return;',
      },
    ],
  },
  {
    name: 'feed-gives-an-event-twice',
    text: 'a page of the feed begins with the event of the cursor',
    breaks: /the feed/,
    edits: [
      { file: 'src/store/feed.ts', in: 'pageStatement', from: "'id', '>', v.afterId", to: "'id', '>=', v.afterId" },
    ],
  },
  {
    name: 'cursor-ahead-of-its-page',
    text: 'where a page ends the feed, its cursor is the newest event, read after the page',
    breaks: /the feed/,
    notCaught: 'nothing happens between two reads that follow each other, as each waits for promises only',
    edits: [
      {
        file: 'src/flows/events/feed.ts',
        in: 'readPage',
        from: 'next: next.id < head.id ? head : placeAt(next)',
        to: 'next: await feedHead(db, filter.account)',
      },
    ],
  },
];
