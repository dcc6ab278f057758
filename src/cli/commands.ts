import type { Command } from 'commander';

/** A command: its text in the help, and its module, which adds arguments, options and an action to it. */
type Entry = readonly [text: string, load: () => Promise<{ define(command: Command): void }>];

/** A command that only holds others. */
interface Group {
  readonly text: string;
  readonly example: string;
  readonly commands: Entries;
}

/** Commands by name, in the order of the help. */
export type Entries = Readonly<Record<string, Entry | Group>>;

/** Every command. A command is loaded when it is called: to load them all takes longer than most commands take. */
export const COMMANDS: Entries = {
  run: [
    'the daemon: sends pending orders and follows them to the end; one JSON log line per event on stdout',
    () => import('./operate/run.ts'),
  ],
  sync: [
    'one pass: sends the pending orders that are due, looks up every followed order once, and exits',
    () => import('./operate/sync.ts'),
  ],
  orders: {
    text: 'put orders in, look at them, decide about them',
    example: 'order-sync orders list --state held',
    commands: {
      add: ['inserts one order', () => import('./orders/add.ts')],
      import: ['inserts the rows of a file, all or none', () => import('./orders/import.ts')],
      list: ['lists the newest orders', () => import('./orders/list.ts')],
      show: [
        'shows one order: its row, its history, and what the exchange said about it',
        () => import('./orders/show.ts'),
      ],
      explain: [
        'tells the whole story of one order in sentences, and what happens next',
        () => import('./orders/explain.ts'),
      ],
      resolve: ['records what became of orders that were sent, or ends them', () => import('./orders/resolve.ts')],
      retry: [
        'sends orders again that were rejected, are invalid, or whose outcome is unknown',
        () => import('./orders/retry.ts'),
      ],
      cancel: ['ends orders that were not sent yet', () => import('./orders/cancel.ts')],
    },
  },
  report: {
    text: 'reports from the database',
    example: 'order-sync report summary',
    commands: {
      summary: ['counts and exact sums by pair, state and status', () => import('./report/summary.ts')],
      reconciliation: [
        'our orders beside what the exchange says about them: exact sums, differences, findings, completeness',
        () => import('./report/reconciliation.ts'),
      ],
      ageing: [
        'how long orders have been in their state, with percentiles, and which have waited the longest',
        () => import('./report/ageing.ts'),
      ],
      changes: ['every change of a period, in the order in which it was recorded', () => import('./report/changes.ts')],
      explain: [
        'what a class of findings means and what to do about it; all classes unless one is named',
        () => import('./report/explain.ts'),
      ],
    },
  },
  findings: {
    text: 'what reconciliation found: look at it, acknowledge it',
    example: 'order-sync findings list --class AMOUNT_MISMATCH',
    commands: {
      list: ['lists the newest findings', () => import('./operate/findings/list.ts')],
      ack: [
        'acknowledges open findings; they stay until they are no longer true',
        () => import('./operate/findings/ack.ts'),
      ],
    },
  },
  lookup: [
    'shows the order record of an external order id, as the exchange answers now',
    () => import('./exchange/lookup.ts'),
  ],
  'pre-order': {
    text: 'pre-orders at the exchange',
    example: 'order-sync pre-order show 4be1c7',
    commands: {
      show: ['shows the pre-order of an id, as the exchange answers now', () => import('./exchange/pre-order.ts')],
    },
  },
  client: {
    text: 'clients and their links at the exchange',
    example: 'order-sync client show 7f1c2a',
    commands: {
      create: [
        'registers a client and makes a link, or links a registered client; the link is remembered',
        () => import('./exchange/client/create.ts'),
      ],
      validate: [
        'asks whether a link could be made for an e-mail address',
        () => import('./exchange/client/validate.ts'),
      ],
      show: [
        'shows a link and its verification status, as the exchange answers now',
        () => import('./exchange/client/show.ts'),
      ],
      follow: [
        'looks a link up and remembers it: the daemon follows its status from then on',
        () => import('./exchange/client/follow.ts'),
      ],
    },
  },
  idv: {
    text: 'identity verification of clients',
    example: 'order-sync idv token 7f1c2a --level MAIN',
    commands: {
      token: ['gets a token for a verification flow; it is a secret', () => import('./exchange/idv/token.ts')],
      photos: [
        'asks for the delivery of verification photos; the daemon receives them where photos.listen is set',
        () => import('./exchange/idv/photos.ts'),
      ],
    },
  },
  customer: {
    text: 'clients at the card-payment provider',
    example: 'order-sync customer cards 7f1c2a',
    commands: {
      show: ['shows the customer record of a link; personal data', () => import('./exchange/customer/show.ts')],
      cards: ['shows the saved cards of a link', () => import('./exchange/customer/cards.ts')],
    },
  },
  'sdk-token': ['gets a short-lived SDK token for a link; it is a secret', () => import('./exchange/sdk-token.ts')],
  links: [
    'lists the newest remembered client links, with the status that each had when it was last looked up',
    () => import('./exchange/links.ts'),
  ],
  photos: {
    text: 'photos that the exchange has delivered',
    example: 'order-sync photos list',
    commands: {
      list: ['lists the newest photos; file is the path in photos.folder', () => import('./exchange/photos/list.ts')],
      purge: ['deletes photos for good, files and rows', () => import('./exchange/photos/purge.ts')],
    },
  },
  db: {
    text: 'the database',
    example: 'order-sync db status',
    commands: {
      migrate: ['makes the database, or brings it up to date', () => import('./operate/db.ts')],
      status: ['which migrations the database has; exit 1 when some are pending', () => import('./operate/db.ts')],
    },
  },
  config: {
    text: 'settings, where they come from, and whether they are right',
    example: 'order-sync config check',
    commands: {
      show: [
        'shows every setting with its value and source; secrets are hidden',
        () => import('./operate/config/show.ts'),
      ],
      check: [
        'reads all settings and says what is wrong with them (exit 78); connects to nothing',
        () => import('./operate/config/check.ts'),
      ],
    },
  },
  openapi: [
    "prints the OpenAPI 3.1 document of the daemon's control socket; needs no settings",
    () => import('./operate/openapi.ts'),
  ],
  sandbox: [
    'an exchange to try things on: prints the environment lines to paste, runs until a signal',
    () => import('./sandbox/sandbox.ts'),
  ],
  demo: [
    'runs the orders of a shop to their end, on a sandbox exchange with faults; needs no settings',
    () => import('./sandbox/demo.ts'),
  ],
};
