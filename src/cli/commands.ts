import type { Command } from 'commander';
import type { AccountScope } from './shared/account.ts';

type Define = (command: Command) => void;

type Load = () => Promise<{ readonly define: Define | Readonly<Record<string, Define>> }>;

type Entry = readonly [text: string, load: Load, scope?: AccountScope];

interface Group {
  readonly text: string;
  readonly example: string;
  readonly commands: Entries;
}

export type Entries = Readonly<Record<string, Entry | Group>>;

// Modules of several commands. A module is loaded when one of its commands is called: to load all of them takes longer than most commands take.
const config = () => import('../extensions/setup/config.ts');
const db = () => import('../extensions/restore/db.ts');
const decision = () => import('../extensions/operate/decision.ts');
const findings = () => import('../extensions/operate/findings.ts');
const insert = () => import('../extensions/intake/commands/insert.ts');
const operations = () => import('../extensions/clients/commands/operations.ts');
const orders = () => import('../extensions/operate/list.ts');
const pause = () => import('../extensions/operate/pause.ts');
const remembered = () => import('../extensions/clients/commands/remembered.ts');
const reports = () => import('../extensions/reports/commands/reports.ts');
const webhooks = () => import('../extensions/webhooks/commands.ts');

const CONFIG: Group = {
  text: 'settings, where they come from, and whether they are right',
  example: 'order-sync config check',
  commands: {
    show: ['shows every setting with its source', config],
    check: ['says what is wrong with the settings', config],
    schema: ['prints the JSON Schema of the settings', config],
  },
};

const ORDERS: Group = {
  text: 'put orders in, look at them, decide about them',
  example: 'order-sync orders list --state held',
  commands: {
    add: ['inserts one order', insert, 'one'],
    import: ['inserts the rows of a file, all or none', insert, 'one'],
    adopt: [
      'takes over orders that exist at the exchange',
      () => import('../extensions/intake/commands/adopt.ts'),
      'one',
    ],
    list: ['lists the newest orders', orders, 'one-or-all'],
    export: [
      'writes orders with every field of the exchange',
      () => import('../extensions/intake/commands/export.ts'),
      'one-or-all',
    ],
    show: ['shows one order: row, history, answers of the exchange', orders, 'one'],
    explain: [
      'tells the story of one order, and what happens next',
      () => import('../extensions/reports/commands/explain.ts'),
      'one',
    ],
    resolve: ['records what became of orders that were sent', decision, 'one'],
    retry: ['sends rejected, invalid or unknown orders again', decision, 'one'],
    cancel: ['ends orders that were not sent yet', decision, 'one'],
  },
};

const REPORT: Group = {
  text: 'reports from the database',
  example: 'order-sync report summary',
  commands: {
    summary: ['counts and exact sums by pair, state and status', reports, 'one-or-all'],
    reconciliation: [
      'our orders beside those of the exchange, to the last digit',
      () => import('../extensions/reports/commands/reconciliation.ts'),
      'one-or-all',
    ],
    ageing: ['how long orders have been in their state; the oldest', reports, 'one-or-all'],
    changes: ['every change of a period, in order', reports, 'one-or-all'],
    explain: ['what a class of findings means, and what to do about it', findings],
  },
};

const FINDINGS: Group = {
  text: 'what reconciliation found: look at it, acknowledge it',
  example: 'order-sync findings list --class AMOUNT_MISMATCH',
  commands: {
    list: ['lists the newest findings', findings, 'one-or-all'],
    ack: ['acknowledges open findings', findings, 'one'],
  },
};

const WEBHOOKS: Group = {
  text: 'receivers of events: what they have taken, refused and missed',
  example: 'order-sync webhooks list',
  commands: {
    list: ['lists the endpoints, with what waits for each', webhooks],
    show: ['shows the events that an endpoint has refused, and its dead letters', webhooks],
    resend: ['sends dead letters or other events once more', webhooks, 'one'],
    test: ['sends one message to an endpoint, to try it', webhooks],
    verify: ['checks the signature of a received message', webhooks],
  },
};

const DB: Group = {
  text: 'the database',
  example: 'order-sync db status',
  commands: {
    migrate: ['makes the database, or brings it up to date', db],
    status: ['says which migrations the database has', db],
    check: ['says whether the database is sound, and not older than its mark', db],
    'accept-restore': [
      'accepts a database that was put back to an older state',
      () => import('../extensions/restore/command.ts'),
      'one-or-all',
    ],
    backup: ['copies the database while it is in use', db],
    copy: ['moves a SQLite database to PostgreSQL', () => import('../extensions/postgres/move/command.ts')],
  },
};

const EXCHANGE: Entries = {
  lookup: ['shows an order record as the exchange answers now', operations, 'one'],
  'pre-order': {
    text: 'pre-orders at the exchange',
    example: 'order-sync pre-order show 4be1c7',
    commands: { show: ['shows a pre-order as the exchange answers now', operations, 'one'] },
  },
  probe: [
    'asks the exchange what its document leaves open',
    () => import('../extensions/intake/probe/command.ts'),
    'one',
  ],
  client: {
    text: 'clients and their links at the exchange',
    example: 'order-sync client show 7f1c2a',
    commands: {
      create: ['makes a link for a client, and remembers it', operations, 'one'],
      validate: ['asks whether a link could be made', operations, 'one'],
      show: ['shows a link as the exchange answers now', operations, 'one'],
      follow: ['remembers a link; the daemon follows its status', operations, 'one'],
    },
  },
  idv: {
    text: 'identity verification of clients',
    example: 'order-sync idv token 7f1c2a --level MAIN',
    commands: {
      token: ['gets a token for a verification flow; it is a secret', operations, 'one'],
      photos: ['asks for the delivery of verification photos', operations, 'one'],
    },
  },
  customer: {
    text: 'clients at the card-payment provider',
    example: 'order-sync customer cards 7f1c2a',
    commands: {
      show: ['shows the customer record of a link; personal data', operations, 'one'],
      cards: ['shows the saved cards of a link', operations, 'one'],
    },
  },
  'sdk-token': ['gets a short-lived SDK token for a link; it is a secret', operations, 'one'],
  links: ['lists the newest remembered client links', remembered, 'one-or-all'],
  photos: {
    text: 'photos that the exchange has delivered',
    example: 'order-sync photos list',
    commands: {
      list: ['lists the newest photos', remembered, 'one-or-all'],
      purge: ['deletes photos for good, files and rows', remembered, 'one'],
    },
  },
};

export const COMMANDS: Readonly<Record<string, Entries>> = {
  'First steps:': {
    demo: [
      'runs the orders of a shop to their end, on a sandbox exchange',
      () => import('../extensions/sandbox/demo/demo.ts'),
    ],
    sandbox: ['runs an exchange to try things on', () => import('../extensions/sandbox/command.ts')],
    init: ['makes the settings, the file of the key and the database', () => import('../extensions/setup/init.ts')],
    config: CONFIG,
  },
  'Every day:': {
    run: ['runs the daemon: sends pending orders, follows them to the end', () => import('./run.ts')],
    sync: ['makes one pass: sends what is due, looks up what is followed', () => import('./sync.ts'), 'one'],
    status: [
      'shows how orders, daemon and exchange do',
      () => import('../extensions/health/status/command.ts'),
      'one-or-all',
    ],
    doctor: [
      'looks for what is wrong with the set-up, and says what to do',
      () => import('../extensions/health/doctor/doctor.ts'),
      'one-or-all',
    ],
    pause: ['stops creates of an account, or look-ups as well', pause, 'one-or-all'],
    resume: ['ends what pause began, and other holds of creates', pause, 'one-or-all'],
    orders: ORDERS,
    report: REPORT,
    events: [
      'what has happened, in its order, and what happens',
      () => import('../extensions/feed/command.ts'),
      'one-or-all',
    ],
    findings: FINDINGS,
    webhooks: WEBHOOKS,
    db: DB,
  },
  'The exchange, as it answers now:': EXCHANGE,
  'Other:': {
    completion: ['prints the completion script for a shell', () => import('../extensions/setup/completion.ts')],
    openapi: ['prints the OpenAPI document of the control socket', () => import('../extensions/api/command.ts')],
  },
};
