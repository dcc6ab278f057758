import { isNeverSent, problemIn, type Answer } from './errors.ts';

/** `path` is encoded and contains the query. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer whose body may not have arrived yet. */
export interface Received {
  readonly status: number;
  readonly retryAfter: string | null;
  text(): Promise<string>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type Send = (base: string, request: OutgoingRequest) => Promise<Received>;

export function overFetch(fetching: typeof fetch = fetch): Send {
  return async (base, { path, ...init }) => {
    // A redirect might send the token to another host.
    const response = await fetching(`${base}${path}`, { ...init, redirect: 'manual' });
    const { status, headers, body } = response;
    return {
      status,
      retryAfter: headers.get('retry-after'),
      text: async () => await response.text(),
      chunks: body ?? new ReadableStream(),
    };
  };
}

/** `cause`: nothing was sent to the address. `answer`: the process at the address does not own the account. */
export type Miss = { readonly cause: unknown } | { readonly answer: Answer; readonly owner: string | undefined };

/** No request reached the owner of the account, so nothing was done. `misses` has the reason for each address. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
  readonly misses: ReadonlyMap<string, Miss>;
  constructor(misses: ReadonlyMap<string, Miss>) {
    super([...misses].map(([base, miss]) => `${base} ${reasonOf(miss)}`).join('; '));
    this.misses = misses;
  }
}

function reasonOf(miss: Miss): string {
  if ('answer' in miss) return 'does not drive the account';
  const { message = '', code = '' } = miss.cause as { readonly message?: string; readonly code?: string };
  const advice = /CERT|SIGNATURE/.test(code)
    ? ' (if you have your own certificate authority, set NODE_EXTRA_CA_CERTS to its file)'
    : '';
  // The `AggregateError` of a host with several IP addresses has no message.
  return `cannot be reached: ${message || code}${advice}`;
}

const NOT_OWNER = 421;
const MOST_OWNERS = 2;

/** The addresses of several processes, one of which drives the account. */
export class Route {
  readonly #send: Send;
  readonly #bases: readonly string[];
  /** The address that was asked last. The next request begins with this address. */
  #base: string;

  constructor(send: Send, bases: readonly string[]) {
    const [first] = bases;
    if (first === undefined) throw new TypeError('give the url of order-sync, or the path of its socket');
    this.#send = send;
    this.#bases = bases;
    this.#base = first;
  }

  /**
   * Asks one address after another until an answer is not 421. If a 421 names the owner, asks the owner next, twice
   * at most. Rejects with `NoOwnerError` if nothing was done. After any other error the outcome is unknown.
   */
  async send(request: OutgoingRequest): Promise<Received> {
    const misses = new Map<string, Miss>();
    for (let [base, owners] = [this.#base, 0]; ;) {
      const received = await this.#ask(base, request);
      if ('status' in received) return received;
      misses.set(base, received);
      const owner = 'owner' in received && owners < MOST_OWNERS ? this.#ownerAt(received.owner, base) : undefined;
      if (owner !== undefined) owners += 1;
      const next = owner ?? this.#bases.find((one) => !misses.has(one) && isAsSecure(base, one));
      if (next === undefined) throw new NoOwnerError(misses);
      this.#base = base = next;
    }
  }

  async #ask(base: string, request: OutgoingRequest): Promise<Received | Miss> {
    const received = await this.#send(base, request).catch((cause: unknown) => {
      if (isNeverSent(cause)) return { cause };
      throw cause;
    });
    if ('cause' in received || received.status !== NOT_OWNER) return received;
    const body = await received.text();
    return { answer: { ...received, body }, owner: problemIn(body).owner };
  }

  /** Returns the address of `bases` with the host of `address`. A token must not go to a host that only a 421 names. */
  #ownerAt(address: string | undefined, asked: string): string | undefined {
    const host = address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
    return this.#bases.find((one) => one !== asked && new URL(one).host === host && isAsSecure(asked, one));
  }
}

/** A token that was sent with TLS must never be sent without TLS. */
function isAsSecure(from: string, to: string): boolean {
  return from.startsWith('http:') || to.startsWith('https:');
}
