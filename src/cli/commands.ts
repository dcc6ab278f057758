import type { Command } from 'commander';

/** A command: its text in the help of the program, and the function that adds its arguments, options and action. */
interface Entry {
  readonly text: string;
  readonly load: () => Promise<(command: Command) => void>;
}

/** A command that only holds others. */
interface Group {
  readonly text: string;
  readonly example: string;
  readonly commands: Entries;
}

/** Commands by name, in the order of the help. */
export type Entries = Readonly<Record<string, Entry | Group>>;

/** Tells a group from a command. */
export function isGroup(entry: Entry | Group): entry is Group {
  return 'commands' in entry;
}

/** Every command. A command is loaded when it is called: to load them all takes longer than most commands take. */
export const COMMANDS: Entries = {
  run: {
    text: 'the daemon: sends pending orders and follows them to the end; one JSON log line per event on stdout',
    load: async () => (await import('./operate/run.ts')).defineRun,
  },
  sync: {
    text: 'one pass: sends the pending orders that are due, looks up every followed order once, and exits',
    load: async () => (await import('./operate/sync.ts')).defineSync,
  },
  orders: {
    text: 'put orders in, look at them, decide about them',
    example: 'order-sync orders list --state held',
    commands: {
      add: {
        text: 'inserts one order',
        load: async () => (await import('./orders/add.ts')).defineAdd,
      },
      import: {
        text: 'inserts the rows of a file, all or none',
        load: async () => (await import('./orders/import.ts')).defineImport,
      },
      list: {
        text: 'lists the newest orders',
        load: async () => (await import('./orders/list.ts')).defineList,
      },
      show: {
        text: 'shows one order: its row, its history, and what the exchange said about it',
        load: async () => (await import('./orders/show.ts')).defineShow,
      },
      explain: {
        text: 'tells the whole story of one order in sentences, and what happens next',
        load: async () => (await import('./orders/explain.ts')).defineExplain,
      },
      resolve: {
        text: 'records what became of orders that were sent, or ends them',
        load: async () => (await import('./orders/resolve.ts')).defineResolve,
      },
      retry: {
        text: 'sends orders again that were rejected, are invalid, or whose outcome is unknown',
        load: async () => (await import('./orders/retry.ts')).defineRetry,
      },
      cancel: {
        text: 'ends orders that were not sent yet',
        load: async () => (await import('./orders/cancel.ts')).defineCancel,
      },
    },
  },
  report: {
    text: 'reports from the database',
    example: 'order-sync report summary',
    commands: {
      summary: {
        text: 'counts and exact sums by pair, state and status',
        load: async () => (await import('./report/summary.ts')).defineSummary,
      },
      reconciliation: {
        text: 'our orders beside what the exchange says about them: exact sums, differences, findings, completeness',
        load: async () => (await import('./report/reconciliation.ts')).defineReconciliation,
      },
      ageing: {
        text: 'how long orders have been in their state, with percentiles, and which have waited the longest',
        load: async () => (await import('./report/ageing.ts')).defineAgeing,
      },
      changes: {
        text: 'every change of a period, in the order in which it was recorded',
        load: async () => (await import('./report/changes.ts')).defineChanges,
      },
      explain: {
        text: 'what a class of findings means and what to do about it; all classes unless one is named',
        load: async () => (await import('./report/explain.ts')).defineExplain,
      },
    },
  },
  findings: {
    text: 'what reconciliation found: look at it, acknowledge it',
    example: 'order-sync findings list --class AMOUNT_MISMATCH',
    commands: {
      list: {
        text: 'lists the newest findings',
        load: async () => (await import('./operate/findings-list.ts')).defineList,
      },
      ack: {
        text: 'acknowledges open findings; they stay until they are no longer true',
        load: async () => (await import('./operate/findings-ack.ts')).defineAck,
      },
    },
  },
  lookup: {
    text: 'shows the order record of an external order id, as the exchange answers now',
    load: async () => (await import('./exchange/lookup.ts')).defineLookup,
  },
  'pre-order': {
    text: 'pre-orders at the exchange',
    example: 'order-sync pre-order show 4be1c7',
    commands: {
      show: {
        text: 'shows the pre-order of an id, as the exchange answers now',
        load: async () => (await import('./exchange/pre-order.ts')).defineShow,
      },
    },
  },
  client: {
    text: 'clients and their links at the exchange',
    example: 'order-sync client show 7f1c2a',
    commands: {
      create: {
        text: 'registers a client and makes a link, or links a registered client; the link is remembered',
        load: async () => (await import('./exchange/client.ts')).defineCreate,
      },
      validate: {
        text: 'asks whether a link could be made for an e-mail address',
        load: async () => (await import('./exchange/client.ts')).defineValidate,
      },
      show: {
        text: 'shows a link and its verification status, as the exchange answers now',
        load: async () => (await import('./exchange/client.ts')).defineShow,
      },
      follow: {
        text: 'looks a link up and remembers it: the daemon follows its status from then on',
        load: async () => (await import('./exchange/client.ts')).defineFollow,
      },
    },
  },
  idv: {
    text: 'identity verification of clients',
    example: 'order-sync idv token 7f1c2a --level MAIN',
    commands: {
      token: {
        text: 'gets a token for a verification flow; it is a secret',
        load: async () => (await import('./exchange/idv.ts')).defineToken,
      },
      photos: {
        text: 'asks for the delivery of verification photos; the daemon receives them where photos.listen is set',
        load: async () => (await import('./exchange/idv.ts')).definePhotos,
      },
    },
  },
  customer: {
    text: 'clients at the card-payment provider',
    example: 'order-sync customer cards 7f1c2a',
    commands: {
      show: {
        text: 'shows the customer record of a link; personal data',
        load: async () => (await import('./exchange/customer.ts')).defineShow,
      },
      cards: {
        text: 'shows the saved cards of a link',
        load: async () => (await import('./exchange/customer.ts')).defineCards,
      },
    },
  },
  'sdk-token': {
    text: 'gets a short-lived SDK token for a link; it is a secret',
    load: async () => (await import('./exchange/sdk-token.ts')).defineSdkToken,
  },
  links: {
    text: 'lists the newest remembered client links, with the status that each had when it was last looked up',
    load: async () => (await import('./exchange/links.ts')).defineLinks,
  },
  photos: {
    text: 'photos that the exchange has delivered',
    example: 'order-sync photos list',
    commands: {
      list: {
        text: 'lists the newest photos; file is the path in photos.folder',
        load: async () => (await import('./exchange/photos-list.ts')).defineList,
      },
      purge: {
        text: 'deletes photos for good, files and rows',
        load: async () => (await import('./exchange/photos-purge.ts')).definePurge,
      },
    },
  },
  db: {
    text: 'the database',
    example: 'order-sync db status',
    commands: {
      migrate: {
        text: 'makes the database, or brings it up to date',
        load: async () => (await import('./operate/db.ts')).defineMigrate,
      },
      status: {
        text: 'which migrations the database has; exit 1 when some are pending',
        load: async () => (await import('./operate/db.ts')).defineStatus,
      },
    },
  },
  config: {
    text: 'settings, where they come from, and whether they are right',
    example: 'order-sync config check',
    commands: {
      show: {
        text: 'shows every setting with its value and source; secrets are hidden',
        load: async () => (await import('./operate/config.ts')).defineShow,
      },
      check: {
        text: 'reads all settings and says what is wrong with them (exit 78); connects to nothing',
        load: async () => (await import('./operate/config.ts')).defineCheck,
      },
    },
  },
  openapi: {
    text: "prints the OpenAPI 3.1 document of the daemon's control socket; needs no settings",
    load: async () => (await import('./operate/openapi.ts')).defineOpenApi,
  },
  sandbox: {
    text: 'an exchange to try things on: prints the environment lines to paste, runs until a signal',
    load: async () => (await import('./sandbox/sandbox.ts')).defineSandbox,
  },
  demo: {
    text: 'runs the orders of a shop to their end, on a sandbox exchange with faults; needs no settings',
    load: async () => (await import('./sandbox/demo.ts')).defineDemo,
  },
};
