import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { FlowDeps } from '../flows/deps.ts';
import { DeliveryRefusal } from '../flows/photo-form.ts';

/** Of a body beside its files: headers of parts, `details`, parts that are not ours. */
const OTHER_BYTES = 1_024 * 1_024;

type Limits = Pick<FlowDeps['photos'], 'maxTotalBytes' | 'timeout'>;

/** The longest body that is read. */
export function maxBodyBytes({ maxTotalBytes }: Limits): number {
  return maxTotalBytes + OTHER_BYTES;
}

/**
 * Holds a request to its limits of size and time from its head to its end. Also after the answer: a sender who still
 * sends would not read it if the connection were cut at once, so that the rest is read and thrown away.
 */
export class Upload {
  /** Why it was cut off. */
  failure: DeliveryRefusal | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #size = 0;

  constructor(request: IncomingMessage, response: ServerResponse, limits: Limits, clock: Clock) {
    this.#request = request;
    this.#response = response;
    const max = maxBodyBytes(limits);
    request.on('error', () => {});
    request.on('data', (chunk: Uint8Array) => {
      this.#size += chunk.length;
      if (this.#size > max) this.#cutOff('too-large', `the body has more than ${max} bytes`);
    });
    // Nothing is read before somebody asks for the parts.
    request.pause();
    const ended = new AbortController();
    request.once('close', () => ended.abort());
    clock.sleep(limits.timeout, ended.signal).then(
      () => this.#cutOff('too-slow', 'the delivery takes too long'),
      () => undefined,
    );
  }

  /** After the answer. */
  discard(): void {
    if (this.failure !== undefined) {
      this.#request.destroy();
      return;
    }
    this.#request.unpipe();
    this.#request.resume();
  }

  #cutOff(kind: 'too-large' | 'too-slow', reason: string): void {
    this.failure ??= new DeliveryRefusal(kind, reason);
    if (this.#response.headersSent) this.#request.destroy();
    // The reader of the parts takes it for an error of the connection, which can still be answered.
    else this.#request.emit('error', this.failure);
  }
}
