import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { outcomeOf, type Outcome } from './answer.ts';

/** Nobody listens on the control socket. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
}

/** The owner listened, and went away before its answer was whole. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
}

/** One request to the owner; `path` is encoded and has its query. */
export interface OwnerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Goes as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
}

const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** The owner of the account, reached over its control socket. Rejects with `NoOwnerError` when there is none. */
export class Owner {
  readonly #socketPath: string;
  readonly #signal: AbortSignal | undefined;

  constructor(socketPath: string, signal?: AbortSignal) {
    this.#socketPath = socketPath;
    this.#signal = signal;
  }

  /** Asks for one operation. An owner that went away leaves it unknown whether it was done. */
  async ask(question: OwnerRequest): Promise<Outcome> {
    try {
      const response = await this.#send(question);
      const body = Buffer.concat((await response.toArray()) as Buffer[]).toString();
      const retryAfterSeconds = Number(response.headers['retry-after'] ?? 0);
      return outcomeOf({ httpStatus: response.statusCode ?? 0, retryAfterSeconds, body });
    } catch (error) {
      if (error instanceof NoOwnerError || this.#signal?.aborted === true) throw error;
      return { kind: 'unknown', why: 'the daemon went away before it answered; nobody can tell whether it was done' };
    }
  }

  /** Asks for an answer that comes in lines, and gives each as parsed JSON. */
  async *lines(question: OwnerRequest): AsyncGenerator<unknown> {
    try {
      const response = await this.#send(question);
      for await (const text of createInterface({ input: response })) {
        if (text !== '') yield JSON.parse(text) as unknown;
      }
    } catch (error) {
      if (error instanceof NoOwnerError || this.#signal?.aborted === true) throw error;
      throw new OwnerGoneError('the daemon went away before it was done; try again', { cause: error });
    }
  }

  #send({ method, path, body }: OwnerRequest): Promise<IncomingMessage> {
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          socketPath: this.#socketPath,
          method,
          path,
          ...(this.#signal === undefined ? {} : { signal: this.#signal }),
          ...(json === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
        },
        resolve,
      );
      call.on('error', (error: NodeJS.ErrnoException) => {
        const isNobody = NOBODY.includes(error.code ?? '');
        reject(isNobody ? new NoOwnerError('no order-sync process listens', { cause: error }) : error);
      });
      call.end(json);
    });
  }
}
