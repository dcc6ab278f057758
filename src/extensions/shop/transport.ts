/** One request; `path` is encoded and has its query. */
export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer whose body may still be on its way. */
export interface Received {
  readonly status: number;
  readonly retryAfter: string | null;
  text(): Promise<string>;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type Send = (base: string, sent: Sent) => Promise<Received>;

export function overFetch(fetching: typeof fetch = fetch): Send {
  return async (base, { path, ...init }) => {
    // A redirect might lead the token elsewhere.
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

/** Sends over a Unix socket: `fetch` has no such addresses. */
export function overSocket(socketPath: string): Send {
  return async (_base, { body, ...options }) => {
    const { request } = await import('node:http');
    return await new Promise((resolve, reject) => {
      // A connection that was kept may be closed just when it is used again: then nobody could tell what was done.
      const call = request({ ...options, socketPath, agent: false }, (response) => {
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'] ?? null,
          async text() {
            const parts: string[] = [];
            for await (const part of response.setEncoding('utf8')) parts.push(part as string);
            return parts.join('');
          },
          chunks: response,
        });
      });
      call.on('error', reject).end(body);
    });
  };
}
