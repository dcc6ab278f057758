import { endpointsOf } from '../src/extensions/clients/endpoints/endpoints.ts';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { SCOPES } from '../src/extensions/api/caller.ts';
import { canaryExchange, CANARIES, MODES, type CanaryExchange, type Mode } from './support/canary-exchange.ts';
import { httpTransport } from '../src/exchange/transport/transport.ts';
import { loneClient } from './support/exchange-client.ts';
import { runProgram } from './support/cli-function.ts';
import { runCommand } from './support/cli-process.ts';
import { askAt, askSocket } from './support/control-socket.ts';
import { canaryReceiver, RECEIVER_SECRETS, type CanaryReceiver } from './support/canary-receiver.ts';
import { unzip } from './support/unzip.ts';
import { programProcesses, type Daemon, type ProgramProcesses } from './support/program-processes.ts';

/** Beside the secrets of the exchange: the token that a sender of photos brings. */
const BROUGHT = {
  photo: 'canary-photo-content-6f',
  unwantedPhoto: 'canary-unwanted-content-1a',
  unknownToken: 'canary-unknown-token-4e',
  opsToken: 'canary-ops-token-5b',
  apiToken: 'canary-api-token-7d-of-32-characters',
  heartbeat: 'canary-heartbeat-6a',
  idempotencyKey: 'canary-idempotency-key-3f',
  ...RECEIVER_SECRETS,
};
const { email, paymentToken, cryptoAddress } = CANARIES;
const LINK_PATH = '/api/v1/merchant/client/link-1';
const ORDER = {
  asset: '1.5',
  from_currency: 'BTC',
  to_currency: 'EUR',
  payment_token: paymentToken,
  crypto_address: cryptoAddress,
};

/** Operations of the control socket, by what they are called here. */
const OPERATIONS: readonly (readonly [name: string, method: string, path: string, body?: unknown])[] = [
  ['createLink', 'POST', '/clients', { email, reference: 'customer-7' }],
  ['validateEmail', 'POST', '/clients/validate', { email }],
  ['showLink', 'GET', '/clients/link-1'],
  ['followLink', 'POST', '/clients/link-1/follow', { reference: 'customer-7' }],
  ['verificationToken', 'GET', '/clients/link-1/idv/MAIN'],
  ['requestPhotos', 'POST', '/clients/link-1/idv/photos', { level: 'MAIN' }],
  ['showCustomer', 'GET', '/clients/link-1/customer'],
  ['listCards', 'GET', '/clients/link-1/cards'],
  ['sdkToken', 'POST', '/clients/link-1/sdk-token'],
  ['addOrder', 'POST', '/orders', { external_order_id: 'fine-1', ...ORDER }],
  ['addOrder', 'POST', '/orders', { external_order_id: 'fine-1', ...ORDER, payment_token: `${paymentToken}-other` }],
  ['addOrder', 'POST', '/orders', { external_order_id: 'fine-1', ...ORDER, payment_token: { of: paymentToken } }],
  ['lookUpOrder', 'GET', '/orders?externalOrderId=shop-1'],
  ['showPreOrder', 'GET', '/pre-orders/p1'],
  ['listLinks', 'GET', '/links'],
  ['listEvents', 'GET', '/events?limit=1000'],
  ['showOrder', 'GET', '/orders/fine-1'],
  ['explainOrder', 'GET', '/orders/fine-1/explanation'],
  ['listOrders', 'GET', '/merchant-orders'],
  ['listFindings', 'GET', '/findings'],
  ['malformed', 'POST', '/clients', `{"email":"${email}`],
  ['malformed', 'POST', '/clients', { email: [email] }],
  ['malformed', 'POST', '/clients', { email, reference: `of ${email}` }],
  ['malformed', 'POST', '/clients', { email: `${email}\n` }],
];
/** Commands that ask the exchange. */
const ASKING = [
  `client create ${email} --reference customer-7`,
  `client validate ${email}`,
  'client show link-1',
  'client follow link-1',
  'idv token link-1 --level MAIN',
  'idv photos link-1 --level MAIN',
  'customer show link-1',
  'customer cards link-1',
  'customer cards link-1 --reveal',
  'sdk-token link-1',
  'lookup shop-1',
  'lookup shop-1 --reveal',
  'pre-order show p1',
  'pre-order show p1 --reveal',
] as const;
/** The operations that send text which a refusal may quote. */
const SECRETIVE = ASKING.filter((line) => /^(client create|idv photos|client validate|customer show)/.test(line));
/** Commands that read what is here. */
const READING = [
  'config show',
  'openapi',
  'links',
  'links show link-1',
  'photos list',
  'orders list',
  'orders list --json',
  'orders list --json --reveal',
  'orders show fine-1',
  'orders show fine-1 --json',
  'orders show fine-1 --reveal',
  'orders show refused-1',
  'events',
  'events --json',
  'orders explain fine-1',
  'orders explain fine-1 --json',
  'orders export --format ndjson',
  'findings',
  'webhooks list',
  'webhooks list --json',
  'webhooks show shop',
  'webhooks test shop',
  'webhooks resend shop --from 1',
  'status',
  'status --json',
  'doctor',
  'report summary',
  'db status',
];
/** Commands that leave files, in every format that there is. */
const WRITING = [
  ...['html', 'xlsx', 'json'].map((format) => `report reconciliation --out reconciliation.${format}`),
  'report reconciliation --out every-table/',
  'report changes --out changes.csv',
  'report ageing --out ageing.html',
  'orders export --out export.csv',
  'orders export --out export.xlsx',
  'orders explain fine-1 --format html --out story.html',
  'doctor --bundle bundle.json',
  'db backup orders.db.backup',
];

/** Pages of the ops endpoint. */
const PAGES = [
  '/',
  '/orders?q=fine',
  '/findings?status=any',
  '/orders/fine-1?account=default',
  '/orders/refused-1?account=default',
  '/pause?account=default',
  '/readyz',
  '/metrics',
];

/** Everything that was said and left, by its place. */
const places = new Map<string, string>();
function note(place: string, text: string): void {
  places.set(place, `${places.get(place) ?? ''}${text}\n`);
}

/** The places of a text, as it is or as part of an address. */
function placesOf(text: string): string[] {
  const wanted = [text, encodeURIComponent(text)].map((form) => form.toLowerCase());
  return [...places]
    .filter(([, said]) => wanted.some((form) => said.toLowerCase().includes(form)))
    .map(([name]) => name);
}

let exchange: CanaryExchange;
let receiver: CanaryReceiver;
let on: ProgramProcesses;
/** Files and folders that others could open while the daemon ran. */
let open: string[];
let umask = 0;
/** The folder of the secret of the API, apart from what the program makes. */
let secrets = '';

async function useSocket(mode: Mode): Promise<void> {
  exchange.mode = mode;
  for (const [index, [name, method, path, body]] of OPERATIONS.entries()) {
    const key = { 'idempotency-key': `${BROUGHT.idempotencyKey}-${mode}-${index}` };
    const { text, headers } = await askSocket(`${on.path}.sock`, method, path, body, { headers: key });
    note(`${name} over the socket${mode === 'fine' ? '' : `, ${mode}`}`, JSON.stringify(headers) + text);
  }
}

/** Asks the API, with its token for what cannot be done, with another one and without. */
async function useApi(url: string): Promise<void> {
  for (const token of [BROUGHT.apiToken, BROUGHT.unknownToken, undefined]) {
    for (const [name, method, path, body] of OPERATIONS.filter(
      ([one]) => token !== BROUGHT.apiToken || one === 'malformed',
    )) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await askAt({ host: '127.0.0.1', port: new URL(url).port }, method, path, body, { headers });
      note(`${name} over the API`, `${answer.status} ${JSON.stringify(answer.headers)}${answer.text}`);
    }
  }
}

/** Runs commands, each as a process of its own unless another way is given. */
async function runCommands(
  commands: readonly string[],
  how = '',
  run: typeof runCommand | typeof runProgram = runCommand,
): Promise<void> {
  const options = { cwd: dirname(on.path), environment: on.environment };
  for (const line of commands) {
    const { stdout, stderr } = await run(line.split(' '), options);
    const name = line.replace(` ${email}`, '');
    note(`${name}${how}`, stdout);
    note(`stderr of ${name}${how}`, stderr);
  }
}

async function syncOverSocket(): Promise<void> {
  note('sync over the socket', (await askSocket(`${on.path}.sock`, 'POST', '/sync')).text);
}

/** Orders whose id says how the exchange answers, so that all are sent at the same time. */
async function sendOrders(): Promise<void> {
  const insert = on.merchant.prepare(
    'insert into merchant_orders (external_order_id, asset, from_currency, to_currency, payment_token) values (?, ?, ?, ?, ?)',
  );
  await askSocket(`${on.path}.sock`, 'POST', '/orders', { external_order_id: 'fine-1', ...ORDER });
  await syncOverSocket();
  on.merchant.transaction(() => {
    for (const mode of MODES.slice(1)) insert.run(`${mode}-1`, '1.5', 'BTC', 'EUR', paymentToken);
    insert.run('invalid-1', '-1', 'BTC', 'EUR', paymentToken);
    insert.run('invalid-2', '1', 'BTC', 'EUR', Buffer.from(paymentToken));
  })();
  await syncOverSocket();
}

/** Requests that are sent again would hold the account again and again. One whose request is in flight cannot be cancelled. */
async function cancelUntaken(): Promise<void> {
  const left = on.merchant
    .prepare(`select external_order_id from merchant_orders where state in ('pending', 'sending')`)
    .pluck();
  for (let ids = left.all(); ids.length > 0; ids = left.all())
    await runCommands([`orders cancel ${ids.join(' ')} --reason done`], '', runProgram);
}

/** Deliveries as they should be and as they should not. */
async function deliverPhotos(url: string): Promise<void> {
  const jpeg = (content: string) =>
    new Blob([Buffer.from(`\xff\xd8\xff\xe0${content}`, 'latin1')], { type: 'image/jpeg' });
  const post = async (details: string, file: Blob) => {
    const form = new FormData();
    form.set('details', details);
    form.set('file', file, 'passport.jpg');
    const answer = await fetch(url, { method: 'POST', body: form });
    note('answers of the photo receiver', JSON.stringify([...answer.headers]) + (await answer.text()));
    return answer.status;
  };
  const details = JSON.stringify({ token: exchange.photoTokens.at(-1) });
  const statuses = [
    await post(details, new Blob([BROUGHT.unwantedPhoto])),
    await post(JSON.stringify({ token: BROUGHT.unknownToken }), jpeg(BROUGHT.unwantedPhoto)),
    await post(`{"token":"${BROUGHT.unknownToken}`, jpeg(BROUGHT.unwantedPhoto)),
    await post(details, jpeg(BROUGHT.photo)),
    await post(details, jpeg(BROUGHT.photo)),
    await post(details, jpeg(BROUGHT.unwantedPhoto)),
  ];
  note('end of each delivery', statuses.join(' '));
}

/** The values and errors of the client itself if it does not get what it asked for. */
async function inspectAnswers(): Promise<void> {
  const client = loneClient({ baseUrl: exchange.url, apiKey: CANARIES.key });
  const connection = {
    baseUrl: exchange.url,
    apiKey: () => CANARIES.key,
    timeoutMs: 60_000,
    maxResponseBytes: 100_000,
  };
  const transport = httpTransport(connection);
  const seen = (value: unknown) =>
    note('answers and errors, inspected', inspect(value, { depth: Infinity, showHidden: true }));
  const calls = [
    () => endpointsOf(client).createLink(email),
    () => endpointsOf(client).validateEmail(email),
    () => endpointsOf(client).showLink('link-1'),
    () => endpointsOf(client).requestPhotos('link-1', { level: 'MAIN', token: BROUGHT.unknownToken }),
    () => endpointsOf(client).listCards('link-1'),
    () => endpointsOf(client).sdkToken('link-1'),
    () => client.showOrder('shop-1'),
    () => endpointsOf(client).createLink(`${email}\u0000`),
    () => endpointsOf(client).showLink(`${email}\n`),
    // An address in place of an id, by mistake.
    () => endpointsOf(client).showCustomer(email),
  ];
  for (const mode of MODES.slice(1)) {
    exchange.mode = mode;
    for (const call of calls) seen(await call().catch((error: unknown) => error));
    const path = `/api/v1/merchant/client/${encodeURIComponent(email)}`;
    await transport.send({ method: 'POST', path, body: JSON.stringify({ email }) }).catch(seen);
  }
  await transport.close();
  await client.close();
}

/** Reads the pages of the ops endpoint, with its token, with another one and without. */
async function readPages(url: string): Promise<void> {
  const tokens = { '': BROUGHT.opsToken, ', refused': BROUGHT.unknownToken, ', open': undefined };
  for (const [how, token] of Object.entries(tokens)) {
    for (const path of PAGES) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}${path}`, { headers });
      note(`the page ${path}${how}`, `${answer.status} ${JSON.stringify([...answer.headers])}${await answer.text()}`);
    }
  }
}

/** The events that the dashboard is sent, until the daemon ends. */
async function listen(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${BROUGHT.opsToken}` };
  const { body } = await fetch(`${url}/events?account=default`, { headers });
  for await (const chunk of body ?? [])
    note('the events of the dashboard', Buffer.from(chunk as Uint8Array).toString());
}

function noteFiles(when: string): void {
  const folder = dirname(on.path);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // SQLite decides when it moves what is in the write-ahead log into the database.
    const file = entry.name.startsWith('orders.db') ? 'orders.db' : entry.name;
    const name = path.includes('/photos/') ? 'a file in photos.folder' : `the file ${file}${when}`;
    const bytes = readFileSync(path);
    const texts = entry.name.endsWith('.xlsx') ? unzip(bytes).files.values() : [bytes.toString('latin1')];
    for (const text of texts) note(name, text);
  }
}

/** The files of all that was left that others than its owner could open, by path. */
function openToOthers(): string[] {
  const folder = dirname(on.path);
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => (statSync(join(folder, path)).mode & 0o077) !== 0);
}

function noteTables(): void {
  const tables = on.merchant.prepare(`select name from sqlite_master where type = 'table'`).pluck().all() as string[];
  for (const table of tables) {
    const rows = on.merchant.prepare(`select * from "${table}"`).all() as Record<string, unknown>[];
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        note(`${table}.${column}`, Buffer.isBuffer(value) ? value.toString('latin1') : String(value));
      }
    }
  }
}

/** Waits for the address at which the daemon says it listens, by a pattern. */
async function urlOf(daemon: Daemon, pattern: RegExp): Promise<string> {
  for (;;) {
    const [, url] = pattern.exec(daemon.output()) ?? [];
    if (url !== undefined) return url;
    await systemClock().turn();
  }
}

beforeAll(async () => {
  // That of a careless caller.
  umask = process.umask(0);
  exchange = await canaryExchange();
  receiver = await canaryReceiver();
  const secretFile = join((secrets = mkdtempSync(join(tmpdir(), 'order-sync-'))), 'shop.token');
  writeFileSync(secretFile, BROUGHT.apiToken, { mode: 0o600 });
  on = await programProcesses(
    {},
    {
      ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
      ORDER_SYNC_EXCHANGE_API_KEY: CANARIES.key,
      ORDER_SYNC_LINKS_CRON: '* * * * * *',
      ORDER_SYNC_LOG_LEVEL: 'trace',
      ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:0',
      ORDER_SYNC_PHOTOS_FOLDER: 'photos',
      ORDER_SYNC_API_LISTEN: '127.0.0.1:0',
      ORDER_SYNC_API_TOKENS: JSON.stringify([{ name: 'shop', scopes: SCOPES, secretFile }]),
      ORDER_SYNC_OPS_LISTEN: '127.0.0.1:0',
      ORDER_SYNC_OPS_TOKEN: BROUGHT.opsToken,
      ORDER_SYNC_OPS_ACTIONS: 'on',
      ORDER_SYNC_OPS_HEARTBEAT_URL: `http://127.0.0.1:9/${BROUGHT.heartbeat}`,
      ORDER_SYNC_WEBHOOKS_ENDPOINTS: receiver.endpoints,
    },
  );
  const daemon = await on.start(['run']);
  const opsUrl = await urlOf(daemon, /"url":"(http:[^"]+)"[^\n]*listening for ops/);
  const listening = listen(opsUrl);
  await useApi(await urlOf(daemon, /"url":"(http:[^"]+)"[^\n]*listening for api/));
  await useSocket('fine');
  for (const mode of ['refused', 'missing', 'cut', 'reset'] as const) {
    exchange.mode = mode;
    // A look at the remembered link, by the daemon's own schedule.
    await exchange.arrived(LINK_PATH);
  }
  exchange.mode = 'fine';
  await sendOrders();
  await cancelUntaken();
  await exchange.arrived(LINK_PATH);
  await deliverPhotos(await urlOf(daemon, /"url":"(http:[^"]+\/photos)"/));
  for (const mode of MODES.slice(1)) await useSocket(mode);
  exchange.mode = 'fine';
  await exchange.arrived(LINK_PATH);
  await syncOverSocket();
  await runCommands([...ASKING, ...READING, ...WRITING], '', runProgram);
  await readPages(opsUrl);
  exchange.mode = 'refused';
  await runCommands(SECRETIVE, ', refused');
  note('arguments of the daemon', readFileSync(`/proc/${daemon.process.pid ?? 0}/cmdline`, 'latin1'));
  noteFiles(', while the daemon runs');
  open = openToOthers();
  daemon.process.kill('SIGTERM');
  note('end of the daemon', JSON.stringify(await daemon.exit));
  note('log and stderr of the daemon', daemon.output());
  await listening;
  note('webhooks', receiver.got.join('\n'));
  exchange.mode = 'failing';
  for (const line of SECRETIVE.slice(0, 2)) await runCommands([line], ', failing, alone');
  await inspectAnswers();
  noteFiles('');
  noteTables();
}, 180_000);
afterAll(async () => {
  await on[Symbol.asyncDispose]();
  await exchange[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(secrets, { recursive: true });
  process.umask(umask);
});

describe('a canary', () => {
  it('has gone everywhere that is looked at', () => {
    const log = places.get('log and stderr of the daemon') ?? '';
    for (const message of [
      'pre-order created',
      'order was rejected',
      'the status of a link changed',
      'photos were received',
    ]) {
      expect(log).toContain(message);
    }
    expect(log).toContain('a photo delivery was refused');
    expect(places.get('end of each delivery')).toBe('400 403 400 200 200 403\n');
    expect(places.get('end of the daemon')).toBe('{"code":0,"signal":null}\n');
    expect(places.get('the file orders.db, while the daemon runs')).toContain('customer-7');
    expect(places.get('merchant_orders.state_reason')).toContain('HTTP 400 BAD_REQUEST: no: <hidden>');
    expect(places.get('answers and errors, inspected')).toContain('refused');
    expect(places.get('config show')).toContain('(set, hidden)');
    expect(places.get('links.status')).toContain('NOT_VERIFIED');
    for (const place of ['webhooks', 'the events of the dashboard', 'events --json']) {
      for (const field of ['paymentToken', 'internalToken', 'link'])
        expect(places.get(place)).toContain(`"record.${field}"`);
    }
    for (const path of PAGES) expect(places.get(`the page ${path}`)).toMatch(/^200 /);
    for (const path of PAGES) expect(places.get(`the page ${path}, open`)).toMatch(/^401 /);
    expect(places.get('the page /orders/fine-1?account=default')).toContain('paymentToken of the record');
    expect(places.get('the file bundle.json')).toContain('"type": "order"');
    expect(JSON.parse(places.get('status --json') ?? '')).toMatchObject({ overview: { orders: { pending: 0 } } });
  });

  it('stands in no file or folder that others could open: database, log, lock, mark, socket, photos, reports, backup', () => {
    const left = readdirSync(dirname(on.path));
    expect(left).toEqual(
      expect.arrayContaining(['orders.db', 'orders.db.mark', 'photos', 'every-table', 'orders.db.backup']),
    );
    expect(left.filter((name) => /\.(html|xlsx|json|csv)$/.test(name)).length).toBeGreaterThan(8);
    expect(open).toEqual([]);
  });

  /** A success that cannot be read is kept as received, whatever the exchange spills in it. */
  const SPILLED = ['kept_answers.body', 'the file orders.db', 'the file orders.db, while the daemon runs'];

  /** Values that let their holder pay or be paid: the feed, the webhooks and the pages say that it changed. */
  const SECRETS_OF_RECORD = [
    'lookUpOrder over the socket',
    'lookup shop-1 --reveal',
    'orders show fine-1 --reveal',
    'order_records.body',
    ...SPILLED,
  ];

  /** The places in which each may stand: the answer to a request for it, and text of the merchant or the issue. */
  const ALLOWED: Readonly<Record<keyof typeof CANARIES | keyof typeof BROUGHT, readonly string[]>> = {
    key: [],
    // The exchange of this test gives it back with the link, which is passed on to who asks.
    email: [
      'createLink over the socket',
      'showLink over the socket',
      'followLink over the socket',
      'client create --reference customer-7',
      'client show link-1',
      'client follow link-1',
    ],
    customer: ['showCustomer over the socket', 'customer show link-1', ...SPILLED],
    name: ['showCustomer over the socket', 'customer show link-1', ...SPILLED],
    surname: ['showCustomer over the socket', 'customer show link-1', ...SPILLED],
    cardNumber: ['listCards over the socket', 'customer cards link-1 --reveal', ...SPILLED],
    cardToken: ['listCards over the socket', 'customer cards link-1 --reveal', ...SPILLED],
    verificationToken: ['verificationToken over the socket', 'idv token link-1 --level MAIN', ...SPILLED],
    sdkToken: ['sdkToken over the socket', 'sdk-token link-1', ...SPILLED],
    // A column of the merchant's own row; the other bodies are kept as received.
    paymentToken: [
      'lookUpOrder over the socket',
      'showPreOrder over the socket',
      'lookup shop-1 --reveal',
      'pre-order show p1 --reveal',
      'orders list --json --reveal',
      'orders show fine-1 --reveal',
      'merchant_orders.payment_token',
      'pre_orders.body',
      'order_records.body',
      ...SPILLED,
    ],
    // The answer to a request shows it, and the events of a record would: it is no secret, but nothing that counts or logs
    // has it.
    cryptoAddress: [
      ...MODES.flatMap((mode) =>
        ['showOrder', 'listOrders'].map((name) => `${name} over the socket${mode === 'fine' ? '' : `, ${mode}`}`),
      ),
      'lookUpOrder over the socket',
      'lookup shop-1',
      'lookup shop-1 --reveal',
      'orders export --format ndjson',
      ...['csv', 'xlsx'].flatMap((format) => [
        `the file export.${format}`,
        `the file export.${format}, while the daemon runs`,
      ]),
      'orders list --json',
      'orders list --json --reveal',
      'orders show fine-1',
      'orders show fine-1 --json',
      'orders show fine-1 --reveal',
      'merchant_orders.crypto_address',
      'pre_orders.body',
      'order_records.body',
      ...SPILLED,
    ],
    internalToken: SECRETS_OF_RECORD,
    paymentLink: SECRETS_OF_RECORD,
    photo: ['a file in photos.folder'],
    unwantedPhoto: [],
    unknownToken: [],
    opsToken: [],
    apiToken: [],
    heartbeat: [],
    idempotencyKey: [],
    webhookSecret: [],
    webhookQuery: [],
  };

  it.each(Object.entries({ ...CANARIES, ...BROUGHT }))('stands only where it belongs: %s', (name, text) => {
    expect(placesOf(text).toSorted()).toEqual(ALLOWED[name as keyof typeof ALLOWED].toSorted());
  });

  it('stands in its own places only: the token of a photo delivery', () => {
    expect(exchange.photoTokens.length).toBeGreaterThan(MODES.length);
    for (const token of exchange.photoTokens) expect(placesOf(token)).toEqual([]);
  });
});
