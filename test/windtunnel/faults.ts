import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** An answer of the exchange. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request, as a fault has it at hand. */
export interface Faulted {
  readonly isCreate: boolean;
  /** The connection to the program. */
  readonly socket: Socket;
  readonly random: () => number;
  /** An address of another origin. */
  readonly elsewhere: string;
  /** Has the exchange take the request; returns its answer. */
  readonly take: () => Promise<Answer>;
  /** The same a second time, which is none of the program's doing. */
  readonly takeAgain: () => Promise<Answer>;
  /** The answer that follows has this status, and proves that a create was not taken. */
  readonly notTaken: (status: number) => void;
  /** The answer that follows asks to wait so long. */
  readonly askToWait: (ms: number) => void;
}

/** The fate of a request between the program and the exchange. */
type Fault = (request: Faulted) => void | Promise<void>;

const HUGE_BYTES = 64 * 1_048_576;
const BOMB = gzipSync(Buffer.alloc(100 * 1_048_576, ' '));
const DEPTH = 100_000;
/** A dripping answer is slower than every timeout. */
const DRIP_MS = 200;
const SLOW_MS = 700;
/** The longest that the exchange asks to wait. */
const WAIT_S = 3;

/** A well-formed answer, after which the connection ends. */
export function answerText(status: number, body: string, headers: Readonly<Record<string, string | number>> = {}) {
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} as it is\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

const CLOSE = { connection: 'close' };

/** As §7 shows it. */
export function documented(status: number, name: string): string {
  return JSON.stringify({ message: 'no', code: String(status), status: name });
}

function end({ socket }: Faulted, status: number, body: string, headers: Record<string, string | number> = {}): void {
  socket.end(answerText(status, body, { ...CLOSE, ...headers }));
}

/** Nothing can tell whether the exchange has taken a create. */
async function perhaps({ isCreate, random, take }: Faulted): Promise<Answer> {
  return !isCreate || random() < 0.5 ? await take() : { status: 200, body: '{"id":"made by no program"}' };
}

async function afterPerhaps(request: Faulted, status: number, body: string, headers = {}): Promise<void> {
  await perhaps(request);
  end(request, status, body, headers);
}

async function write(socket: Socket, bytes: Buffer, eachMs: number): Promise<void> {
  for (let at = 0; at < bytes.length && !socket.destroyed; at += 1) {
    socket.write(bytes.subarray(at, at + 1));
    await wait(eachMs);
  }
  socket.end();
}

/** The fate of a whole answer on its way. */
function mangled(mangle: (text: string, request: Faulted) => void | Promise<void>): Fault {
  return async (request) => {
    const { status, body } = await perhaps(request);
    await mangle(answerText(status, body, CLOSE), request);
  };
}

/** A create is refused with this, and not taken. A look-up gets it as well. */
function refusal(status: number, name: string): Fault {
  return (request) => {
    request.notTaken(status);
    end(request, status, documented(status, name));
  };
}

/** Every fault by its name. */
export const FAULTS = {
  'reset-before': ({ socket }) => void socket.resetAndDestroy(),
  'reset-after': async ({ socket, take }) => {
    await take();
    socket.resetAndDestroy();
  },
  lost: async ({ socket, take }) => {
    await take();
    socket.end();
  },
  'hang-before': () => undefined,
  hang: async ({ take }) => void (await take()),
  'slow-headers': mangled(async (text, { socket }) => {
    await wait(SLOW_MS);
    socket.end(text);
  }),
  drip: mangled((text, { socket }) => write(socket, Buffer.from(text), DRIP_MS)),
  stalled: mangled((text, { socket }) => void socket.write(text.slice(0, -10))),
  truncated: mangled((text, { socket }) => void socket.end(text.slice(0, -10))),
  'too-long': mangled((text, { socket }) => void socket.end(text.replace('content-length: ', 'content-length: 9'))),
  'too-short': mangled((text, { socket }) => void socket.end(text.replace(/content-length: \d+/, 'content-length: 7'))),
  garbage: mangled((_text, { socket }) => void socket.end('\0\x16\x03 no HTTP at all\r\n\r\n')),
  'early-hints': mangled((text, { socket }) => void socket.end(`HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n${text}`)),
  continue: mangled((text, { socket }) => void socket.end(`HTTP/1.1 100 Continue\r\n\r\n${text}`)),
  upgrade: mangled(
    (_text, { socket }) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ),
  'wrong-json': (request) => afterPerhaps(request, 200, '{"answer":42}'),
  'half-json': (request) => afterPerhaps(request, 200, '{"id":"1",'),
  'duplicate-keys': (request) => afterPerhaps(request, 200, '{"id":"1","id":"2","externalOrderId":"a"}'),
  html: (request) => afterPerhaps(request, 200, '<html>maintenance</html>', { 'content-type': 'text/html' }),
  empty: (request) => afterPerhaps(request, 200, ''),
  nothing: (request) => afterPerhaps(request, 204, ''),
  deep: (request) => afterPerhaps(request, 200, '['.repeat(DEPTH)),
  huge: async (request) => {
    await perhaps(request);
    const { socket } = request;
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${HUGE_BYTES}\r\n\r\n`);
    for (let sent = 0; sent < HUGE_BYTES && !socket.destroyed; sent += 65_536) {
      if (!socket.write(Buffer.alloc(65_536, ' '))) await wait(5);
    }
    socket.end();
  },
  bomb: async (request) => {
    await perhaps(request);
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\nconnection: close\r\n\r\n`;
    request.socket.write(head);
    request.socket.end(BOMB);
  },
  redirect: (request) => afterPerhaps(request, 307, '', { location: request.elsewhere }),
  moved: (request) => afterPerhaps(request, 301, '', { location: request.elsewhere }),
  doubled: async (request) => {
    const { status, body } = await request.take();
    await request.takeAgain();
    end(request, status, body);
  },
  'rate-limited': (request) => {
    request.notTaken(429);
    request.askToWait(WAIT_S * 1_000);
    end(request, 429, documented(429, 'TOO_MANY'), { 'retry-after': WAIT_S });
  },
  'absurd-wait': (request) => {
    request.notTaken(429);
    end(request, 429, 'slow down', { 'retry-after': '-7 weeks' });
  },
  'busy-for-now': async (request) => {
    await perhaps(request);
    request.askToWait(WAIT_S * 1_000);
    end(request, 503, 'busy', { 'retry-after': WAIT_S });
  },
  'error-500': (request) => afterPerhaps(request, 500, 'oops'),
  'bad-gateway': (request) => afterPerhaps(request, 502, '<html>bad gateway</html>'),
  timeout: (request) => afterPerhaps(request, 408, ''),
  conflict: (request) => afterPerhaps(request, 409, documented(409, 'CONFLICT')),
  'undocumented-400': (request) => afterPerhaps(request, 400, 'bad request'),
  'undocumented-404': (request) => afterPerhaps(request, 404, ''),
  'key-refused': refusal(401, 'UNAUTHORIZED'),
  forbidden: refusal(403, 'FORBIDDEN'),
  refused: (request) => (request.isCreate ? refusal(400, 'BAD_REQUEST')(request) : afterPerhaps(request, 500, 'oops')),
  // A replica that is behind.
  absent: (request) => (request.isCreate ? afterPerhaps(request, 500, 'oops') : refusal(404, 'NOT_FOUND')(request)),
} as const satisfies Record<string, Fault>;

/** The name of a fault. */
export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];
