import type { PlantedBug } from '../bug.ts';

const ENDPOINT = 'src/extensions/webhooks/endpoint.ts';
const ACCOUNT = 'src/extensions/webhooks/turn.ts';
const TURN = 'src/extensions/webhooks/turn.ts';
const DELIVERIES = 'src/extensions/webhooks/tables/deliveries.ts';

/** Bugs in sending events to the receivers of a merchant. */
export const WEBHOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'cursor-before-the-delivery',
    text: 'the cursor of an endpoint passes events that it has not accepted',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: TURN,
        in: 'endOfTurn',
        from: '(isSentToTheEnd ? page : sent).at(-1)?.id ?? cursor;',
        to: 'page.at(-1)?.id ?? cursor;',
      },
      {
        file: TURN,
        in: 'endOfTurn',
        from: 'rows.filter(({ event_id }) => event_id <= end)',
        to: 'rows.filter(({ event_id }) => results.has(event_id))',
      },
    ],
  },
  {
    name: 'events-of-an-order-beside-each-other',
    text: 'events of one order are sent beside each other',
    breaks: /webhooks in order per order/,
    edits: [
      {
        file: TURN,
        in: 'subjectsOf',
        from: 'Map.groupBy(free, subjectKey)',
        to: 'Map.groupBy(free, ({ id }) => String(id))',
      },
    ],
  },
  {
    name: 'parked-order-is-overtaken',
    text: 'later events of an order do not wait for the one that was refused',
    breaks: /webhooks in order per order/,
    edits: [{ file: TURN, in: 'subjectsOf', from: '!event.isBehind && ', to: '' }],
  },
  {
    name: 'parked-in-memory-only',
    text: 'a refused event is kept in memory only',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: ACCOUNT,
        in: 'AccountDelivery.writeTurn',
        from: 'await writeDeliveries(tx, changes);',
        to: '',
      },
    ],
  },
  {
    name: 'unparked-too-soon',
    text: 'once the refused event is accepted, the events behind it are left out',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: DELIVERIES,
        in: 'writeDeliveries',
        from: "set status = 'waiting', next_attempt_at = ${AT_ONCE}",
        to: "set status = 'delivered'",
      },
    ],
  },
  {
    name: 'given-up-without-a-dead-letter',
    text: 'an event that was refused at every attempt is kept nowhere',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [
      {
        file: TURN,
        in: 'endOfTurn',
        from: 'else if (result !== undefined) kept.push(result);',
        to: "else if (result?.status === 'dead') ended.push(result);\n    else if (result !== undefined) kept.push(result);",
      },
    ],
  },
  {
    name: 'redirect-counts-as-taken',
    text: 'a redirect counts as an accepted event',
    breaks: /webhooks complete|webhooks in order per order|no receiver waits for another/,
    edits: [{ file: 'src/extensions/webhooks/delivery.ts', in: 'outcomeOf', from: 'status < 300', to: 'status < 400' }],
  },
  {
    name: 'retry-after-of-an-endpoint-is-ignored',
    text: 'an endpoint is asked again after the usual wait, whatever it asks for',
    breaks: /Retry-After kept/,
    edits: [
      {
        file: 'src/extensions/webhooks/delivery.ts',
        in: 'endpointWaitMs',
        from: 'Math.max(usual, retryAfterMs)',
        to: 'usual',
      },
    ],
  },
  {
    name: 'ninth-delivery-in-flight',
    text: 'nine deliveries are in flight at a time',
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
        file: 'src/extensions/webhooks/webhooks.ts',
        in: 'Webhooks.run',
        from: 'for (const delivery of this.#deliveries) delivery.wake(account)',
        to: 'for (const delivery of this.#deliveries.slice(0, 1)) delivery.wake(account)',
      },
    ],
  },
  {
    name: 'parked-waits-for-new-events',
    text: 'a refused event is sent again when there is a new event, and not when it is time',
    breaks: /a refused event is sent again|webhooks complete/,
    edits: [
      {
        file: ACCOUNT,
        in: 'AccountDelivery.hasWork',
        from: ' || this.isDueAt(now)',
        to: '',
      },
    ],
  },
  {
    name: 'receiver-gets-all-types',
    text: 'the filter of an endpoint is ignored',
    breaks: /only the types that are wanted/,
    edits: [
      {
        file: TURN,
        in: 'isWanted',
        from: 'takesType(events, feedEventOf(event).type)',
        to: 'takesType([], feedEventOf(event).type)',
      },
    ],
  },
  {
    name: 'signed-with-the-first-secret',
    text: 'while secrets are rotated, a webhook is signed with the first one alone',
    breaks: /signed with each secret/,
    edits: [
      {
        file: 'src/extensions/webhooks/sender.ts',
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
        file: 'src/extensions/webhooks/sender.ts',
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
        from: ' || accountLease.ending.aborted || !accountLease.isTrusted()',
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
        file: 'src/extensions/webhooks/tables/endpoints.ts',
        in: 'registerEndpoint',
        from: 'if (added.numAffectedRows !== 1n) return;',
        to: 'if (added.numAffectedRows !== 2n) return;',
      },
    ],
  },
  {
    name: 'feed-gives-an-event-twice',
    text: 'a page of the feed begins with the event of the cursor',
    breaks: /the feed/,
    edits: [
      {
        file: 'src/extensions/feed/tables/events.ts',
        in: 'pageStatement',
        from: "'id', '>', v.afterId",
        to: "'id', '>=', v.afterId",
      },
    ],
  },
  {
    name: 'cursor-ahead-of-its-page',
    text: 'the cursor of the last page is the newest event, read after the page',
    breaks: /the feed/,
    notCaught: 'nothing happens between two reads that follow each other, because each waits for promises only',
    edits: [
      {
        file: 'src/extensions/feed/feed.ts',
        in: 'readPage',
        from: 'next: next.id < head.id ? head : next',
        to: 'next: await feedHead(db, filter.account)',
      },
    ],
  },
];
