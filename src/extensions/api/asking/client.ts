import { deadline } from '../../../base/clock.ts';
import { messageOf } from '../../../base/text.ts';
import { pathId, queryId } from '../../../exchange/ids.ts';
import { CommandError } from '../../../cli/shared/exit.ts';
import { readEnvelope, type FailedResult, type Result } from '../envelope.ts';
import { SYNC } from '../addresses.ts';
import type { AskedOperation, InputOf, OperationAddress } from '../operation.ts';
import type { SyncInput, SyncLine } from '../sync.ts';
import { NoOwnerError, type OutgoingRequest, type Received } from '../../shop/transport.ts';
import type { Transport } from './transport.ts';

/** The owner may have got the request, but no complete answer came: the owner ended, or took too long. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
}

/** The owner refuses a pass, or every request of the command. `result` says why. */
export class OwnerRefusalError extends Error {
  override readonly name = 'OwnerRefusalError';
  readonly result: FailedResult;
  constructor(result: FailedResult) {
    super(`the owner does not do this: ${result.kind}`);
    this.result = result;
  }
}

const READ_MS = 5_000;
/** The owner sends no request that has waited for its turn longer than this. */
export const LONGEST_WAIT_MS = 60_000;

interface Asking {
  readonly account: string;
  /** The longest time in ms that an answer may take beyond the wait for its turn or the timeout of the pass. */
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the owner of an account. `ask` and `sync` reject with `NoOwnerError` if no reached process is the owner. */
export class Owner {
  readonly #transport: Transport;
  readonly #asking: Asking;

  constructor(transport: Transport, asking: Asking) {
    this.#transport = transport;
    this.#asking = asking;
  }

  /** Returns `unknown` if the owner does not answer. Throws `UnusableIdError` if an id cannot be sent. */
  async ask<Asked extends AskedOperation>(operation: Asked, input: InputOf<Asked>): Promise<Result> {
    const tooLate = deadline(LONGEST_WAIT_MS + this.#asking.graceMs);
    const request = this.#requestFor(operation, input, tooLate);
    try {
      return await readResult(await this.#transport.send(request));
    } catch (error) {
      if (this.#isKnown(error)) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it answered';
      return { kind: 'unknown', why: `the daemon ${what}; it is not known whether the operation was done` };
    }
  }

  /** Asks for a pass, and yields each line of the answer. Throws `OwnerRefusalError` or `OwnerGoneError`. */
  async *sync(input: SyncInput): AsyncGenerator<SyncLine> {
    const tooLate = deadline(input.timeoutMs + this.#asking.graceMs);
    try {
      const reply = await this.#transport.send(this.#requestFor(SYNC, input, tooLate));
      if (reply.status !== 200) {
        const result = await readResult(reply);
        if (result.kind !== 'ok') throw new OwnerRefusalError(result);
      }
      for await (const text of linesOf(reply.chunks)) yield JSON.parse(text) as SyncLine;
    } catch (error) {
      if (this.#isKnown(error)) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it was done';
      throw new OwnerGoneError(`the daemon ${what}; try again`, { cause: error });
    }
  }

  /** Waits at most 5 s, because an unanswered read does no harm. Returns `failed` if the owner does not answer. */
  async read(operation: OperationAddress): Promise<Result> {
    try {
      const request = this.#requestFor(operation, {}, deadline(READ_MS));
      return await readResult(await this.#transport.send(request));
    } catch (error) {
      if (error instanceof OwnerRefusalError) return error.result;
      const message = this.#isKnown(error) ? messageOf(error) : 'it does not answer';
      return { kind: 'failed', message, httpStatus: 503 };
    }
  }

  #requestFor({ method, url, rest }: OperationAddress, input: object, tooLate: AbortSignal): OutgoingRequest {
    const { account, signal = tooLate } = this.#asking;
    const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    const path = url.replaceAll(/:(\w+)/g, (_, name: string) => {
      const value = partOf(String(fields.get(name)));
      fields.delete(name);
      return value;
    });
    const query = [['account', account] as const, ...(rest === 'body' ? [] : fields)];
    const text = query.map(([name, value]) => `${name}=${queryId(String(value))}`).join('&');
    const request = { method, path: `${path}?${text}`, signal: AbortSignal.any([signal, tooLate]) };
    if (rest !== 'body') return { ...request, headers: {} };
    const body = JSON.stringify(Object.fromEntries(fields));
    return { ...request, body, headers: { 'content-type': 'application/json' } };
  }

  /** True if certainly nothing was done, or if the caller no longer waits for the answer. */
  #isKnown(error: unknown): boolean {
    if (this.#asking.signal?.aborted === true) return true;
    return error instanceof NoOwnerError || error instanceof CommandError || error instanceof OwnerRefusalError;
  }
}

/** Refuses `.` and `..`, because they would change the path. The owner refuses other ids that a path cannot have. */
const partOf = (id: string) => (/^\.{1,2}$/.test(id) ? pathId(id) : queryId(id));

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function readResult(reply: Received): Promise<Result> {
  const { status: httpStatus, retryAfter } = reply;
  const result = readEnvelope({ httpStatus, retryAfterSeconds: Number(retryAfter ?? 0), body: await reply.text() });
  // The other requests of the command would be refused too.
  if (result.kind === 'unauthorized' || result.kind === 'forbidden') throw new OwnerRefusalError(result);
  return result;
}
