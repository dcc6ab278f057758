import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { FlowDeps } from '../../flows/pass/deps.ts';
import { DeliveryRefusal } from '../../flows/clients/photo-form.ts';

/** Bytes of a body beside its files: heads of parts, `details`, unknown parts. */
const OTHER_BYTES = 1_024 * 1_024;
/** A sender that was cut off has this long to read why. */
const LINGER_MS = 1_000;

type Limits = Pick<FlowDeps['photos'], 'maxTotalBytes' | 'timeout'>;

/** The longest body that is read, in bytes. */
export function maxBodyBytes({ maxTotalBytes }: Limits): number {
  return maxTotalBytes + OTHER_BYTES;
}

/**
 * Holds a request to its limits of size and time, from its head to its end. A sender that is still sending after the
 * answer would not read it if the connection were cut at once, so the rest is read and thrown away.
 */
export class Upload {
  /** The reason why it was cut off. */
  failure: DeliveryRefusal | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #size = 0;

  constructor(request: IncomingMessage, response: ServerResponse, limits: Limits, clock: Clock) {
    this.#request = request;
    this.#response = response;
    this.#clock = clock;
    const max = maxBodyBytes(limits);
    request.once('close', () => this.#ended.abort());
    request.on('error', () => {});
    request.on('data', (chunk: Uint8Array) => {
      this.#size += chunk.length;
      if (this.#size > max) this.#cutOff('too-large', `the body has more than ${max} bytes`);
    });
    // Nothing is read before somebody asks for the parts.
    request.pause();
    this.#after(limits.timeout, () => this.#cutOff('too-slow', 'the delivery takes too long'));
  }

  /** Throws the rest of the request away, after the answer. */
  discard(): void {
    this.#request.unpipe();
    this.#request.resume();
    if (this.failure !== undefined) this.#after(LINGER_MS, () => this.#request.destroy());
  }

  #cutOff(kind: 'too-large' | 'too-slow', reason: string): void {
    if (this.failure !== undefined) return;
    this.failure = new DeliveryRefusal(kind, reason);
    if (this.#response.headersSent) this.#request.destroy();
    // The reader of the parts sees an error of the connection, and the request can still be answered.
    else this.#request.emit('error', this.failure);
  }

  #after(ms: number, work: () => void): void {
    this.#clock.sleep(ms, this.#ended.signal).then(work, () => undefined);
  }
}
