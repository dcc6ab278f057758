import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { deadline } from '../../clock.ts';
import { outcomeOf, type Outcome } from './answer.ts';

/** Nobody listens on the control socket. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
}

/** The owner listened, and went away before its answer was whole. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
}

/** The owner answered a question for lines with something else; `outcome` says why. */
export class OwnerRefusalError extends Error {
  override readonly name = 'OwnerRefusalError';
  readonly outcome: Exclude<Outcome, { kind: 'ok' }>;
  constructor(outcome: Exclude<Outcome, { kind: 'ok' }>) {
    super(`the owner does not do this: ${outcome.kind}`);
    this.outcome = outcome;
  }
}

/** One request to the owner; `path` is encoded and has its query. */
export interface OwnerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Goes as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** How long the owner may take until it asks the exchange for the last time; a minute, its own limit, unless given. */
  readonly waitMs?: number;
}

/** The owner sends nothing that has had no turn by then. */
const LONGEST_WAIT_MS = 60_000;
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** The owner of the account, reached over its control socket. Rejects with `NoOwnerError` when there is none. */
export class Owner {
  readonly #socketPath: string;
  readonly #patienceMs: number;
  readonly #signal: AbortSignal | undefined;

  /** `patienceMs`: how long after a question's own wait an answer may still come. */
  constructor(socketPath: string, patienceMs: number, signal?: AbortSignal) {
    this.#socketPath = socketPath;
    this.#patienceMs = patienceMs;
    this.#signal = signal;
  }

  /** Asks for one operation. An owner that went away, or hangs, leaves it unknown whether it was done. */
  async ask(question: OwnerRequest): Promise<Outcome> {
    const tooLate = this.#tooLate(question);
    try {
      return await readOutcome(await this.#send(question, tooLate));
    } catch (error) {
      if (error instanceof NoOwnerError || this.#signal?.aborted === true) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it answered';
      return { kind: 'unknown', why: `the daemon ${what}; nobody can tell whether it was done` };
    }
  }

  /** Asks for an answer that comes in lines, and gives each as parsed JSON. Throws `OwnerRefusalError` on another. */
  async *lines(question: OwnerRequest): AsyncGenerator<unknown> {
    const tooLate = this.#tooLate(question);
    try {
      const response = await this.#send(question, tooLate);
      if (response.statusCode !== 200) {
        const outcome = await readOutcome(response);
        if (outcome.kind !== 'ok') throw new OwnerRefusalError(outcome);
      }
      try {
        for await (const text of createInterface({ input: response })) {
          if (text !== '') yield JSON.parse(text) as unknown;
        }
      } finally {
        // Who has read enough leaves nobody to hear that the owner broke it off.
        response.destroy();
      }
    } catch (error) {
      const isKnown = error instanceof NoOwnerError || error instanceof OwnerRefusalError;
      if (isKnown || this.#signal?.aborted === true) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it was done';
      throw new OwnerGoneError(`the daemon ${what}; try again`, { cause: error });
    }
  }

  #tooLate({ waitMs }: OwnerRequest): AbortSignal {
    return deadline((waitMs ?? LONGEST_WAIT_MS) + this.#patienceMs);
  }

  #send({ method, path, body }: OwnerRequest, tooLate: AbortSignal): Promise<IncomingMessage> {
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const call = request(
        {
          socketPath: this.#socketPath,
          method,
          path,
          signal: this.#signal === undefined ? tooLate : AbortSignal.any([this.#signal, tooLate]),
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

async function readOutcome(response: IncomingMessage): Promise<Outcome> {
  const body = Buffer.concat((await response.toArray()) as Buffer[]).toString();
  const retryAfterSeconds = Number(response.headers['retry-after'] ?? 0);
  return outcomeOf({ httpStatus: response.statusCode ?? 0, retryAfterSeconds, body });
}
