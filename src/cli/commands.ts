import type { Command } from 'commander';
import type { AccountScope } from './shared/account.ts';

/**
 * A command: its text in lists; its module, which adds arguments, options, an action and, where there is more to say, a longer
 * text; and, where it takes `--account`, whether that may be all of them.
 */
type Entry = readonly [text: string, load: () => Promise<{ define(command: Command): void }>, scope?: AccountScope];

/** A command that only holds others. */
interface Group {
  readonly text: string;
  readonly example: string;
  readonly commands: Entries;
}

/** Commands by name, in the order of the help. */
export type Entries = Readonly<Record<string, Entry | Group>>;

/**
 * Every command, below the headings of the help. A command is loaded when it is called: to load them all takes longer than
 * most commands take.
 */
export const COMMANDS: Readonly<Record<string, Entries>> = {
  'First steps:': {
    demo: ['runs the orders of a shop to their end, on a sandbox exchange', () => import('./sandbox/demo/demo.ts')],
    sandbox: ['runs an exchange to try things on', () => import('./sandbox/sandbox.ts')],
    init: ['makes the settings, the file of the key and the database', () => import('./operate/init.ts')],
    config: {
      text: 'settings, where they come from, and whether they are right',
      example: 'order-sync config check',
      commands: {
        show: ['shows every setting with its source', () => import('./operate/config/show.ts')],
        check: ['says what is wrong with the settings', () => import('./operate/config/check.ts')],
        schema: ['prints the JSON Schema of the settings', () => import('./operate/config/schema.ts')],
      },
    },
  },
  'Every day:': {
    run: ['runs the daemon: sends pending orders, follows them to the end', () => import('./operate/run.ts')],
    sync: [
      'makes one pass: sends what is due, looks up what is followed',
      () => import('./operate/sync/sync.ts'),
      'one',
    ],
    status: ['shows how orders, daemon and exchange do', () => import('./operate/status.ts'), 'one-or-all'],
    doctor: [
      'looks for what is wrong with the set-up, and says what to do',
      () => import('./operate/doctor/doctor.ts'),
      'one-or-all',
    ],
    pause: ['stops creates of an account, or look-ups as well', () => import('./operate/pause.ts'), 'one-or-all'],
    resume: ['ends what pause began, and other holds of creates', () => import('./operate/pause.ts'), 'one-or-all'],
    orders: {
      text: 'put orders in, look at them, decide about them',
      example: 'order-sync orders list --state held',
      commands: {
        add: ['inserts one order', () => import('./orders/add.ts'), 'one'],
        import: ['inserts the rows of a file, all or none', () => import('./orders/import.ts'), 'one'],
        adopt: ['takes over orders that exist at the exchange', () => import('./orders/adopt.ts'), 'one'],
        list: ['lists the newest orders', () => import('./orders/list.ts'), 'one-or-all'],
        export: ['writes orders with every field of the exchange', () => import('./orders/export.ts'), 'one-or-all'],
        show: ['shows one order: row, history, answers of the exchange', () => import('./orders/show.ts'), 'one'],
        explain: ['tells the story of one order, and what happens next', () => import('./orders/explain.ts'), 'one'],
        resolve: ['records what became of orders that were sent', () => import('./orders/decision.ts'), 'one'],
        retry: ['sends rejected, invalid or unknown orders again', () => import('./orders/decision.ts'), 'one'],
        cancel: ['ends orders that were not sent yet', () => import('./orders/decision.ts'), 'one'],
      },
    },
    report: {
      text: 'reports from the database',
      example: 'order-sync report summary',
      commands: {
        summary: ['counts and exact sums by pair, state and status', () => import('./report/summary.ts'), 'one-or-all'],
        reconciliation: [
          'our orders beside those of the exchange, to the last digit',
          () => import('./report/reconciliation.ts'),
          'one-or-all',
        ],
        ageing: [
          'how long orders have been in their state; the oldest',
          () => import('./report/ageing.ts'),
          'one-or-all',
        ],
        changes: ['every change of a period, in order', () => import('./report/changes.ts'), 'one-or-all'],
        explain: ['what a class of findings means, and what to do about it', () => import('./report/explain.ts')],
      },
    },
    events: [
      'what has happened, in its order, and what happens',
      () => import('./operate/events/events.ts'),
      'one-or-all',
    ],
    findings: {
      text: 'what reconciliation found: look at it, acknowledge it',
      example: 'order-sync findings list --class AMOUNT_MISMATCH',
      commands: {
        list: ['lists the newest findings', () => import('./operate/findings/list.ts'), 'one-or-all'],
        ack: ['acknowledges open findings', () => import('./operate/findings/ack.ts'), 'one'],
      },
    },
    webhooks: {
      text: 'receivers of events: what they have taken, refused and missed',
      example: 'order-sync webhooks list',
      commands: {
        list: ['lists the endpoints, with what waits for each', () => import('./operate/webhooks/list.ts')],
        show: [
          'shows the events that an endpoint has refused, and its dead letters',
          () => import('./operate/webhooks/show.ts'),
        ],
        resend: ['sends dead letters or other events once more', () => import('./operate/webhooks/resend.ts'), 'one'],
        test: ['sends one message to an endpoint, to try it', () => import('./operate/webhooks/test.ts')],
        verify: ['checks the signature of a received message', () => import('./operate/webhooks/verify.ts')],
      },
    },
    db: {
      text: 'the database',
      example: 'order-sync db status',
      commands: {
        migrate: ['makes the database, or brings it up to date', () => import('./operate/db/migrations.ts')],
        status: ['says which migrations the database has', () => import('./operate/db/migrations.ts')],
        check: [
          'says whether the database is sound, and not older than its mark',
          () => import('./operate/db/check.ts'),
        ],
        'accept-restore': [
          'accepts a database that was put back to an older state',
          () => import('./operate/db/accept-restore.ts'),
          'one-or-all',
        ],
        backup: ['copies the database while it is in use', () => import('./operate/db/backup.ts')],
        copy: ['moves a SQLite database to PostgreSQL', () => import('./operate/db/copy.ts')],
      },
    },
  },
  'The exchange, as it answers now:': {
    lookup: ['shows an order record as the exchange answers now', () => import('./exchange/operations.ts'), 'one'],
    'pre-order': {
      text: 'pre-orders at the exchange',
      example: 'order-sync pre-order show 4be1c7',
      commands: {
        show: ['shows a pre-order as the exchange answers now', () => import('./exchange/operations.ts'), 'one'],
      },
    },
    probe: ['asks the exchange what its document leaves open', () => import('./exchange/probe.ts'), 'one'],
    client: {
      text: 'clients and their links at the exchange',
      example: 'order-sync client show 7f1c2a',
      commands: {
        create: ['makes a link for a client, and remembers it', () => import('./exchange/operations.ts'), 'one'],
        validate: ['asks whether a link could be made', () => import('./exchange/operations.ts'), 'one'],
        show: ['shows a link as the exchange answers now', () => import('./exchange/operations.ts'), 'one'],
        follow: ['remembers a link; the daemon follows its status', () => import('./exchange/operations.ts'), 'one'],
      },
    },
    idv: {
      text: 'identity verification of clients',
      example: 'order-sync idv token 7f1c2a --level MAIN',
      commands: {
        token: ['gets a token for a verification flow; it is a secret', () => import('./exchange/idv.ts'), 'one'],
        photos: ['asks for the delivery of verification photos', () => import('./exchange/idv.ts'), 'one'],
      },
    },
    customer: {
      text: 'clients at the card-payment provider',
      example: 'order-sync customer cards 7f1c2a',
      commands: {
        show: ['shows the customer record of a link; personal data', () => import('./exchange/operations.ts'), 'one'],
        cards: ['shows the saved cards of a link', () => import('./exchange/cards.ts'), 'one'],
      },
    },
    'sdk-token': [
      'gets a short-lived SDK token for a link; it is a secret',
      () => import('./exchange/operations.ts'),
      'one',
    ],
    links: ['lists the newest remembered client links', () => import('./exchange/links.ts'), 'one-or-all'],
    photos: {
      text: 'photos that the exchange has delivered',
      example: 'order-sync photos list',
      commands: {
        list: ['lists the newest photos', () => import('./exchange/photos/list.ts'), 'one-or-all'],
        purge: ['deletes photos for good, files and rows', () => import('./exchange/photos/purge.ts'), 'one'],
      },
    },
  },
  'Other:': {
    completion: ['prints the completion script for a shell', () => import('./operate/completion/completion.ts')],
    openapi: ['prints the OpenAPI document of the control socket', () => import('./operate/openapi.ts')],
  },
};
