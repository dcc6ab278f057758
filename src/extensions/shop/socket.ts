import type { Received, Send } from './transport.ts';

const CONNECT_MS = 10_000;
/** Marks an error that occurred before anything of the request was sent. */
const CONNECTING = { syscall: 'connect' };

/** Sends with the HTTP of Node, because `fetch` supports no Unix sockets and may skip the check of certificates. */
export function overNode(socketPath?: string): Send {
  return async (base, { path, body, ...sent }) => {
    const isSecure = base.startsWith('https:');
    // An import would load the `WebSocket` of the module as well, which takes longer than a request.
    const builtin = globalThis.process?.getBuiltinModule?.(isSecure ? 'node:https' : 'node:http');
    const { request } = builtin ?? (await import('node:http'));
    // A kept connection may close just when it is used again, which would leave the outcome unknown. The certificate is
    // checked whatever NODE_TLS_REJECT_UNAUTHORIZED says, because a token is sent.
    const once = { agent: false, timeout: CONNECT_MS, rejectUnauthorized: true };
    return await new Promise<Received>((resolve, reject) => {
      const call = request(`${base}${path}`, { ...once, ...sent, ...(socketPath !== undefined && { socketPath }) });
      let isTrusted = !isSecure;
      call.on('timeout', () => {
        if (isTrusted && call.socket?.connecting !== true) return;
        call.destroy(Object.assign(new Error('no connection within 10 s'), CONNECTING));
      });
      call.on('error', (error) => reject(isTrusted || sent.signal.aborted ? error : Object.assign(error, CONNECTING)));
      call.on('response', (response) =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'] ?? null,
          async text() {
            const parts: string[] = [];
            for await (const part of response.setEncoding('utf8')) parts.push(part as string);
            return parts.join('');
          },
          chunks: response,
        }),
      );
      // Nothing is sent before the certificate of the server is checked.
      const send = () => {
        isTrusted = true;
        call.end(body);
      };
      if (isTrusted) send();
      else call.on('socket', (socket) => socket.once('secureConnect', send));
    });
  };
}
