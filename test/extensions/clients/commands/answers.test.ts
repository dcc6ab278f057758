import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { controlSocketPath } from '../../../../src/extensions/api/asking/transport.ts';
import { runProgram } from '../../../support/cli-function.ts';
import { scriptedControlSocket } from '../../../support/control-socket.ts';
import type { ScriptedAnswer } from '../../../support/scripted-exchange.ts';
import { scriptedProgram, settingsOf, type TestProgram } from '../../../support/test-program.ts';

const EMAIL = 'ada@canary.example';

/** A program that has ended, with its database and settings. */
async function ownerless(): Promise<TestProgram> {
  const { program } = await scriptedProgram();
  await program.app[Symbol.asyncDispose]();
  return program;
}

describe('an answer about somebody else', () => {
  const SECRET = 'canary-secret';
  it.each([
    [['client', 'show', 'l1'], `{"linkId":"l2","status":"${SECRET}"}`, 'link'],
    [
      ['idv', 'token', 'l1', '--level', 'MAIN'],
      `{"linkId":"l2","token":"${SECRET}","tokenValidTill":"2026-01-05"}`,
      'link',
    ],
    [['customer', 'show', 'l1'], `{"linkId":"l2","firstName":"${SECRET}"}`, 'link'],
    [['sdk-token', 'l1'], `{"linkId":2,"token":"${SECRET}","expiresAt":"2026-01-05"}`, 'link'],
    [['pre-order', 'show', 'p1'], `{"id":"p2","externalOrderId":"${SECRET}"}`, 'pre-order'],
    [['pre-order', 'show', 'p1'], `[{"id":"p2","externalOrderId":"${SECRET}"}]`, 'pre-order'],
    [['lookup', 'a'], `[{"externalOrderId":"a"},{"externalOrderId":"b","order":{"id":"${SECRET}"}}]`, 'order'],
    [['pre-order', 'show', 'p1'], `[[{"id":"p1"}],[{"id":"p2","externalOrderId":"${SECRET}"}]]`, 'pre-order'],
    [['pre-order', 'show', 'p1'], `{"data":{"id":"p2","externalOrderId":"${SECRET}"}}`, 'pre-order'],
    [['pre-order', 'show', 'p1'], `{"id":null,"ID":"p2","externalOrderId":"${SECRET}"}`, 'pre-order'],
    [['pre-order', 'show', 'p1'], `{"id":["p1"],"externalOrderId":"${SECRET}"}`, 'pre-order'],
    [['pre-order', 'show', 'p1'], `{"__proto__":{"id":"p2","externalOrderId":"${SECRET}"}}`, 'pre-order'],
    [['pre-order', 'show', '17'], `{"id":17.0,"externalOrderId":"${SECRET}"}`, 'pre-order'],
    [['lookup', 'a'], `{"result":[{"EXTERNALORDERID":"b","order":{"id":"${SECRET}"}}]}`, 'order'],
    [['lookup', 'a'], `{"externalOrderId":"A","order":{"id":"${SECRET}"}}`, 'order'],
    [['sdk-token', 'l1'], `{"LinkID":"l2","token":"${SECRET}","expiresAt":"2026-01-05"}`, 'link'],
    [['sdk-token', 'l1'], `{"linkId":["l1","l2"],"token":"${SECRET}","expiresAt":"2026-01-05"}`, 'link'],
    [['sdk-token', 'l1'], `{"client":{"linkId":"l2"},"token":"${SECRET}","expiresAt":"2026-01-05"}`, 'link'],
    [['customer', 'show', 'l1'], `{"link":{"linkid":"l2"},"firstName":"${SECRET}"}`, 'link'],
    [['lookup', 'a'], `{"externalOrderId":"b","order":{"id":"${SECRET}"}}`, 'order'],
  ])('is not shown: %j', async (args, body, what) => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 200, body });
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await runProgram([...args, ...more], { environment: settingsOf(program) });
      expect([code, stdout]).toEqual([69, '']);
      expect(stderr).toContain(`the exchange answered about another ${what}`);
      expect(stderr).not.toContain(SECRET);
    }
  });

  it('is shown if the id is the same, as text or as a number', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 200, body: '{"linkId":17,"status":"VERIFIED"}' });
    const environment = settingsOf(program);
    expect(await runProgram(['client', 'show', '17'], { environment })).toMatchObject({ code: 0 });
  });
});

describe('another word than the documented one', () => {
  it.each([
    [['client', 'validate', 'ada@shop.example'], 'BLOCKED', 'OK'],
    [['idv', 'photos', 'l1', '--level', 'MAIN'], 'later', 'ok'],
  ])('is printed, exit 1: %j', async (args, word, documented) => {
    const { program, exchange } = await scriptedControlSocket();
    const environment = settingsOf(program);
    exchange.answer = () => ({ status: 200, body: JSON.stringify({ status: word }) });
    const { code, stdout, stderr } = await runProgram([...args, '--json'], { environment });
    const ours = args[0] === 'idv' ? { requestId: expect.stringMatching(/^[0-9a-f]{32}$/) } : {};
    expect([code, JSON.parse(stdout)]).toEqual([1, { status: word, ...ours }]);
    expect(stderr).toContain(`the exchange answered "${word}", and not ${documented}`);
    exchange.answer = () => ({ status: 200, body: JSON.stringify({ status: documented }) });
    expect(await runProgram(args, { environment })).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([['show'], ['cards']])('a 404 of customer %s leaves open which of the two is absent', async (name) => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 404, body: '{"message":"m","code":"c","status":"NOT_FOUND"}' });
    const { code, stderr } = await runProgram(['customer', name, 'l1'], { environment: settingsOf(program) });
    expect([code, stderr]).toEqual([2, expect.stringContaining('no customer, or no link, "l1" at the exchange')]);
  });
});

describe('an answer of the control socket about somebody else', () => {
  it.each([
    ['GET', '/clients/l1/idv/MAIN', '{"linkId":"l2","token":"canary-secret","tokenValidTill":"2026-01-05"}'],
    ['POST', '/clients/l1/sdk-token', '{"linkId":"l2","token":"canary-secret","expiresAt":"2026-01-05"}'],
    ['GET', '/clients/l1/customer', '{"linkId":"l2","firstName":"canary-secret"}'],
  ])('is an error that bears nothing of it: %s %s', async (method, path, body) => {
    const socket = await scriptedControlSocket();
    socket.exchange.answer = () => ({ status: 200, body });
    const { status, text } = await socket.ask(method, path);
    expect([status, JSON.parse(text)]).toMatchObject([504, { ok: false, error: { kind: 'unknown' } }]);
    expect(text).toContain('the exchange answered about another link');
    expect(text).not.toContain('canary-secret');
  });
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
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 200, body: JSON.stringify([{ id: 'c', number, token: 'canary' }]) });
    const { stdout } = await runProgram(['customer', 'cards', 'a', '--json'], { environment: settingsOf(program) });
    expect(JSON.parse(stdout)).toEqual([{ id: 'c', bank: null, country: null, number: shown, type: null }]);
  });

  it('shows an id that comes as a number as text of its digits', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 200, body: '[{"id":12345678901234567890,"bank":"B"}]' });
    const environment = settingsOf(program);
    const { stdout } = await runProgram(['customer', 'cards', 'a', '--json'], { environment });
    expect(JSON.parse(stdout)).toMatchObject([{ id: '12345678901234567890', bank: 'B' }]);
    for (const more of [[], ['--reveal']]) {
      expect((await runProgram(['customer', 'cards', 'a', ...more], { environment })).stdout).toContain(
        '12345678901234567890',
      );
    }
  });

  it('hides what the interface does not show, and what would steer a terminal', async () => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => ({ status: 200, body: '[{"id":"c","bank":"a\\u001b[2Jb","cvv":"canary"}]' });
    const { stdout } = await runProgram(['customer', 'cards', 'a'], { environment: settingsOf(program) });
    expect(stdout).toContain('a\\u001b[2Jb');
    expect(
      (await runProgram(['customer', 'cards', 'a', '--json'], { environment: settingsOf(program) })).stdout,
    ).not.toContain('canary');
    expect(stdout).not.toContain('canary');
  });
});

describe('what the exchange says', () => {
  it('of an order is a line a field for people, amounts as received and tokens hidden; --json is the answer', async () => {
    const { program, exchange } = await scriptedControlSocket();
    const body =
      '{"externalOrderId":"a","merchant":{"id":"m-1"},"order":{"id":"o-1","number":7,"status":"DONE","odd":[],"exchangeOperation":' +
      '{"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"inputAsset":1.50,"ratio":null},"fiatTransaction":' +
      '{"paymentToken":"canary","within":{"deep":{"deeper":1},"x":1}}},"percent":1.0}';
    exchange.answer = () => ({ status: 200, body });
    const environment = settingsOf(program);
    const { code, stdout } = await runProgram(['lookup', 'a'], { environment });
    expect([code, stdout]).toEqual([
      0,
      `external order id  a
merchant id        m-1
percent            1.0

order
id                 o-1
number             7
status             DONE
odd                []

order, exchange operation
currency pair      BTC/EUR
input asset        1.50
ratio              null

order, fiat transaction
payment token      <hidden>

order, fiat transaction, within
deep deeper        1
x                  1
`,
    ]);
    const asJson = await runProgram(['lookup', 'a', '--json', '--reveal'], { environment });
    expect(asJson.stdout).toBe(`${body}\n`);
    exchange.answer = () => ({ status: 200, body: '{"id":"p","externalOrderId":"a","asset":0.10,"bonus":null}' });
    const preOrder = await runProgram(['pre-order', 'show', 'p'], { environment });
    expect(preOrder.stdout).toBe(
      'id                 p\nexternal order id  a\nasset              0.10\nbonus              null\n',
    );
  });

  it('is printed with every digit, and cannot steer a terminal', async () => {
    const { program, exchange } = await scriptedControlSocket();
    const body = '{"linkId":"a","status":"\\u001b[31mX","limit":12345678901234567.1234567890,"more":{"b":[1.0]}}';
    exchange.answer = () => ({ status: 200, body });
    const { stdout } = await runProgram(['client', 'show', 'a'], { environment: settingsOf(program) });
    expect(stdout).toBe('link id  a\nstatus   \\u001b[31mX\nlimit    12345678901234567.1234567890\nmore b   [1.0]\n');
    expect((await runProgram(['client', 'show', 'a', '--json'], { environment: settingsOf(program) })).stdout).toBe(
      `${body}\n`,
    );
    exchange.answer = () => ({ status: 403, body: '{"message":"\\u001b[2J","code":"c","status":"s"}' });
    const refused = await runProgram(['client', 'show', 'a'], { environment: settingsOf(program) });
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'order-sync: the exchange refused: HTTP 403 s: \\u001b[2J\n',
    });
  });

  it.each<[string, ScriptedAnswer, RegExp]>([
    ['nothing', 'reset', /^order-sync: [^\n]+\n$/],
    ['what cannot be read', { status: 200, body: 'OK' }, /the answer cannot be read/],
    ['that it has too much to do', { status: 429 }, /^order-sync: the exchange limits the rate; try again at \S+Z\n$/],
  ])('is %s: exit 69', async (_name, answer, message) => {
    const { program, exchange } = await scriptedControlSocket();
    exchange.answer = () => answer;
    const { code, stdout, stderr } = await runProgram(['client', 'validate', EMAIL], {
      environment: settingsOf(program),
    });
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('canary');
  });
});

/** Something other than this version of the daemon listens on the control socket. */
async function listens(program: TestProgram, answer: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => socket.once('data', () => answer(socket)));
  server.listen(controlSocketPath(program.config.database.path));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

describe('a daemon that goes away before it answers', () => {
  it('leaves it open what became of the request: exit 69', async () => {
    const program = await ownerless();
    await listens(program, (socket) => socket.destroy());
    const { code, stdout, stderr } = await runProgram(['client', 'create', EMAIL], {
      environment: settingsOf(program),
    });
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(
      /the daemon went away before it answered; it is not known whether the operation was done\n$/,
    );
  });
});

describe('a daemon of another version', () => {
  it.each([
    ['an operation that it does not know', '{"ok":false,"error":{"kind":"invalid","message":"there is no operation"}}'],
    ['an answer that cannot be read', '{"message":"Route not found","error":"Not Found","statusCode":404}'],
  ])('has %s: exit 69, and what to do', async (_name, body) => {
    const program = await ownerless();
    const head = `HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
    await listens(program, (socket) => socket.end(`${head}${body}`));
    const { code, stdout, stderr } = await runProgram(['client', 'show', 'a'], { environment: settingsOf(program) });
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/(?:it|the daemon) may run another version of order-sync; restart it\n$/);
  });
});
