/** A request as the client hands it to `fetch`. */
export interface Fetched {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The answer to a request: a reply, an error, or a function that decides by the request. */
export type Script = Scripted | Error | ((asked: Fetched) => Scripted | Promise<Scripted>);

/** A `fetch` that answers by a script, each request with the next of its lines, and the last one for ever. */
export function scriptedFetch(...script: Script[]) {
  const asked: Fetched[] = [];
  const fetching = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', headers, body, signal } = init;
    const url = input instanceof Request ? input.url : String(input);
    const one: Fetched = {
      method,
      url,
      headers: headers as Record<string, string>,
      body: body as string | undefined,
      signal: signal ?? new AbortController().signal,
    };
    asked.push(one);
    const line = script[Math.min(asked.length, script.length) - 1] ?? {};
    if (line instanceof Error) throw line;
    const answer = typeof line === 'function' ? await line(one) : line;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? { ok: true, value: {} });
    return new Response(text, { status: answer.status ?? 200, headers: answer.headers ?? {} });
  };
  return { fetch: fetching, asked };
}

/** An answer of order-sync that is no success. */
export function problem(status: number, kind: string, more: Readonly<Record<string, unknown>> = {}, owner?: string) {
  const error = { kind, reason: null, message: 'for people', httpStatus: null, code: null, status: null, ...more };
  return { status, body: { type: `urn:order-sync:problem:${kind}`, status, ok: false, error, owner } };
}
