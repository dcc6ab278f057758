import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { WRONG_CERTIFICATE, WRONG_KEY } from './certificate.ts';
import { answerText, documented, FAULTS, type Answer, type FaultName } from './faults.ts';

/** A request of the program as it came to the front of the exchange. */
export interface Arrival {
  readonly isCreate: boolean;
  readonly id: string;
  readonly key: string;
}

/** Who sees what passes between the program and the exchange. Times are monotonic milliseconds. */
export interface Watcher {
  arrived(arrival: Arrival, at: number): void;
  /** An answer of this status proves that the create was not taken. */
  notTaken(arrival: Arrival, status: number): void;
  /** The front itself has sent it to the exchange once more. */
  doubled(arrival: Arrival): void;
  /** The program has read an answer that asks it to wait. */
  askedToWait(arrival: Arrival, readAt: number, until: number): void;
  /** The exchange has shown an order as it is. */
  shown?(arrival: Arrival, answer: Answer): void;
  /** Something arrived at an address at which nothing may arrive. */
  strayed(where: string): void;
}

interface FrontOptions {
  /** The address of the exchange. */
  readonly exchange: string;
  readonly random: () => number;
  readonly watcher: Watcher;
  /** The address on which it listens: loopback. The program is told loopback all the same, which leads here from its machine. */
  readonly host?: string | undefined;
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** No system chooses these ports by itself, so that no program takes one that is closed for a while. */
const PORTS = { from: 20_000, count: 10_000 };

/**
 * Stands between the program and the exchange and speaks raw HTTP: what is wrong on the way to an exchange is done here, and
 * everything that the program sends is seen here.
 */
export class Front implements AsyncDisposable {
  /** The faults in force, and the share of requests that one of them meets. */
  weather: { readonly share: number; readonly faults: readonly FaultName[] } = { share: 0, faults: [] };
  /** How many requests met which fault. */
  readonly met = new Map<FaultName, number>();
  /** The keys that the front takes, and the key of the exchange that each stands for; others are refused. */
  readonly keys = new Map<string, string>();
  readonly #options: FrontOptions;
  readonly #host: string;
  readonly #open = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  readonly #secure: TlsServer;
  readonly #elsewhere: Server;

  constructor(options: FrontOptions) {
    this.#options = options;
    const { watcher, host = '127.0.0.1' } = options;
    this.#host = host;
    this.#elsewhere = createServer((socket) => {
      watcher.strayed('the target of a redirect');
      socket.on('error', () => undefined).destroy();
    });
    this.#secure = createTlsServer({ key: WRONG_KEY, cert: WRONG_CERTIFICATE }, (socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => watcher.strayed('over a connection with a wrong certificate'));
    });
    this.#secure.on('connection', (socket: Socket) => this.#remember(socket)).on('tlsClientError', () => undefined);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** An address whose certificate is that of another host. */
  get wrongUrl(): string {
    return `https://127.0.0.1:${(this.#secure.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    await this.#listen();
    for (const server of [this.#elsewhere, this.#secure]) {
      await once(server.listen(0, this.#host), 'listening');
    }
    return this;
  }

  /** Nothing listens for this time: connections are refused, and open ones are reset. */
  async refuse(ms: number): Promise<void> {
    await this.#close();
    await wait(ms);
    await this.#listen();
  }

  /** Somebody listens and takes no connection for so long: a new one hangs. */
  async hang(ms: number): Promise<void> {
    await this.#close();
    const code = `const { workerData: port, parentPort } = require('node:worker_threads');
      require('node:net').createServer().listen({ port, host: '127.0.0.1', backlog: 1 }, () => {
        parentPort.postMessage('listens');
        setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 1);
      });`;
    const deaf = new Worker(code, { eval: true, workerData: this.#port });
    const listens = await Promise.race([once(deaf, 'message'), once(deaf, 'error')]);
    await wait(50);
    // They take the places of the requests that wait to be taken.
    const waiting =
      listens.length === 0 ? [] : [1, 2, 3, 4].map(() => connect(this.#port, '127.0.0.1').on('error', () => undefined));
    await wait(ms);
    await deaf.terminate();
    for (const socket of waiting) socket.destroy();
    await this.#listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    this.#secure.close();
    this.#elsewhere.close();
  }

  async #listen(): Promise<void> {
    for (;;) {
      const port = this.#port === 0 ? PORTS.from + Math.floor(Math.random() * PORTS.count) : this.#port;
      const server = createServer({ allowHalfOpen: true }, (socket) => void this.#serve(socket));
      const failed = once(server.listen(port, this.#host), 'listening').then(
        () => false,
        () => true,
      );
      if (await failed) {
        await wait(20);
        continue;
      }
      this.#server = server;
      this.#port = port;
      return;
    }
  }

  async #close(): Promise<void> {
    const closed = this.#server === undefined ? undefined : once(this.#server.close(), 'close');
    for (const socket of this.#open) socket.resetAndDestroy();
    await closed;
    this.#server = undefined;
  }

  #remember(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#open.delete(socket));
  }

  async #serve(socket: Socket): Promise<void> {
    this.#remember(socket);
    let received = Buffer.alloc(0);
    const messages: Message[] = [];
    let wake = () => {};
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data]);
      for (;;) {
        const [message, length] = messageIn(received);
        if (message === undefined) break;
        received = received.subarray(length);
        messages.push(message);
      }
      wake();
    });
    socket.on('close', () => wake());
    // The program has closed its side: nothing comes any more.
    socket.on('end', () => socket.end());
    while (!socket.destroyed && !socket.writableEnded) {
      const message = messages.shift();
      if (message === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else await this.#answer(socket, message).catch(() => socket.destroy());
    }
  }

  async #answer(socket: Socket, message: Message): Promise<void> {
    const { watcher, random } = this.#options;
    const arrival = arrivalOf(message);
    watcher.arrived(arrival, performance.now());
    const key = this.keys.get(arrival.key);
    if (key === undefined) {
      watcher.notTaken(arrival, 401);
      socket.write(answerText(401, documented(401, 'UNAUTHORIZED')));
      return;
    }
    const take = () => this.#forward(message, key);
    const { share, faults } = this.weather;
    const fault = random() < share ? faults[Math.floor(random() * faults.length)] : undefined;
    if (fault === undefined) {
      const { status, body } = await take();
      if (!arrival.isCreate) watcher.shown?.(arrival, { status, body });
      socket.write(answerText(status, body));
      return;
    }
    this.met.set(fault, (this.met.get(fault) ?? 0) + 1);
    await FAULTS[fault]({
      isCreate: arrival.isCreate,
      socket,
      random,
      elsewhere: `http://127.0.0.1:${(this.#elsewhere.address() as AddressInfo).port}${message.path}`,
      take,
      takeAgain: async () => {
        if (arrival.isCreate) watcher.doubled(arrival);
        return await take();
      },
      notTaken: (status) => watcher.notTaken(arrival, status),
      askToWait: (ms) => {
        const until = performance.now() + ms;
        // The program closes its side when it has read the answer.
        socket.once('end', () => watcher.askedToWait(arrival, performance.now(), until));
      },
    });
    if (!socket.writableEnded) await once(socket, 'close');
  }

  async #forward({ method, path, headers, body }: Message, key: string): Promise<Answer> {
    const { host: _host, connection: _connection, ...rest } = headers;
    const asked = httpRequest(`${this.#options.exchange}${path}`, { method, headers: { ...rest, 'x-api-key': key } });
    const answered = once(asked, 'response');
    asked.end(body);
    const [response] = await answered;
    return { status: response.statusCode, body: await text(response) };
  }
}

/** The first whole message in what has come, and its length. */
function messageIn(bytes: Buffer): readonly [message: Message | undefined, length: number] {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return [undefined, 0];
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < length) return [undefined, 0];
  const [method = '', path = ''] = first.split(' ');
  return [{ method, path, headers, body: bytes.subarray(end + 4, length).toString() }, length];
}

function arrivalOf({ method, path, headers, body }: Message): Arrival {
  const isCreate = method === 'POST';
  const id = isCreate
    ? (JSON.parse(body) as { externalOrderId: string }).externalOrderId
    : (new URL(path, 'http://exchange').searchParams.get('externalOrderId') ?? '');
  return { isCreate, id, key: headers['x-api-key'] ?? '' };
}
