import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import type { Clock } from '../../base/clock.ts';

/** A POST takes a kept connection only within this time after the last answer on it. */
export const REUSE_WITHIN_MS = 100;
const FREE_SOCKETS = 32;

export class Connections {
  readonly #http = new http.Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS });
  // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise let any server in between read the key.
  readonly #https = new SecureAgent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS, rejectUnauthorized: true });
  readonly #server: Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #answeredAt = new WeakMap<Socket, number>();

  constructor(baseUrl: string, clock: Pick<Clock, 'monotonic'>) {
    const { protocol, hostname, port } = urlToHttpOptions(new URL(baseUrl));
    this.#server = { protocol, hostname, port };
    this.#clock = clock;
  }

  /** got calls this function, which passes few options on, because copying all takes a sixth of a request's time. */
  readonly request = (
    { pathname, search }: URL,
    { method, headers }: http.RequestOptions,
    onResponse?: (response: IncomingMessage) => void,
  ): ClientRequest => {
    const options = { ...this.#server, path: pathname + search, method, headers };
    let isAnswered = false;
    const answered = (response: IncomingMessage) => {
      isAnswered = true;
      onResponse?.(response);
    };
    const made =
      options.protocol === 'https:'
        ? https.request({ ...options, agent: this.#https }, answered)
        : http.request({ ...options, agent: this.#http }, answered);
    return withoutUpgrade(endingAtOnce(made, () => isAnswered));
  };

  noteAnswer(socket: Socket | undefined): void {
    if (socket !== undefined) this.#answeredAt.set(socket, this.#clock.monotonic());
  }

  /** Closes idle connections whose last answer is too old. Each POST calls this, because a timer might be late. */
  closeIdle(): void {
    const latest = this.#clock.monotonic() - REUSE_WITHIN_MS;
    for (const { freeSockets } of [this.#http, this.#https]) {
      for (const sockets of Object.values(freeSockets)) {
        // Node reuses the socket that was freed last, so the first sockets have been idle for the longest.
        const fresh = sockets?.findIndex(
          (socket) => (this.#answeredAt.get(socket) ?? Number.NEGATIVE_INFINITY) >= latest,
        );
        for (const socket of sockets?.slice(0, fresh === -1 ? undefined : fresh) ?? []) socket.destroy();
      }
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** The sockets of POSTs on which a byte that is written leaves at once. */
const connectedSockets = new WeakSet<Socket>();

/**
 * When the request has its connection (after the TLS handshake, if there is one), calls `write`, which must write the
 * whole request. Its bytes leave at once if `mayLeave()` then returns true. Otherwise they never leave.
 */
export function onceConnected(request: ClientRequest, write: () => void, mayLeave: () => boolean): void {
  const send = (socket: Socket) => {
    // The bytes wait in the corked socket. A process that stands still must not send them after its last `mayLeave`.
    socket.cork();
    write();
    if (mayLeave()) while (socket.writableCorked > 0) socket.uncork();
  };
  request.once('socket', (socket) => {
    if (connectedSockets.has(socket)) return send(socket);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      connectedSockets.add(socket);
      if (!request.destroyed) send(socket);
    });
  });
}

/** The error that broke each request off. got reports the reset of the connection instead. */
export const endedBy = new WeakMap<ClientRequest, Error>();

/**
 * Resets the connection of a request that is broken off before its answer. An orderly close would still send bytes to
 * the exchange, perhaps after look-ups have shown that there is no order.
 */
function endingAtOnce(request: ClientRequest, isAnswered: () => boolean): ClientRequest {
  const destroy = request.destroy.bind(request);
  request.destroy = (error) => {
    const { socket } = request;
    const tcp = isAnswered() || socket === null ? undefined : (tcpSockets.get(socket) ?? socket);
    if (tcp !== undefined && !tcp.connecting && !tcp.destroyed) {
      if (error !== undefined) endedBy.set(request, error);
      // got listens for one error, which is the reset. A second error without a listener would end the process.
      request.on('error', () => {});
      tcp.resetAndDestroy();
    }
    return destroy(error);
  };
  return request;
}

/** Fails a request whose answer is 101 (switching protocols), because its open socket would keep the process alive. */
function withoutUpgrade(request: ClientRequest): ClientRequest {
  return request.once('upgrade', (_response, socket) => {
    socket.destroy();
    // Node emits no further event of a request with this answer.
    request.emit('error', Object.assign(new Error('101'), { code: 'SWITCHED_PROTOCOLS' }));
  });
}

const tcpSockets = new WeakMap<Duplex, Socket>();

/** Remembers the TCP socket below each TLS socket, because Node resets only TCP sockets. */
class SecureAgent extends https.Agent {
  override createConnection(options: https.RequestOptions, callback?: (error: Error | null, stream: Duplex) => void) {
    const { host, port } = options as { host: string; port: number };
    const tcp = connect({ ...(options as object), host, port });
    const secure = super.createConnection({ ...options, socket: tcp } as https.RequestOptions, callback);
    if (secure === null || secure === undefined) return secure;
    tcp.once('error', (error) => secure.destroy(error));
    tcpSockets.set(secure, tcp);
    return secure;
  }
}
