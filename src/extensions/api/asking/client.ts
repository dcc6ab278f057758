import { deadline } from '../../../base/clock.ts';
import { messageOf } from '../../../base/text.ts';
import { pathId, queryId } from '../../../exchange/ids.ts';
import { CommandError } from '../../../cli/shared/exit.ts';
import { readEnvelope, type FailedResult, type Result } from '../envelope.ts';
import { SYNC } from '../addresses.ts';
import type { AskedOperation, InputOf, OperationAddress } from '../operation.ts';
import type { SyncInput, SyncLine } from '../sync.ts';
import { NoOwnerError, type OwnerReply, type OwnerRequest, type Transport } from './transport.ts';

/** The error when the owner listened, and went away before its answer was complete. */
export class OwnerGoneError extends Error {
  override readonly name = 'OwnerGoneError';
}

/** The error when the owner does nothing of what a command asks; `result` says why. */
export class OwnerRefusalError extends Error {
  override readonly name = 'OwnerRefusalError';
  readonly result: FailedResult;
  constructor(result: FailedResult) {
    super(`the owner does not do this: ${result.kind}`);
    this.result = result;
  }
}

const READ_MS = 5_000;
/** The owner sends no request whose turn has not come by then. */
export const LONGEST_WAIT_MS = 60_000;

interface Asking {
  readonly account: string;
  /** An answer may still come so long after the owner asks the exchange for the last time. */
  readonly graceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The owner of an account, reached over its control socket or by its API. Rejects with `NoOwnerError` when there is none. */
export class Owner {
  readonly #transport: Transport;
  readonly #asking: Asking;

  constructor(transport: Transport, asking: Asking) {
    this.#transport = transport;
    this.#asking = asking;
  }

  /** The outcome is unknown if the owner goes away or does not answer. Throws `UnusableIdError` before anything is sent. */
  async ask<Asked extends AskedOperation>(operation: Asked, input: InputOf<Asked>): Promise<Result> {
    const asked = requestFor(operation, this.#asking.account, input);
    const tooLate = deadline(LONGEST_WAIT_MS + this.#asking.graceMs);
    try {
      return await readResult(await this.#send(asked, tooLate));
    } catch (error) {
      if (this.#isKnown(error)) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it answered';
      return { kind: 'unknown', why: `the daemon ${what}; it is not known whether it was done` };
    }
  }

  /** Asks for a pass, and gives each line of the answer. Throws `OwnerRefusalError` on an answer that has no lines. */
  async *sync(input: SyncInput): AsyncGenerator<SyncLine> {
    const tooLate = deadline(input.timeoutMs + this.#asking.graceMs);
    try {
      const reply = await this.#send(requestFor(SYNC, this.#asking.account, input), tooLate);
      if (reply.httpStatus !== 200) {
        const result = await readResult(reply);
        if (result.kind !== 'ok') throw new OwnerRefusalError(result);
      }
      for await (const text of reply.lines()) yield JSON.parse(text) as SyncLine;
    } catch (error) {
      if (this.#isKnown(error)) throw error;
      const what = tooLate.aborted ? 'did not answer in time' : 'went away before it was done';
      throw new OwnerGoneError(`the daemon ${what}; try again`, { cause: error });
    }
  }

  /** Reads what is only read: one that does not answer within 5 s may be asked again. */
  async read(operation: OperationAddress): Promise<Result> {
    try {
      const asked = requestFor(operation, this.#asking.account, {});
      return await readResult(await this.#send(asked, deadline(READ_MS)));
    } catch (error) {
      if (error instanceof OwnerRefusalError) return error.result;
      return {
        kind: 'failed',
        message: this.#isKnown(error) ? messageOf(error) : 'it does not answer',
        httpStatus: 503,
      };
    }
  }

  #send(asked: OwnerRequest, tooLate: AbortSignal): Promise<OwnerReply> {
    const { signal } = this.#asking;
    return this.#transport.send(asked, signal === undefined ? tooLate : AbortSignal.any([signal, tooLate]));
  }

  /** True for an error after which it is known that nothing was done, and once the answer is no longer wanted. */
  #isKnown(error: unknown): boolean {
    if (this.#asking.signal?.aborted === true) return true;
    return error instanceof NoOwnerError || error instanceof CommandError || error instanceof OwnerRefusalError;
  }
}

function requestFor({ method, url, rest }: OperationAddress, account: string, input: object): OwnerRequest {
  const fields = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = partOf(String(fields.get(name)));
    fields.delete(name);
    return value;
  });
  const body = rest === 'body' ? JSON.stringify(Object.fromEntries(fields)) : undefined;
  const query = [['account', account] as const, ...(rest === 'body' ? [] : fields)];
  const text = query.map(([name, value]) => `${name}=${queryId(String(value))}`).join('&');
  return { method, path: `${path}?${text}`, body };
}

/** The process judges ids; `.` and `..` alone would change the address. */
function partOf(id: string): string {
  return /^\.{1,2}$/.test(id) ? pathId(id) : queryId(id);
}

async function readResult(reply: OwnerReply): Promise<Result> {
  const result = readEnvelope({ ...reply, body: await reply.text() });
  if (result.kind === 'not-owner') throw new NoOwnerError(result.message);
  // Whatever else the command would ask would be refused too.
  if (result.kind === 'unauthorized' || result.kind === 'forbidden') throw new OwnerRefusalError(result);
  return result;
}
