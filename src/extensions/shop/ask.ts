import { jittered, sleep, TimeLimit } from './clock.ts';
import { errorIn, OrderSyncError, type Answer, type ErrorKind } from './errors.ts';
import { overNode } from './socket.ts';
import { NoOwnerError, overFetch, Route, type OutgoingRequest, type Received } from './transport.ts';

interface CommonOptions {
  /** The name of the account, as the settings of order-sync have it; `default` if left out. */
  readonly account?: string | undefined;
  /** Milliseconds for a request and its retries; 30,000 if left out. */
  readonly timeoutMs?: number | undefined;
}

interface UrlOptions extends CommonOptions {
  /** The secret of a token of `api.tokens`. It is sent only to `url` or `urls`. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly socket?: never;
}

export type OrderSyncOptions =
  | (UrlOptions & { readonly url: string | URL; readonly urls?: never })
  /** The addresses of several workers. The client finds the worker that drives the account. */
  | (UrlOptions & { readonly urls: readonly (string | URL)[]; readonly url?: never })
  /** The path of the control socket. */
  | (CommonOptions & { readonly socket: string; readonly url?: never; readonly urls?: never });

export interface CallOptions {
  /** Cancels the request. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Requests with the same key are done once. If the key is left out, each call makes a random key. */
export interface DecisionOptions extends CallOptions {
  readonly idempotencyKey?: string | undefined;
}

/** One operation of the API. Each `:name` in `path` is replaced by an id. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** True if the request may be sent again, because it only reads or the server does it only once. */
  readonly isSafe?: boolean;
  /** True if the request has an Idempotency-Key. */
  readonly isKeyed?: boolean;
  /** True if the numbers in the answer come from the exchange. They become text, with every digit. */
  readonly isExact?: boolean;
}

export interface Input {
  readonly ids?: readonly string[];
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

type Reader<Read> = (received: Received) => Read | Promise<Read>;

const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_RETRIES = 2;
const RETRY_MS = 250;

/** Sends requests to order-sync. Rejects with `OrderSyncError` if no answer comes, or if the answer is no success. */
export class Asker {
  readonly #route: Route;
  readonly #account: string;
  readonly #token: string | undefined;
  readonly #timeoutMs: number;

  constructor(options: OrderSyncOptions) {
    const { url, urls = url === undefined ? [] : [url], socket } = options;
    const bases = urls.map(baseOf);
    // A token that was sent with TLS must never be sent without TLS.
    const isSecure = bases.map((base) => base.startsWith('https:'));
    if (new Set(isSecure).size > 1) throw new TypeError('the addresses must be all https, or all http');
    this.#token = socket === undefined ? options.token?.trim() : undefined;
    // Without this check, the JavaScript engine would quote the token in its error.
    if (/[^!-~]/.test(this.#token ?? '')) throw new TypeError('a token must have only visible ASCII characters');
    const send = socket === undefined ? overFetch(options.fetch) : overNode(socket);
    this.#route = new Route(send, socket === undefined ? bases : ['http://localhost']);
    this.#account = options.account ?? 'default';
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  async ask<Value>(operation: Operation, input: Input, options: DecisionOptions = {}): Promise<Value> {
    const { idempotencyKey = globalThis.crypto.randomUUID() } = options;
    const keyed = operation.isKeyed === true && { headers: { 'idempotency-key': idempotencyKey } };
    const text = await this.text(operation, { ...input, ...keyed }, options);
    try {
      const { value } = JSON.parse(operation.isExact === true ? numbersAsText(text) : text) as { value: Value };
      return value;
    } catch (cause) {
      const kind = operation.method === 'GET' ? 'unreadable' : 'unknown';
      throw new OrderSyncError(kind, 'the answer cannot be read', { status: 200, cause });
    }
  }

  async text(operation: Operation, input: Input, options: CallOptions = {}): Promise<string> {
    options.signal?.throwIfAborted();
    const limit = new TimeLimit(options.signal, options.timeoutMs ?? this.#timeoutMs);
    try {
      return await this.#answer(operation, input, limit, async (received) => await received.text());
    } catch (error) {
      options.signal?.throwIfAborted();
      throw error;
    } finally {
      limit.release();
    }
  }

  /** Returns when the answer begins. Ending `limit` ends the answer too. */
  async open(operation: Operation, input: Input, limit: TimeLimit): Promise<Received> {
    limit.restart(this.#timeoutMs);
    return await this.#answer(operation, input, limit, (received) => received);
  }

  async #answer<Read>(operation: Operation, input: Input, limit: TimeLimit, read: Reader<Read>): Promise<Read> {
    const { method, isSafe = false } = operation;
    const { body, query, headers } = input;
    const sent: OutgoingRequest = {
      method,
      path: pathOf(operation, { ...input, query: { account: this.#account, ...query } }),
      signal: limit.signal,
      headers: {
        accept: 'application/json',
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#once(sent, read);
      } catch (error) {
        const waitMs = retries < MOST_RETRIES && isSafe ? waitOf(error, retries) : undefined;
        if (waitMs === undefined || waitMs >= limit.leftMs) throw error;
        await sleep(waitMs, limit.signal).catch(() => Promise.reject(error as Error));
      }
    }
  }

  async #once<Read>(sent: OutgoingRequest, read: Reader<Read>): Promise<Read> {
    const isRead = sent.method === 'GET';
    let answer: Answer;
    try {
      const received = await this.#route.send(sent);
      if (received.status >= 200 && received.status < 300) return await read(received);
      answer = { ...received, body: await received.text() };
    } catch (cause) {
      throw errorOf(cause, isRead);
    }
    throw errorIn(answer, isRead);
  }
}

function errorOf(error: unknown, isRead: boolean): OrderSyncError {
  const misses = error instanceof NoOwnerError ? [...error.misses.values()] : [];
  const answered = misses.findLast((miss) => 'answer' in miss);
  if (answered !== undefined) return errorIn(answered.answer, isRead);
  const [cause = error] = misses.flatMap((miss) => ('cause' in miss ? [miss.cause] : []));
  const message = cause instanceof Error ? cause.message : 'the request failed';
  const [kind, said]: [ErrorKind, string] =
    misses.length > 0 ? ['unreachable', 'cannot be reached'] : [isRead ? 'no-answer' : 'unknown', 'did not answer'];
  return new OrderSyncError(kind, `order-sync ${said}: ${message}`, { cause });
}

/** Returns the wait before the next try, in ms; undefined if there must be no next try. */
function waitOf(error: unknown, retries: number): number | undefined {
  if (!(error instanceof OrderSyncError)) return undefined;
  // Soon after the owner of an account ends, the account has a new owner.
  if (error.kind === 'unreachable' || error.kind === 'not-owner') return jittered(RETRY_MS * 2 ** retries);
  const isLater = error.status === 503 || error.status === 429;
  return isLater && error.retryAfterMs !== null ? error.retryAfterMs : undefined;
}

function baseOf(address: string | URL): string {
  const { protocol, origin, pathname, search, hash, username, password } = new URL(address);
  const isPlain = search === '' && hash === '' && username === '' && password === '';
  if (!/^https?:$/.test(protocol) || !isPlain) throw new TypeError('an address must be http(s)://HOST:PORT');
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function pathOf({ path }: Operation, { ids = [], query = {} }: Input): string {
  const values = ids.values();
  const filled = path.replaceAll(/:\w+/g, () => partOf(String(values.next().value)));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((one) => `${name}=${encoded(String(one))}`),
  );
  return `${filled}?${pairs.join('&')}`;
}

/** Refuses `.`, `..` and an empty id, because these ids would change the path. */
function partOf(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new OrderSyncError('unusable', `${JSON.stringify(id)} cannot be an id`);
  return encoded(id);
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw new OrderSyncError('unusable', 'a text that is not valid Unicode cannot be sent', { cause });
  }
}

/** The closing quote is optional, so that each character of an unclosed string is read once. */
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"?|-?\d[\d.eE+-]*/gs;

/** Puts each number of a JSON text in quotes, to keep all digits. The time is proportional to the length. */
export function numbersAsText(json: string): string {
  return json.replace(STRING_OR_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`));
}
