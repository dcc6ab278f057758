import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A reader that was cut comes back after this time. */
const BACK_AFTER_MS = 300;
/** Slower than a delivery may be. */
const SLOW_MS = 20_000;

/** How a receiver of webhooks does. */
export type Mood = 'well' | 'failing' | 'slow' | 'dead';

interface Event {
  readonly id: string | number;
  readonly type: string;
}

/** A shop's receiver of webhooks on loopback. */
export class Receiver implements AsyncDisposable {
  mood: Mood = 'well';
  /** The ids of the events that it has taken. */
  readonly taken = new Set<string>();
  readonly #server: Server = createServer((asked, answer) => void this.#receive(asked, answer));

  /** The setting `webhooks.endpoints`. */
  async start(): Promise<object[]> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const secrets = [`whsec_${Buffer.from('canary-webhook-secret-of-32-bytes').toString('base64')}`];
    return [{ name: 'shop', url: `http://127.0.0.1:${port}/events`, secrets, allowPrivate: true }];
  }

  async #receive(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (this.mood === 'dead') return void asked.socket.destroy();
    const body = Buffer.concat((await asked.toArray().catch(() => [])) as Buffer[]).toString();
    if (this.mood === 'slow') await wait(SLOW_MS);
    if (this.mood !== 'well') return void answer.writeHead(503).end();
    this.taken.add(String((JSON.parse(body) as Event).id));
    answer.writeHead(204).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A shop that listens to the feed of an account on the control socket, and continues by its cursor if it is cut. */
export class FeedReader {
  /** The types of the events that came, by id. */
  readonly read = new Map<string, string>();
  readonly #fail: (what: string) => void;
  #cursor = '0';

  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  async run(socketPath: string, account: string, isOver: AbortSignal): Promise<void> {
    const path = () => `/events?account=${account}&after=${this.#cursor}`;
    const headers = { accept: 'text/event-stream' };
    while (!isOver.aborted) {
      const call = request({ socketPath, path: path(), headers, agent: false, signal: isOver }).end();
      try {
        const [answer] = (await once(call, 'response')) as [IncomingMessage];
        if (answer.statusCode !== 200) this.#fail(`the feed of ${account} answered ${answer.statusCode}`);
        await this.#take(answer.setEncoding('utf8'));
      } catch {
        // The program is away for a moment, or it is over.
      }
      await wait(BACK_AFTER_MS, undefined, { signal: isOver }).catch(() => undefined);
    }
  }

  async #take(answer: AsyncIterable<string>): Promise<void> {
    let text = '';
    for await (const part of answer) {
      const frames = (text + part).split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.#takeFrame(frame);
    }
  }

  #takeFrame(frame: string): void {
    const lines = frame.split('\n');
    const valueOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = valueOf('data');
    if (data !== undefined) {
      const { id, type } = JSON.parse(data) as Event;
      if (this.read.has(String(id))) this.#fail(`the feed gave event ${id} twice`);
      this.read.set(String(id), type);
    }
    this.#cursor = valueOf('id') ?? this.#cursor;
  }
}
