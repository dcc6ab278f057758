import fc from 'fast-check';
import { ODD_NUMBERS, ODD_TIMES, oddText } from './odd.ts';

/** An answer as bytes, and whether the connection ends after them or stays as it is. */
export interface OddHttpAnswer {
  readonly bytes: string;
  readonly isEnded: boolean;
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** Values of Retry-After, whatever it is meant to be. */
export const oddRetryAfter = fc.oneof(
  fc.constantFrom<string>(...ODD_NUMBERS, ...ODD_TIMES),
  oddText,
  fc.constantFrom(
    '120',
    '0',
    '1.5',
    ' 7 ',
    'Mon, 01 Jan 0001 00:00:00 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    '9'.repeat(400),
  ),
);

const statusLine = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(
        100,
        101,
        103,
        200,
        201,
        204,
        205,
        206,
        226,
        299,
        300,
        301,
        304,
        307,
        308,
        400,
        401,
        403,
        404,
        408,
        409,
        410,
        418,
        422,
        429,
        451,
        500,
        502,
        503,
        504,
        599,
        600,
        999,
      )
      .map((status) => `HTTP/1.1 ${status} Some`),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 200',
      'HTTP/1.0 200 OK',
      'HTTP/2 200',
      'HTTP/1.1  200 OK',
      'HTTP/1.1 0200 OK',
      'HTTP/1.1 20 OK',
      'HTTP/1.1 -200 OK',
      'HTTP/1.1 99999 OK',
      'http/1.1 200 ok',
      'ICY 200 OK',
      'SSH-2.0-OpenSSH_9.2',
      '',
      '\x16\x03\x01\x00\xA5',
      'HTTP/1.1 200 \xFF\xFE',
      `HTTP/1.1 200 ${'x'.repeat(20_000)}`,
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
      'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 503 No',
    ),
  },
  { weight: 1, arbitrary: oddText.map(latin1) },
);

const header = fc.oneof(
  { weight: 3, arbitrary: oddRetryAfter.map((value) => `retry-after: ${latin1(value)}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'content-length: 99999999999999999999',
      'content-length: -1',
      'content-length: 1\r\ncontent-length: 2',
      'content-length: 0x1',
      'transfer-encoding: chunked',
      'transfer-encoding: chunked\r\ncontent-length: 5',
      'transfer-encoding: gzip, chunked',
      'content-encoding: gzip',
      'content-encoding: br',
      'content-encoding: zstd',
      'content-encoding: deflate, gzip, br',
      'connection: upgrade\r\nupgrade: websocket',
      'connection: close',
      'location: http://169.254.169.254/',
      'location: ://',
      'content-type: text/html; charset=utf-16',
      'set-cookie: __proto__=1',
      '__proto__: x',
      'constructor: x',
      'no colon',
      ': no name',
      'folded: a\r\n b',
      'trailer: x',
      `big: ${'x'.repeat(20_000)}`,
      Array.from({ length: 3_000 }, (_, index) => `h${index}: x`).join('\r\n'),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(oddText, oddText).map(([name, value]) => latin1(`${name}: ${value}`)) },
);

/** Answers of servers, whole and broken, with these bodies among others. */
export function oddHttpAnswer(bodies: readonly string[], oddBody = oddText.map(latin1)): fc.Arbitrary<OddHttpAnswer> {
  const body = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...bodies) },
    { weight: 3, arbitrary: oddBody },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        '5\r\nhello\r\n0\r\n\r\n',
        'FFFFFFFFFFFFFFFFF\r\nx',
        '-1\r\n\r\n',
        '5;ext="\r\n',
        '0\r\nx: y\r\n\r\n',
        '\x1F\x8B\x08\x00',
        '\xFF\xFE{\x00}\x00',
        'x'.repeat(300_000),
      ),
    },
  );
  const length = fc.constantFrom('right', 'none', 'less', 'more');
  const whole = fc
    .record({ statusLine, headers: fc.array(header, { maxLength: 2 }), body, length })
    .map((answer) => [answer.statusLine, ...answer.headers, ...lengthOf(answer), '', answer.body].join('\r\n'));
  const bytes = fc.oneof(
    { weight: 9, arbitrary: whole },
    {
      weight: 2,
      arbitrary: whole.chain((text) => fc.nat(Math.min(text.length, 200)).map((end) => text.slice(0, end))),
    },
  );
  // Most end, as one that does not is waited for.
  return fc.record({ bytes, isEnded: fc.nat(40).map((one) => one > 0) });
}

function lengthOf({ body, length }: { readonly body: string; readonly length: string }): readonly string[] {
  if (length === 'none') return [];
  const by = { right: 0, less: -1, more: 5 }[length] ?? 0;
  return [`content-length: ${Math.max(0, body.length + by)}`];
}
