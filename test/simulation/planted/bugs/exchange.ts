import type { PlantedBug } from '../bug.ts';

/** Bugs in reading answers and in the gate: the rate limit, the concurrency, the breakers. */
export const EXCHANGE_BUGS: readonly PlantedBug[] = [
  {
    name: '503-counts-as-not-taken',
    text: 'a 503 is read as a 429: the create was not taken and goes again',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: 'src/exchange/reply.ts',
        in: 'ask',
        from: 'if (status === 429)',
        to: 'if (status === 429 || status === 503)',
      },
    ],
  },
  {
    name: 'lost-answer-counts-as-not-sent',
    text: 'a request that broke off counts as one that never left',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: 'src/exchange/reply.ts',
        in: 'ask',
        from: "error.sent === 'never'",
        to: 'error.sent !== undefined',
      },
    ],
  },
  {
    name: 'bare-400-counts-as-refused',
    text: 'a 400 without the documented body refuses the order, whatever the setting says',
    breaks: /everything settles or is held/,
    mode: 'themed',
    edits: [
      {
        file: 'src/exchange/orders.ts',
        in: 'readCreate',
        from: "refusedBy === 'status' &&",
        to: '',
      },
    ],
  },
  {
    name: 'one-request-too-many',
    text: 'the bound of the rate limit is off by one',
    breaks: /rate kept/,
    edits: [
      {
        file: 'src/exchange/transport/rate-window.ts',
        in: 'RateWindow.waitMs',
        from: 'this.#running + this.#counted < this.limit.requests',
        to: 'this.#running + this.#counted <= this.limit.requests',
      },
    ],
  },
  {
    name: 'rate-counts-from-the-start',
    text: 'a request counts from when it left, and not from its end',
    breaks: /rate kept/,
    edits: [
      {
        file: 'src/exchange/transport/gate.ts',
        in: 'Gate.#begin',
        from: "if (this.#window.limit.mode === 'paced') endForWindow(true);",
        to: 'endForWindow(true);',
      },
    ],
  },
  {
    name: 'failed-requests-are-free',
    text: 'a request that failed does not count against the rate',
    breaks: /rate kept/,
    edits: [
      {
        file: 'src/exchange/client.ts',
        in: 'ExchangeClient.#note',
        from: "wasSent: reply.kind !== 'not-sent'",
        to: "wasSent: reply.kind === 'ok'",
      },
    ],
  },
  {
    name: 'one-in-flight-too-many',
    text: 'one request more than `exchange.concurrency` is in flight',
    breaks: /bounded concurrency/,
    edits: [
      {
        file: 'src/exchange/transport/gate.ts',
        in: 'Gate.constructor',
        from: 'new PQueue({ concurrency })',
        to: 'new PQueue({ concurrency: concurrency + 1 })',
      },
    ],
  },
  {
    name: 'creates-in-flight-count-each',
    text: 'each create of unknown outcome counts as evidence that creates alone are lost, also each of several in flight together',
    breaks: /creates are slowed/,
    edits: [
      {
        file: 'src/accounts/rules/restraints.ts',
        in: 'decideRestraints',
        from: 'if (isOfLast) return { ended, unknownInARow, evidence };',
        to: '',
      },
    ],
  },
  {
    name: 'outage-slows-creates',
    text: 'creates of unknown outcome slow creates also while look-ups are not answered either',
    breaks: /creates are slowed/,
    edits: [
      {
        file: 'src/accounts/rules/restraints.ts',
        in: 'decideRestraints',
        from: 'unknownInARow: unknownInARow - (doubted === undefined ? 0 : 1), evidence: settled',
        to: 'unknownInARow, evidence',
      },
    ],
  },
  {
    name: 'retry-after-is-ignored',
    text: 'a 429 holds the account for a second, whatever it asks for',
    breaks: /Retry-After kept/,
    edits: [
      {
        file: 'src/accounts/rules/restraints.ts',
        in: 'refused',
        from: "news.kind === 'rate-limited' ? news.retryAfterMs : 0",
        to: '0',
      },
    ],
  },
  {
    name: 'retry-after-as-a-date-is-unread',
    text: 'a Retry-After that is a date counts as unreadable',
    breaks: /Retry-After kept/,
    edits: [
      {
        file: 'src/exchange/reply.ts',
        in: 'retryAfterMs',
        from: 'HTTP_DATE.test(text) ?',
        to: "HTTP_DATE.test('') ?",
      },
    ],
  },
];
