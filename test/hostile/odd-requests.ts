import { connect } from 'node:net';
import fc from 'fast-check';
import { broken } from './entry.ts';
import { SECRET } from './ground.ts';
import { bytesOf, ODD_NUMBERS, ODD_TIMES, oddObject, oddText } from './odd.ts';

/** A request as it is meant. Of its path a part that begins with a colon is anything. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Fields of the query. */
  readonly query?: readonly string[];
  /** The body: JSON, or fields of a form. */
  readonly body?: object;
  readonly form?: Readonly<Record<string, string>>;
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const value = fc
  .oneof(oddText, fc.constantFrom<string>(...ODD_NUMBERS, ...ODD_TIMES))
  .map((text) => text.slice(0, 9_000));
const encoded = fc.oneof(
  { weight: 4, arbitrary: value.map((text) => encodeURIComponent(text.toWellFormed())) },
  { weight: 1, arbitrary: value.map(latin1) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%', '%FF', '%C0%AF', '%00', '%ED%A0%80', '..%2f..', '%252e', '%uD800', '+', ';'),
  },
);

const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'content-length: 99999999999999999999',
      'content-length: -1',
      'transfer-encoding: chunked',
      'transfer-encoding: chunked\r\ncontent-length: 3',
      'transfer-encoding: gzip',
      'expect: 100-continue',
      'expect: 200-maybe',
      'upgrade: websocket\r\nconnection: upgrade',
      'upgrade: h2c',
      'content-encoding: gzip',
      'content-type: text/plain',
      'content-type: application/json; charset=utf-16',
      'content-type: multipart/form-data',
      'content-type: ;;;',
      'accept: text/event-stream',
      'last-event-id: x',
      'idempotency-key: k',
      'idempotency-key: a b',
      'accept-encoding: gzip;q=NaN',
      'host: ',
      'host: evil.example',
      'host: a\r\nhost: b',
      'host: [::1',
      'origin: null',
      'origin: http://localhost',
      'authorization: Basic \xFF',
      'authorization: Bearer',
      `authorization: Basic ${Buffer.from(`x:${SECRET}`).toString('base64')}`,
      'cookie: __proto__=1',
      'x-forwarded-for: ::::',
      'range: bytes=-1',
      'no colon',
      ': x',
      'a: b\r\n c',
      `a: ${'x'.repeat(20_000)}`,
      Array.from({ length: 2_500 }, (_, index) => `h${index}: x`).join('\r\n'),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'authorization',
          'host',
          'origin',
          'content-type',
          'last-event-id',
          'accept',
          'idempotency-key',
        ),
        oddText,
      )
      .map(([name, text]) => `${name}: ${latin1(text)}`),
  },
);

/** Requests to these routes as bytes, each with something odd about it. `headers` are those of a request as it is meant. */
export function oddRequest(routes: readonly Route[], headers: readonly string[]): fc.Arbitrary<string> {
  const request = fc.constantFrom(...routes).chain((route) =>
    fc
      .record({
        method: fc.oneof(
          { weight: 9, arbitrary: fc.constant<string>(route.method) },
          {
            weight: 1,
            arbitrary: fc.constantFrom(
              'PUT',
              'DELETE',
              'HEAD',
              'OPTIONS',
              'TRACE',
              'CONNECT',
              'QUERY',
              'get',
              '',
              'A'.repeat(9_000),
            ),
          },
        ),
        target: targetOf(route),
        body: bodyOf(route),
        more: fc.oneof(
          { weight: 3, arbitrary: fc.constant<string[]>([]) },
          { weight: 1, arbitrary: fc.array(header, { maxLength: 2 }) },
        ),
        version: fc.oneof(
          { weight: 12, arbitrary: fc.constant('HTTP/1.1') },
          { weight: 1, arbitrary: fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', '', 'http/1.1') },
        ),
      })
      .map(({ method, target, body, more, version }) => {
        const type = route.form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
        const own = body === undefined ? [] : [`content-type: ${type}`, `content-length: ${body.length}`];
        const named = more.map((one) => one.split(':')[0]?.toLowerCase());
        const all = [...headers, ...own].filter((one) => !named.includes(one.split(':')[0]));
        return [`${method} ${target} ${version}`, ...all, ...more, '', body ?? ''].join('\r\n');
      }),
  );
  return fc.oneof(
    { weight: 12, arbitrary: request },
    { weight: 2, arbitrary: request.chain((text) => fc.nat(text.length).map((length) => text.slice(0, length))) },
    {
      weight: 1,
      arbitrary: fc.tuple(request, request).map(([one, other]) => one.replace('connection: close\r\n', '') + other),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', '\r\n', '\0', '\x16\x03\x01\x02\x00\x01', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    },
  );
}

function targetOf({ path, query = [] }: Route): fc.Arbitrary<string> {
  const parts = path
    .split('/')
    .map((part) => (part.startsWith(':') ? fc.oneof(fc.constant('x'), encoded) : fc.constant(part)));
  const pair = fc.tuple(
    fc.constantFrom('account', ...query, '__proto__', 'constructor'),
    fc.oneof(fc.constant('default'), encoded),
  );
  const asked = fc.array(pair, { maxLength: 3 }).map((pairs) => pairs.map(([name, one]) => `${name}=${one}`).join('&'));
  const target = fc
    .tuple(
      fc.tuple(...parts).map((all) => all.join('/')),
      asked,
    )
    .map(([one, text]) => (text === '' ? one : `${one}?${text}`));
  return fc.oneof(
    { weight: 9, arbitrary: target },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '*',
        'http://evil.example/',
        '//',
        '/%',
        '/..',
        '/\\',
        '?',
        '/?%',
        `/${'a/'.repeat(4_000)}`,
        `/?${'a=1&'.repeat(2_500)}`,
      ),
    },
  );
}

function bodyOf({ method, body, form }: Route): fc.Arbitrary<string | undefined> {
  if (method === 'GET') return fc.constant(undefined);
  if (form === undefined) return oddObject(body ?? {}).map(latin1);
  const names = Object.keys(form);
  return fc.tuple(fc.constantFrom(...names), encoded, fc.nat(3)).map(([name, odd, how]) => {
    const pairs = names.map((one) => `${one}=${one === name && how < 2 ? odd : encodeURIComponent(form[one] ?? '')}`);
    return (how === 2 ? [...pairs, `${name}=${odd}`] : pairs).join('&');
  });
}

/** Who sends half a request waits so long for an answer, in milliseconds, and goes away. */
const PATIENCE_MS = 100;

/** Sends bytes and returns the answers until the other side closes. A stream of events is broken off. */
export async function answerTo(
  to: { readonly port: number } | { readonly path: string },
  bytes: string,
  patienceMs = PATIENCE_MS,
): Promise<string> {
  let answer = '';
  await new Promise<void>((resolve) => {
    const socket = connect({ ...to });
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
      if (answer.includes('text/event-stream')) socket.destroy();
    });
    socket.setTimeout(patienceMs, () => socket.destroy());
    socket.on('error', () => {}).on('close', () => resolve());
    socket.write(bytesOf(bytes));
  });
  return answer;
}

/** A request as it is meant is answered with 200. */
export async function checkHealth(to: Parameters<typeof answerTo>[0], bytes: string): Promise<void> {
  const answer = await answerTo(to, bytes, 30_000);
  if (!answer.startsWith('HTTP/1.1 200')) broken(`it does not answer any more: ${answer.slice(0, 200)}`);
}

/** An answer is HTTP, no failure of the program, and shows no secret. */
export function checkAnswer(answer: string): void {
  const [, httpStatus] = /^HTTP\/1\.[01] (\d{3}) /.exec(answer) ?? [];
  if (answer !== '' && httpStatus === undefined) broken(`the answer is no HTTP: ${answer.slice(0, 200)}`);
  if (httpStatus === '500') broken(`the program failed: ${answer.slice(-300)}`);
  if (answer.includes(SECRET)) broken(`the answer shows a secret: ${answer.slice(0, 500)}`);
}
