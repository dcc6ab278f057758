import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { programVersion } from '../../../../src/base/version.ts';
import { controlSocketPath } from '../../../../src/extensions/api/asking/transport.ts';
import { cardsOf } from '../../../../src/extensions/sandbox/clients.ts';
import { runProgram, type CommandResult } from '../../../support/cli-function.ts';
import { runCommand } from '../../../support/cli-process.ts';
import { controlSocket } from '../../../support/control-socket.ts';
import { temporaryFolder } from '../../../support/folders.ts';
import { programProcesses } from '../../../support/program-processes.ts';
import {
  settingsOf,
  testProgram,
  type SandboxProgram,
  type TestProgram,
  type SandboxProgramOptions,
} from '../../../support/test-program.ts';

const EMAIL = 'ada@canary.example';
const MODES = ['alone', 'beside a daemon'] as const;
/** No process listens there. */
const NOWHERE = 'http://127.0.0.1:1';

interface Stand {
  readonly program: SandboxProgram;
  readonly run: (...args: string[]) => Promise<CommandResult>;
}

/** An exchange with the link `link-1` and the order `shop-1`; the account has an owner in one of the modes only. */
async function setUp(mode: (typeof MODES)[number], options: SandboxProgramOptions = {}): Promise<Stand> {
  const program = mode === 'alone' ? await ownerless(options) : (await controlSocket(options)).program;
  const { sandbox } = program;
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
  program.clock.advance(60_000);
  // Beside a daemon it is the daemon that has the key.
  const environment = { ...settingsOf(program), ...(mode !== 'alone' && { ORDER_SYNC_EXCHANGE_API_KEY: '' }) };
  return { program, run: (...args) => runProgram(args, { environment }) };
}

async function ownerless(options: SandboxProgramOptions): Promise<SandboxProgram> {
  const program = await testProgram(options);
  await program.app[Symbol.asyncDispose]();
  return program;
}

/** Everything that stands in the database. */
function dump({ merchant }: SandboxProgram): string {
  const tables = merchant.prepare(`select name from sqlite_master where type = 'table'`).pluck().all() as string[];
  return JSON.stringify(tables.map((table) => [table, merchant.prepare(`select * from "${table}"`).all()]));
}

/** Stands in for a daemon: answers each request over the control socket. */
async function standInDaemon(
  program: TestProgram,
  answer: (request: IncomingMessage, body: string) => string,
): Promise<void> {
  const server = createHttpServer((request, response) => {
    void request
      .toArray()
      .then((chunks) => response.end(answer(request, Buffer.concat(chunks as Buffer[]).toString())));
  });
  server.listen(controlSocketPath(program.config.database.path));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

/** Every command that asks the exchange, with the request to the daemon that it becomes. */
const COMMANDS: readonly [line: string, method: string, path: string, body?: object][] = [
  [`client create ${EMAIL} --reference customer-7`, 'POST', '/clients', { email: EMAIL, reference: 'customer-7' }],
  [`client create ${EMAIL}`, 'POST', '/clients', { email: EMAIL }],
  [`client validate ${EMAIL}`, 'POST', '/clients/validate', { email: EMAIL }],
  ['client show a/b?', 'GET', '/clients/a%2Fb%3F'],
  ['client follow link-1 --reference customer-7', 'POST', '/clients/link-1/follow', { reference: 'customer-7' }],
  ['client follow link-1', 'POST', '/clients/link-1/follow', {}],
  ['idv token link-1 --level LIVENESS', 'GET', '/clients/link-1/idv/LIVENESS'],
  ['idv photos link-1 --level MAIN', 'POST', '/clients/link-1/idv/photos', { level: 'MAIN' }],
  [
    'idv photos link-1 --level LIVENESS --action-id a-1',
    'POST',
    '/clients/link-1/idv/photos',
    { level: 'LIVENESS', actionId: 'a-1' },
  ],
  ['customer show link-1', 'GET', '/clients/link-1/customer'],
  ['customer cards link-1 --reveal', 'GET', '/clients/link-1/cards'],
  ['sdk-token link-1', 'POST', '/clients/link-1/sdk-token'],
  ['lookup shop&1', 'GET', '/orders?externalOrderId=shop%261'],
  ['pre-order show pre-1', 'GET', '/pre-orders/pre-1'],
];
const LINES = COMMANDS.map(([line]) => line.replace('a/b?', 'link-1').replace('shop&1', 'shop-1'));

describe('beside a daemon', () => {
  it.each(COMMANDS)('%s asks for its operation, and prints the answer as it came', async (line, method, path, body) => {
    const { program, run } = await setUp('alone');
    const asked: unknown[] = [];
    const word = line.includes('validate') ? 'OK' : 'ok';
    const answer = line.includes('cards') ? '[{"id":"c","more":1.10}]' : `{"status":"${word}","more":1.10}`;
    await standInDaemon(program, (request, text) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://daemon');
      const account = searchParams.get('account');
      searchParams.delete('account');
      const url = `${pathname}${searchParams.size === 0 ? '' : `?${searchParams.toString()}`}`;
      asked.push([request.method, url, text === '' ? undefined : JSON.parse(text), account]);
      return `{"ok":true,"value":${answer}}`;
    });
    expect(await run(...line.split(' '), '--json')).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' });
    expect(asked).toEqual([[method, path, body, 'default']]);
  });
});

describe('alone', () => {
  it('does each operation as the owner, once', async () => {
    const { program, run } = await setUp('alone');
    for (const [index, line] of LINES.entries()) {
      // An address has one link.
      const { code, stdout } = await run(...line.replace('create ', `create ${index}-`).split(' '), '--json');
      expect([line, code]).toEqual([line, 0]);
      expect(JSON.parse(stdout)).toBeTypeOf('object');
      expect(program.sandbox.requests).toHaveLength(index + 1);
    }
    expect(dump(program)).not.toContain('canary');
  });

  it('idv photos says that the photos are received only while a daemon runs', async () => {
    const { run } = await setUp('alone');
    const { code, stderr } = await run('idv', 'photos', 'link-1', '--level', 'MAIN');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^no daemon runs here[^\n]*\n$/)]);
  });

  it('reads the key once, so that it may come through a pipe', async () => {
    const { program } = await setUp('alone');
    const { ORDER_SYNC_EXCHANGE_API_KEY: key = '', ...environment } = settingsOf(program);
    const cwd = temporaryFolder();
    const pipe = join(cwd, 'key');
    execFileSync('sh', ['-c', 'mkfifo -m 600 "$0"', pipe]);
    const given = writeFile(pipe, key);
    const options = { cwd, environment: { ...environment, ORDER_SYNC_EXCHANGE_API_KEY_FILE: pipe } };
    const { code } = await runCommand(['idv', 'photos', 'link-1', '--level', 'MAIN'], options);
    await given;
    expect(code).toBe(0);
  });

  it('exits 77 when the exchange refuses the key, and 69 when it is out of reach', async () => {
    const { program, run } = await setUp('alone');
    const at = (more: Record<string, string>) =>
      runProgram(['sdk-token', 'link-1'], { environment: { ...settingsOf(program), ...more } });
    const refused = await at({ ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' });
    const unreached = await at({ ORDER_SYNC_EXCHANGE_BASE_URL: NOWHERE });
    expect([refused.code, refused.stdout, unreached.code, unreached.stdout]).toEqual([77, '', 69, '']);
    expect(unreached.stderr).toMatch(/ECONNREFUSED/);
    expect(refused.stderr + unreached.stderr).not.toContain('canary');
    expect((await run('sdk-token', 'link-1')).code).toBe(0);
  });
});

describe.each(MODES)('%s', (mode) => {
  it('a command prints a line a field', async () => {
    const { run } = await setUp(mode);
    const { code, stdout, stderr } = await run('client', 'show', 'link-1');
    expect([code, stdout, stderr]).toEqual([0, 'link id  link-1\nstatus   VERIFIED\n', '']);
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
      expect(table.stdout).toMatch(new RegExp(`\\n${id} +${bank} +ZZ +${RegExp.escape(number)} +\\w+\\n`));
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

  it('customer cards --reveal shows them as the exchange sends them', async () => {
    const { run } = await setUp(mode);
    const cards = cardsOf('link-1', 1);
    expect(JSON.parse((await run('customer', 'cards', 'link-1', '--reveal', '--json')).stdout)).toEqual(cards);
    const { stdout } = await run('customer', 'cards', 'link-1', '--reveal');
    for (const { number, token } of cards) expect(stdout).toMatch(new RegExp(` ${number} .* ${token}\\n`));
  });

  it('client create and client follow remember the link with its reference, and no address', async () => {
    const { program, run } = await setUp(mode);
    await run('client', 'create', EMAIL, '--reference', 'customer-7');
    await run('client', 'follow', 'link-1');
    await run('client', 'validate', `x${EMAIL}`);
    const links = program.merchant.prepare('select link_id, reference, source, status from links order by link_id');
    expect(links.all()).toEqual([
      { link_id: 'link-1', reference: null, source: 'followed', status: 'VERIFIED' },
      { link_id: 'link-2', reference: 'customer-7', source: 'created', status: 'NOT_VERIFIED' },
    ]);
    expect(dump(program)).toContain('customer-7');
    expect(dump(program)).not.toContain('canary');
  });

  it('client show remembers nothing', async () => {
    const { program, run } = await setUp(mode);
    await run('client', 'show', 'link-1');
    expect(program.merchant.prepare('select count(*) from links').pluck().get()).toBe(0);
  });

  it('idv photos keeps the hash of its token with what was asked for, and prints the request and no token', async () => {
    const { program, run } = await setUp(mode);
    const requests: string[] = [];
    for (const options of [['MAIN'], ['LIVENESS', '--action-id', 'a-1']]) {
      const { stdout } = await run('idv', 'photos', 'link-1', '--json', '--level', ...options);
      const [, requestId = ''] =
        /^\{"status":"ok","requestId":"([0-9a-f]{32})"\}\n$/.exec(stdout) ?? expect.fail(stdout);
      requests.push(requestId);
    }
    const stored = program.merchant.prepare('select request_id from photo_tokens order by level desc');
    expect(stored.pluck().all()).toEqual(requests);
    const { stdout: awaited } = await run('photos', 'list', '--awaited', '--json');
    const listed = JSON.parse(awaited) as { request_id: string }[];
    expect(listed.map(({ request_id: id }) => id).toSorted()).toEqual(requests.toSorted());
    const tokens = program.merchant.prepare('select link_id, level, action_id from photo_tokens order by level desc');
    expect(tokens.all()).toEqual([
      { link_id: 'link-1', level: 'MAIN', action_id: null },
      { link_id: 'link-1', level: 'LIVENESS', action_id: 'a-1' },
    ]);
    const hashes = program.merchant.prepare('select length(token_hash) from photo_tokens').pluck().all();
    expect(hashes).toEqual([64, 64]);
    const own = ['--token', 'a-token-of-the-shop'];
    const { stdout: text } = await run('idv', 'photos', 'link-1', '--level', 'MAIN', ...own);
    expect(text).toMatch(/^status +ok\nrequest id +[0-9a-f]{32}\n$/);
  });

  it('idv photos keeps no e-mail address for a link: exit 64', async () => {
    const { program, run } = await setUp(mode);
    const { code, stderr } = await run('idv', 'photos', EMAIL, '--level', 'MAIN');
    expect([code, stderr]).toEqual([
      64,
      'order-sync: an e-mail address cannot be a link id; check the id and try again\n',
    ]);
    expect(program.merchant.prepare('select count(*) from photo_tokens').pluck().get()).toBe(0);
  });

  it('says so, exit 2, if the exchange does not have the link', async () => {
    const { program, run } = await setUp(mode);
    for (const line of ['client follow LINK', 'idv photos LINK --level MAIN', 'sdk-token LINK']) {
      for (const [id, said] of [
        ['link-9', 'no link "link-9"'],
        [EMAIL, 'an e-mail address is no link id: no such link'],
      ] as const) {
        // Its id would be kept: an address is refused before that.
        if (line.startsWith('idv photos') && id === EMAIL) continue;
        const result = await run(...line.replace('LINK', id).split(' '));
        const stderr = `order-sync: ${said} at the exchange (HTTP 404 NOT_FOUND: link not found)\n`;
        expect([line, result]).toEqual([line, { code: 2, stdout: '', stderr }]);
      }
    }
    expect(dump(program)).not.toContain('canary');
  });

  it.each([
    ['lookup shop-9', '"shop-9"', 2],
    ['pre-order show pre-9', '"pre-9"', 2],
    ['client create ada', 'INVALID_EMAIL', 1],
    ['client validate first@canary.example', 'LINK_ALREADY_EXISTS', 1],
  ])('%s: says what the exchange refused', async (line, said, exitCode) => {
    const { code, stdout, stderr } = await (await setUp(mode)).run(...line.split(' '));
    expect([code, stdout, stderr]).toEqual([exitCode, '', expect.stringContaining(said)]);
    expect(stderr).not.toContain('canary');
  });

  it('customer cards of a client without cards is an empty list', async () => {
    const { run } = await setUp(mode);
    await run('client', 'create', `no-cards-${EMAIL}`);
    expect(await run('customer', 'cards', 'link-2', '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    expect(await run('customer', 'cards', 'link-2')).toEqual({ code: 0, stdout: 'no card is saved\n', stderr: '' });
  });

  it('refuses what cannot be sent before any request, exit 64', async () => {
    const { program, run } = await setUp(mode);
    for (const args of [
      ['client', 'show', '..'],
      ['idv', 'photos', '..', '--level', 'MAIN'],
      ['sdk-token', 'é'],
      ['client', 'validate', `canary\n@x`],
      ['client', 'create', EMAIL, '--reference', `of ${EMAIL}`],
      ['client', 'follow', 'link-1', '--reference', 'a\nb'],
      ['lookup', ''],
      ['pre-order', 'show', '..'],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      expect([args, code, stdout]).toEqual([args, 64, '']);
      expect(stderr).toMatch(/^order-sync: [^\n]+\n$/);
      expect(stderr).not.toContain('canary');
    }
    expect(program.sandbox.requests).toEqual([]);
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
    ['idv token link-1 --level face', /'face' is invalid. Allowed choices are MAIN, LIVENESS/],
    ['idv photos link-1 --level MAIN --action-id a', /--action-id needs --level LIVENESS/],
    [`exchange client ${EMAIL}`, /unknown command '<EMAIL>'/],
    [`exchange client create a ${EMAIL}`, /too many arguments for 'create'/],
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

  it.each([...new Set(LINES.map((line) => line.split(' ').slice(0, 2).join(' '))), 'openapi'])(
    '%s is helped with --help, which has --json',
    async (line) => {
      const words = line.split(' ').slice(0, /^(sdk-token|lookup|openapi)/.test(line) ? 1 : 2);
      const { code, stdout } = await runProgram([...words, '--help']);
      expect([code, stdout]).toEqual([0, expect.stringContaining('--json')]);
    },
  );
});

describe('openapi', () => {
  it('prints the OpenAPI document, and needs no settings', async () => {
    const { code, stdout, stderr } = await runProgram(['openapi']);
    expect([code, stderr]).toEqual([0, '']);
    const document = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    expect(document['openapi']).toBe('3.1.0');
    expect(document['info']?.['version']).toBe(programVersion());
    expect(Object.keys(document['paths'] ?? {})).toContain('/clients/{linkId}');
  });
});

describe('a real process', () => {
  it('does the same alone and beside a running daemon, with the same exit codes', async () => {
    await using on = await programProcesses({ photoUrl: NOWHERE });
    const at = (environment: Record<string, string>) => ({
      cwd: '/',
      environment: { ...on.environment, ...environment },
    });
    const run = (line: string, environment = {}) => runProgram(line.split(' '), at(environment));
    const runProcess = (line: string, environment = {}) => runCommand(line.split(' '), at(environment));
    const created = await runProcess(`client create verification-not-begun-${EMAIL} --reference customer-7`);
    expect(created).toMatchObject({ code: 0, stdout: 'link id  link-1\nstatus   NOT_VERIFIED\n', stderr: '' });
    expect(await run('client show link-9')).toMatchObject({ code: 2, stdout: '' });

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
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 2, 64, 0]);
    const [shown, token, cards] = results;
    expect(shown?.stdout).toBe('{"linkId":"link-1","status":"NOT_VERIFIED"}\n');
    daemon.process.kill('SIGTERM');
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect(token?.stdout).toMatch(/^token +sandbox-sdk-token-[0-9a-f]{32}\n/);
    expect(cards?.stdout).toContain('****');
    expect(daemon.output()).not.toMatch(/canary|sandbox-sdk-token|\d{13}/);

    const refused = await runProcess('client show link-1', { ORDER_SYNC_EXCHANGE_API_KEY: 'canary-wrong' });
    const unreached = await run('client show link-1', { ORDER_SYNC_EXCHANGE_BASE_URL: NOWHERE });
    expect([refused.code, refused.stdout, unreached.code, unreached.stdout]).toEqual([77, '', 69, '']);
    expect(refused.stderr + unreached.stderr).not.toContain('canary');
  });
});
