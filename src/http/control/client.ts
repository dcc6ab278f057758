import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { deadline } from '../../clock.ts';
import { pathId, queryId } from '../../exchange/ids.ts';
import { readEnvelope, type FailedResult, type Result } from './envelope.ts';
import { ADDRESSES, type OperationAddress, type OperationId } from './operations/addresses.ts';
import type { AskedOperation, InputOf } from './operations/index.ts';
import type { SyncInput, SyncLine } from './operations/sync.ts';

/** The error when no process listens on the control socket, or one that does not drive the account. */
export class NoOwnerError extends Error {
  override readonly name = 'NoOwnerError';
}

/** The error when the owner listened, and went away before its answer was complete. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
}

/** The error when the owner answered with something else than lines; `result` says why. */
export class OwnerRefusalError extends Error {
  override readonly name = 'OwnerRefusalError';
  readonly result: FailedResult;
  constructor(result: FailedResult) {
    super(`the owner does not do this: ${result.kind}`);
    this.result = result;
  }
}

/** One request to the owner; `path` is encoded and has its query. */
interface OwnerRequest {
  readonly method: OperationAddress['method'];
  readonly path: string;
  /** JSON text. */
  readonly body: string | undefined;
}

/** The owner sends no request whose turn has not come by then. */
export const LONGEST_WAIT_MS = 60_000;
const NOBODY = ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'];

/** How an owner is asked. */
export interface Asking {
  readonly account: string;
  /** An answer may still come so long after the owner asks the exchange for the last time. */
  readonly graceMs: number;
  /** Aborts when the answer is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/** The owner of an account, reached over its control socket. Rejects with `NoOwnerError` when there is none. */
export class Owner {
  readonly #socketPath: string;
  readonly #account: string;
  readonly #graceMs: number;
  readonly #signal: AbortSignal | undefined;

  constructor(socketPath: string, { account, graceMs, signal }: Asking) {
    this.#socketPath = socketPath;
    this.#account = account;
    this.#graceMs = graceMs;
    this.#signal = signal;
  }

  /**
   * Asks for one operation. An owner that goes away or does not answer leaves it unknown whether it was done. Throws
   * `UnusableIdError`, before anything is sent, on an id that cannot stand in the request.
   */
  async ask<Id extends AskedOperation>(id: Id, input: InputOf<Id>): Promise<Result> {
    const asked = requestFor(id, this.#account, input);
    const tooLate = deadline(LONGEST_WAIT_MS + this.#graceMs);
    try {
      return drivenBy(await readResult(await this.#send(asked, tooLate)));
    } catch (error) {
      if (error instanceof NoOwnerError || this.#signal?.aborted === true) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it answered';
      return { kind: 'unknown', why: `the daemon ${what}; nobody can tell whether it was done` };
    }
  }

  /** Asks for a pass, and gives each line of the answer. Throws `OwnerRefusalError` on an answer that has no lines. */
  async *sync(input: SyncInput): AsyncGenerator<SyncLine> {
    const tooLate = deadline(input.timeoutMs + this.#graceMs);
    try {
      const response = await this.#send(requestFor('sync', this.#account, input), tooLate);
      if (response.statusCode !== 200) {
        const result = drivenBy(await readResult(response));
        if (result.kind !== 'ok') throw new OwnerRefusalError(result);
      }
      try {
        for await (const text of createInterface({ input: response })) {
          if (text !== '') yield JSON.parse(text) as SyncLine;
        }
      } finally {
        // A reader that has read enough does not hear that the owner broke the answer off.
        response.destroy();
      }
    } catch (error) {
      const isKnown = error instanceof NoOwnerError || error instanceof OwnerRefusalError;
      if (isKnown || this.#signal?.aborted === true) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it was done';
      throw new OwnerGoneError(`the daemon ${what}; try again`, { cause: error });
    }
  }

  #send({ method, path, body }: OwnerRequest, tooLate: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = request(
        {
          socketPath: this.#socketPath,
          method,
          path,
          signal: this.#signal === undefined ? tooLate : AbortSignal.any([this.#signal, tooLate]),
          ...(body !== undefined && { headers: { 'content-type': 'application/json' } }),
        },
        resolve,
      );
      call.on('error', (error: NodeJS.ErrnoException) => {
        const isNobody = NOBODY.includes(error.code ?? '');
        reject(isNobody ? new NoOwnerError('no order-sync process listens', { cause: error }) : error);
      });
      call.end(body);
    });
  }
}

/** The request for an operation: the address names some fields of the input, the rest goes where the address says. */
function requestFor(id: OperationId, account: string, input: object): OwnerRequest {
  const { method, url, rest }: OperationAddress = ADDRESSES[id];
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = pathId(String(fields.get(name)));
    fields.delete(name);
    return value;
  });
  const body = rest === 'body' ? JSON.stringify(Object.fromEntries(fields)) : undefined;
  const query = [['account', account] as const, ...(rest === 'body' ? [] : fields)];
  const text = query.map(([name, value]) => `${name}=${queryId(String(value))}`).join('&');
  return { method, path: `${path}?${text}`, body };
}

/** The result of a process that drives the account. Throws `NoOwnerError` where another does, or none: nothing was done. */
function drivenBy(result: Result): Result {
  if (result.kind === 'not-owner') throw new NoOwnerError(result.message);
  return result;
}

async function readResult(response: IncomingMessage): Promise<Result> {
  const body = Buffer.concat((await response.toArray()) as Buffer[]).toString();
  const retryAfterSeconds = Number(response.headers['retry-after'] ?? 0);
  return readEnvelope({ httpStatus: response.statusCode ?? 0, retryAfterSeconds, body });
}
