import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { controlSocketPath } from '../../../src/http/control/socket-path.ts';
import { cardsOf, customerOf } from '../../../src/sandbox/clients/customer.ts';
import { runProgram, type CommandResult } from '../../support/cli-function.ts';
import { runCommand } from '../../support/cli-process.ts';
import { controlBench, scriptedControl } from '../../support/control-bench.ts';
import { stage } from '../../support/daemon-process.ts';
import type { ScriptedAnswer } from '../../support/scripted-exchange.ts';
import { workbench, type Workbench, type WorkbenchOptions } from '../../support/workbench.ts';

const EMAIL = 'ada@canary.example';
const MODES = ['alone', 'beside a daemon'] as const;
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:1';

interface Stand {
  readonly bench: Workbench;
  readonly run: (...args: string[]) => Promise<CommandResult>;
}

/** An exchange with the link `link-1` and the order `shop-1`; the account has an owner in one of the modes only. */
async function setUp(mode: (typeof MODES)[number], options: WorkbenchOptions = {}): Promise<Stand> {
  const bench = mode === 'alone' ? await ownerless(options) : (await controlBench(options)).bench;
  const { sandbox } = bench;
  sandbox.exchange.photoUrl = NOWHERE;
  for (const [path, body] of [
    ['client', { email: 'first@canary.example' }],
    [
      'orders/request',
      {
        externalOrderId: 'shop-1',
        asset: 1.5,
        assetPosition: 'INPUT',
        orderType: 'DEPOSIT',
        currencyPair: { fromCurrency: 'BTC', toCurrency: 'EUR' },
      },
    ],
  ] as const) {
    const headers = { 'x-api-key': 'test-key', 'content-type': 'application/json' };
    sandbox.exchange.handle({ method: 'POST', path: `/api/v1/merchant/${path}`, headers, body: JSON.stringify(body) });
  }
  bench.clock.advance(60_000);
  return { bench, run: (...args) => runProgram(args, { environment: settingsOf(bench) }) };
}

function settingsOf({ config }: Workbench): Record<string, string> {
  return {
    ORDER_SYNC_EXCHANGE_BASE_URL: config.exchange.baseUrl ?? '',
    ORDER_SYNC_EXCHANGE_API_KEY: config.exchange.apiKey ?? '',
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
    ORDER_SYNC_EXCHANGE_RATE_INTERVAL: '10ms',
    ORDER_SYNC_DATABASE_URL: `sqlite:${config.database.path}`,
    ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:1',
  };
}

async function ownerless(options: WorkbenchOptions): Promise<Workbench> {
  const bench = await workbench(options);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  await bench.app[Symbol.asyncDispose]();
  return bench;
}

/** Everything that stands in the database. */
function dump({ merchant }: Workbench): string {
  const tables = merchant.prepare(`select name from sqlite_master where type = 'table'`).pluck().all() as string[];
  return JSON.stringify(tables.map((table) => [table, merchant.prepare(`select * from "${table}"`).all()]));
}

/** The lines of `name  value` that a command prints for people. */
function fieldsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/) as [string, string]),
  );
}

const LINK = { linkId: 'link-1', status: 'VERIFIED' };
const TOKEN = /^sandbox-verification-token-[0-9a-f]{32}$/;
const SDK_TOKEN = /^sandbox-sdk-token-[0-9a-f]{32}$/;
const TIME = /^2026-01-05T[\d:.]+Z$/;
const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** Commands whose answer is one object, and what it holds. */
const OBJECTS: readonly [string, Record<string, string>][] = [
  [`client create ${EMAIL} --reference customer-7`, { linkId: 'link-2', status: 'NOT_VERIFIED' }],
  [`client validate ${EMAIL}`, { status: 'OK' }],
  ['client show link-1', LINK],
  ['client follow link-1 --reference customer-7', LINK],
  ['idv token link-1 --level MAIN', { linkId: 'link-1', token: matching(TOKEN), tokenValidTill: matching(TIME) }],
  ['idv photos link-1 --level LIVENESS --action-id a-1', { status: 'ok' }],
  ['customer show link-1', { ...customerOf('link-1', 1) }],
  ['sdk-token link-1', { token: matching(SDK_TOKEN), expiresAt: matching(TIME) }],
];

describe.each(MODES)('%s', (mode) => {
  it.each(OBJECTS)('%s prints a line a field, and with --json the answer as it came', async (line, expected) => {
    const { run } = await setUp(mode);
    const isLost = mode === 'alone' && line.startsWith('idv photos');
    const stderr = isLost ? 'no daemon runs here: the photos are received only while order-sync run does\n' : '';
    const text = await run(...line.split(' '));
    // Where there is no daemon the command has the link's history to itself, and warns of its first status.
    const isFirst = mode === 'alone' && line.startsWith('client follow');
    const warned = matching(/^\{[^\n]*"value":"VERIFIED","msg":"a status that was not seen before"\}\n$/);
    expect(text).toMatchObject({ code: 0, stderr: isFirst ? warned : stderr });
    expect(fieldsIn(text.stdout)).toEqual(expected);
    // An address has one link.
    const again = line.replace('create ', 'create other-');
    const json = await run(...again.split(' '), '--json');
    expect(json).toMatchObject({ code: 0, stderr });
    expect(json.stdout).toMatch(/^\{"[^\n]*\}\n$/);
    const { linkId } = JSON.parse(json.stdout) as { linkId?: string };
    expect(JSON.parse(json.stdout)).toEqual(again === line ? expected : { ...expected, linkId });
  });

  it.each(['--json', ''])('lookup and pre-order show print JSON with every digit, also with "%s"', async (option) => {
    const { run } = await setUp(mode);
    const options = option === '' ? [] : [option];
    const order = await run('lookup', 'shop-1', ...options);
    expect(order).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(order.stdout)).toMatchObject({ externalOrderId: 'shop-1', order: { status: 'COMPLETED' } });
    const preOrder = await run('pre-order', 'show', 'pre-1', ...options);
    expect(preOrder).toMatchObject({ code: 0, stderr: '' });
    expect(preOrder.stdout).toContain('"asset":1.5,');
  });

  it('customer cards masks numbers to the last four and hides tokens', async () => {
    const { run } = await setUp(mode);
    const cards = cardsOf('link-1', 1);
    const [table, json] = [
      await run('customer', 'cards', 'link-1'),
      await run('customer', 'cards', 'link-1', '--json'),
    ];
    const masked = cards.map(({ token: _token, number, ...card }) => ({ ...card, number: `****${number.slice(-4)}` }));
    expect(JSON.parse(json.stdout)).toEqual(masked);
    for (const { id, bank, number } of masked) {
      expect(table.stdout).toMatch(new RegExp(`│ ${id} +│ ${bank} +│ ZZ +│ ${RegExp.escape(number)} +│ \\w+ +│\\n`));
    }
    for (const { code, stdout, stderr } of [table, json]) {
      expect([code, stderr]).toEqual([0, '']);
      for (const { number, token } of cards) {
        expect(stdout).not.toContain(number);
        expect(stdout).not.toContain(number.slice(-5));
        expect(stdout).not.toContain(token);
      }
      expect(stdout).not.toContain('token');
    }
  });

  it('customer cards --reveal shows them as the exchange gives them', async () => {
    const { run } = await setUp(mode);
    const cards = cardsOf('link-1', 1);
    expect(JSON.parse((await run('customer', 'cards', 'link-1', '--reveal', '--json')).stdout)).toEqual(cards);
    const { stdout } = await run('customer', 'cards', 'link-1', '--reveal');
    for (const { number, token } of cards) expect(stdout).toMatch(new RegExp(`│ ${number} .*│ ${token} `));
  });

  it('customer cards of who has none is an empty list', async () => {
    const { run } = await setUp(mode);
    await run('client', 'create', `no-cards-${EMAIL}`);
    expect(await run('customer', 'cards', 'link-2', '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    expect((await run('customer', 'cards', 'link-2')).stdout).toMatch(/│ id │ bank │ country │ number │ type │/);
  });

  it('client create and client follow remember the link with its reference, and no address', async () => {
    const { bench, run } = await setUp(mode);
    await run('client', 'create', EMAIL, '--reference', 'customer-7');
    await run('client', 'follow', 'link-1');
    await run('client', 'validate', `x${EMAIL}`);
    const links = bench.merchant.prepare('select link_id, reference, source, status from links order by link_id');
    expect(links.all()).toEqual([
      { link_id: 'link-1', reference: null, source: 'followed', status: 'VERIFIED' },
      { link_id: 'link-2', reference: 'customer-7', source: 'created', status: 'NOT_VERIFIED' },
    ]);
    expect(dump(bench)).toContain('customer-7');
    expect(dump(bench)).not.toContain('canary');
  });

  it('client show remembers nothing', async () => {
    const { bench, run } = await setUp(mode);
    await run('client', 'show', 'link-1');
    expect(bench.merchant.prepare('select count(*) from links').pluck().get()).toBe(0);
  });

  it('idv photos keeps the hash of its token with what was asked for, and prints no token', async () => {
    const { bench, run } = await setUp(mode);
    for (const options of [['MAIN'], ['LIVENESS', '--action-id', 'a-1']]) {
      const { stdout } = await run('idv', 'photos', 'link-1', '--json', '--level', ...options);
      expect(stdout).toBe('{"status":"ok"}\n');
    }
    const tokens = bench.merchant.prepare('select link_id, level, action_id from photo_tokens order by level desc');
    expect(tokens.all()).toEqual([
      { link_id: 'link-1', level: 'MAIN', action_id: null },
      { link_id: 'link-1', level: 'LIVENESS', action_id: 'a-1' },
    ]);
    const hashes = bench.merchant.prepare('select length(token_hash) from photo_tokens').pluck().all();
    expect(hashes).toEqual([64, 64]);
  });

  it('idv token asks for the flow of its level', async () => {
    const { bench, run } = await setUp(mode);
    for (const level of ['MAIN', 'LIVENESS']) await run('idv', 'token', 'link-1', '--level', level);
    expect(bench.sandbox.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['MAIN', 'LIVENESS']);
  });

  it('idv photos keeps no e-mail address for a link: exit 64', async () => {
    const { bench, run } = await setUp(mode);
    const { code, stderr } = await run('idv', 'photos', EMAIL, '--level', 'MAIN');
    expect([code, stderr]).toEqual([
      64,
      'order-sync: an e-mail address cannot be a link id; check the id and try again\n',
    ]);
    expect(bench.merchant.prepare('select count(*) from photo_tokens').pluck().get()).toBe(0);
  });

  it('says so, exit 1, where the exchange does not have the link', async () => {
    const { bench, run } = await setUp(mode);
    for (const line of [
      'client show LINK',
      'client follow LINK',
      'idv token LINK --level MAIN',
      'idv photos LINK --level MAIN',
      'customer show LINK',
      'customer cards LINK',
      'sdk-token LINK',
    ]) {
      for (const [id, said] of [
        ['link-9', 'no link "link-9"'],
        [EMAIL, 'an e-mail address is no link id: no such link'],
      ] as const) {
        // Its id would be kept: an address is refused before that.
        if (line.startsWith('idv photos') && id === EMAIL) continue;
        const result = await run(...line.replace('LINK', id).split(' '));
        const stderr = `order-sync: ${said} at the exchange (HTTP 404 NOT_FOUND: link not found)\n`;
        expect([line, result]).toEqual([line, { code: 1, stdout: '', stderr }]);
      }
    }
    expect(dump(bench)).not.toContain('canary');
  });

  it.each([
    ['lookup shop-9', 'no order with the external order id "shop-9" at the exchange'],
    ['pre-order show pre-9', 'no pre-order with the id "pre-9" at the exchange'],
    ['client create ada', 'the exchange does not take the e-mail address (HTTP 400 INVALID_EMAIL'],
    ['client validate ada', 'the exchange does not take the e-mail address (HTTP 400 INVALID_EMAIL'],
    ['client create first@canary.example', 'there is a link for this e-mail address already (HTTP 400 LINK_ALREADY'],
    ['client validate first@canary.example', 'there is a link for this e-mail address already (HTTP 400 LINK_ALREADY'],
    ['client create bad-request@canary.example', 'the exchange refused: HTTP 400 BAD_REQUEST'],
  ])('%s: says what the exchange refused, exit 1', async (line, said) => {
    const { code, stdout, stderr } = await (await setUp(mode)).run(...line.split(' '));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.startsWith(`order-sync: ${said}`)).toBe(true);
    expect(stderr).not.toContain('canary');
  });

  it('idv photos without an address at the exchange: says where to set it, exit 1', async () => {
    const { bench, run } = await setUp(mode);
    bench.sandbox.exchange.photoUrl = undefined;
    const { code, stdout, stderr } = await run('idv', 'photos', 'link-1', '--level', 'MAIN');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/has no address to deliver photos to; set it in the merchant settings there \(HTTP 400 /);
    expect(bench.merchant.prepare('select count(*) from photo_tokens').pluck().get()).toBe(0);
  });

  it('refuses what cannot be sent before any request, exit 64', async () => {
    const { bench, run } = await setUp(mode);
    for (const args of [
      ['client', 'show', '..'],
      ['client', 'show', ''],
      ['client', 'show', 'a'.repeat(501)],
      ['client', 'show', 'a\nb'],
      ['client', 'follow', '.'],
      ['idv', 'token', '..', '--level', 'MAIN'],
      ['idv', 'photos', '..', '--level', 'MAIN'],
      ['customer', 'show', '..'],
      ['customer', 'cards', '..'],
      ['sdk-token', '..'],
      ['sdk-token', 'é'],
      ['client', 'create', ''],
      ['client', 'create', `${'a'.repeat(250)}${EMAIL}`],
      ['client', 'validate', `canary\n@x`],
      ['client', 'create', EMAIL, '--reference', ''],
      ['client', 'create', EMAIL, '--reference', `of ${EMAIL}`],
      ['client', 'follow', 'link-1', '--reference', 'a\nb'],
      ['lookup', ''],
      ['lookup', 'a'.repeat(7_000)],
      ['pre-order', 'show', '..'],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      expect([args, code, stdout]).toEqual([args, 64, '']);
      expect(stderr).toMatch(/^order-sync: [^\n]+\n$/);
      expect(stderr).not.toContain('canary');
    }
    expect(bench.sandbox.requests).toEqual([]);
  });

  const all = OBJECTS.map(([line]) => line).concat('customer cards link-1', 'lookup shop-1', 'pre-order show pre-1');

  it('exits 77 when the exchange refuses the key', async () => {
    const { run } = await setUp(mode, { apiKey: 'canary-wrong' });
    const stderr = 'order-sync: the exchange refuses the key (401); check exchange.apiKey\n';
    for (const line of all) {
      expect([line, await run(...line.split(' '))]).toEqual([line, { code: 77, stdout: '', stderr }]);
    }
  });

  it('exits 69 when the exchange is out of reach, and says that nothing was sent', async () => {
    const { run } = await setUp(mode, { environment: { ORDER_SYNC_EXCHANGE_BASE_URL: NOWHERE } });
    const said = /^order-sync: nothing was sent to the exchange: [^\n]*ECONNREFUSED[^\n]*; try again\n$/;
    for (const line of all) {
      const { code, stdout, stderr } = await run(...line.split(' '));
      expect([line, code, stdout]).toEqual([line, 69, '']);
      expect(stderr).toMatch(said);
      expect(stderr).not.toContain('canary');
    }
  });
});

describe('wrong usage of', () => {
  it.each([
    ['client', /^Usage: order-sync client/],
    ['idv', /^Usage: order-sync idv/],
    ['customer', /^Usage: order-sync customer/],
    ['client create', /missing required argument 'email'/],
    ['client show', /missing required argument 'linkId'/],
    ['sdk-token', /missing required argument 'linkId'/],
    ['idv token link-1', /required option '--level <level>' not specified/],
    ['idv token link-1 --level main', /'main' is invalid. Allowed choices are MAIN, LIVENESS/],
    ['idv photos link-1 --level MAIN --action-id a', /--action-id is taken with --level LIVENESS only/],
    [`client ${EMAIL}`, /unknown command '<EMAIL>'/],
    [`client show link-1 ${EMAIL}`, /too many arguments for 'show'/],
    [`client create --reference x --refrence=${EMAIL} a`, /unknown option '--refrence=<EMAIL>'|unknown option/],
    [`idv token link-1 --level ${EMAIL}`, /'<EMAIL>' is invalid|argument '<EMAIL>'/],
  ])('%s: exit 64, and no address in what is said', async (line, message) => {
    const { code, stdout, stderr } = await runProgram(line.split(' '));
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('canary');
  });

  it.each(OBJECTS.map(([line]) => line).concat('customer cards a', 'lookup a', 'pre-order show a', 'openapi'))(
    '%s is helped with --help, which has --json',
    async (line) => {
      const words = line.split(' ').slice(0, /^(sdk-token|lookup|openapi)/.test(line) ? 1 : 2);
      const { code, stdout } = await runProgram([...words, '--help']);
      expect([code, stdout]).toEqual([0, expect.stringContaining('--json')]);
    },
  );
});

describe('customer cards', () => {
  it.each([
    ['4111 1111 1111 1234', '****1234'],
    ['411111******1234', '****1234'],
    ['12345678', '****5678'],
    ['1234567', '****'],
    ['1234', '****'],
    ['', '****'],
    [null, null],
  ])('shows of the number %j no more than %j', async (number, shown) => {
    const { bench, exchange } = await scriptedControl();
    exchange.answer = () => ({ status: 200, body: JSON.stringify([{ id: 'c', number, token: 'canary' }]) });
    const { stdout } = await runProgram(['customer', 'cards', 'a', '--json'], { environment: settingsOf(bench) });
    expect(JSON.parse(stdout)).toEqual([{ id: 'c', bank: null, country: null, number: shown, type: null }]);
  });

  it('hides what the interface does not show, and what would steer a terminal', async () => {
    const { bench, exchange } = await scriptedControl();
    exchange.answer = () => ({ status: 200, body: '[{"id":"c","bank":"a\\u001b[2Jb","cvv":"canary"}]' });
    const { stdout } = await runProgram(['customer', 'cards', 'a'], { environment: settingsOf(bench) });
    expect(stdout).toContain('a\\u001b[2Jb');
    expect(
      (await runProgram(['customer', 'cards', 'a', '--json'], { environment: settingsOf(bench) })).stdout,
    ).not.toContain('canary');
    expect(stdout).not.toContain('canary');
  });
});

describe('what the exchange says', () => {
  it('is printed with every digit, and cannot steer a terminal', async () => {
    const { bench, exchange } = await scriptedControl();
    const body = '{"linkId":"a","status":"\\u001b[31mX","limit":12345678901234567.1234567890,"more":{"b":[1.0]}}';
    exchange.answer = () => ({ status: 200, body });
    const { stdout } = await runProgram(['client', 'show', 'a'], { environment: settingsOf(bench) });
    expect(stdout).toBe('linkId  a\nstatus  \\u001b[31mX\nlimit   12345678901234567.1234567890\nmore    {"b":[1.0]}\n');
    expect((await runProgram(['client', 'show', 'a', '--json'], { environment: settingsOf(bench) })).stdout).toBe(
      `${body}\n`,
    );
    exchange.answer = () => ({ status: 403, body: '{"message":"\\u001b[2J","code":"c","status":"s"}' });
    const refused = await runProgram(['client', 'show', 'a'], { environment: settingsOf(bench) });
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'order-sync: the exchange refused: HTTP 403 s: \\u001b[2J\n',
    });
  });

  it.each<[string, ScriptedAnswer, RegExp]>([
    ['nothing', 'reset', /^order-sync: [^\n]+\n$/],
    ['what cannot be read', { status: 200, body: 'OK' }, /the answer cannot be read/],
    [
      'that it has too much to do',
      { status: 429 },
      /^order-sync: the exchange limits the rate \(429\); try again later/,
    ],
  ])('is %s: exit 69', async (_name, answer, message) => {
    const { bench, exchange } = await scriptedControl();
    exchange.answer = () => answer;
    const { code, stdout, stderr } = await runProgram(['client', 'validate', EMAIL], {
      environment: settingsOf(bench),
    });
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('canary');
  });
});

/** Something other than this version of the daemon listens on the control socket. */
async function listens(bench: Workbench, answer: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => socket.once('data', () => answer(socket)));
  server.listen(controlSocketPath(bench.config.database.path));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

describe('a daemon that goes away before it answers', () => {
  it('leaves it open what became of the request: exit 69', async () => {
    const { bench, run } = await setUp('alone');
    await listens(bench, (socket) => socket.destroy());
    const { code, stdout, stderr } = await run('client', 'create', EMAIL);
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/the daemon went away before it answered; nobody can tell whether it was done\n$/);
  });
});

describe('a daemon of another version', () => {
  it.each([
    ['an operation that it does not know', '{"ok":false,"error":{"kind":"invalid","message":"there is no operation"}}'],
    ['an answer that cannot be read', '{"message":"Route not found","error":"Not Found","statusCode":404}'],
  ])('has %s: exit 69, and what to do', async (_name, body) => {
    const { bench, run } = await setUp('alone');
    const head = `HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
    await listens(bench, (socket) => socket.end(`${head}${body}`));
    const { code, stdout, stderr } = await run('client', 'show', 'a');
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/it may be of another version; start it again\n$/);
  });
});

describe('openapi', () => {
  it('prints the OpenAPI document, and needs no settings', async () => {
    const { code, stdout, stderr } = await runProgram(['openapi']);
    expect([code, stderr]).toEqual([0, '']);
    const document = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    expect(document['openapi']).toBe('3.1.0');
    expect(document['info']?.['version']).toMatch(/^\d+\.\d+\.\d+$/);
    expect(Object.keys(document['paths'] ?? {})).toContain('/clients/{linkId}');
  });
});

describe('a real process', () => {
  it('does the same alone and beside a running daemon, with the same exit codes', async () => {
    await using on = await stage({ photoUrl: NOWHERE });
    const at = (environment: Record<string, string>) => ({
      cwd: '/',
      environment: { ...on.environment, ...environment },
    });
    const run = (line: string, environment = {}) => runProgram(line.split(' '), at(environment));
    const runProcess = (line: string, environment = {}) => runCommand(line.split(' '), at(environment));
    const created = await runProcess(`client create verification-not-begun-${EMAIL} --reference customer-7`);
    expect(created).toMatchObject({ code: 0, stdout: 'linkId  link-1\nstatus  NOT_VERIFIED\n', stderr: '' });
    expect(await run('client show link-9')).toMatchObject({ code: 1, stdout: '' });

    const daemon = await on.start(['run']);
    const results = await Promise.all([
      run('client show link-1 --json'),
      runProcess('sdk-token link-1'),
      run('customer cards link-1'),
      runProcess('client show link-9'),
      run('client show ..'),
      // The daemon's key is what counts.
      run('client show link-1', { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' }),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 1, 64, 0]);
    const [shown, token, cards] = results;
    expect(shown?.stdout).toBe('{"linkId":"link-1","status":"NOT_VERIFIED"}\n');
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    const { token: secret } = fieldsIn(token?.stdout ?? '');
    expect(secret).toMatch(SDK_TOKEN);
    expect(cards?.stdout).toContain('****');
    expect(daemon.output()).not.toMatch(/canary|sandbox-sdk-token|\d{13}/);

    const refused = await runProcess('client show link-1', { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' });
    const unreached = await run('client show link-1', { ORDER_SYNC_EXCHANGE_BASE_URL: NOWHERE });
    expect([refused.code, refused.stdout, unreached.code, unreached.stdout]).toEqual([77, '', 69, '']);
    expect(refused.stderr + unreached.stderr).not.toContain('canary');
  });
});
