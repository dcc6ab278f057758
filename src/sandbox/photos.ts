import { crc32, deflateSync } from 'node:zlib';
import { deadline, type Clock } from '../clock.ts';
import { nameAfter, randomHex } from './random.ts';

/** Ways in which a delivery can be odd; the interface shows neither the order of its parts nor how `details` is sent. */
export const PHOTO_ODDITIES = ['details-last', 'details-file', 'repeated', 'not-an-image', 'unfinished'] as const;

export type PhotoOddity = (typeof PHOTO_ODDITIES)[number];

/** A requested delivery of verification photos (§4.5). */
export interface PhotoDelivery {
  readonly url: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly actionId: string | undefined;
  /** The merchant's token; a secret. */
  readonly token: string | undefined;
  readonly oddity: PhotoOddity | undefined;
}

interface Part {
  readonly name: 'file' | 'details';
  readonly filename?: string;
  readonly type?: string;
  readonly content: Buffer;
}

/** Finds the oddity that an e-mail address `photos-<name>-…` asks for. */
export function oddityOf(email: string): PhotoOddity | undefined {
  return nameAfter('photos-', email, PHOTO_ODDITIES);
}

/** Builds the multipart form of a delivery (§6): two photos, and the token in `details`. */
function photoForm(delivery: PhotoDelivery, boundary: string): Buffer<ArrayBuffer> {
  const details = detailsOf(delivery);
  const files = filesOf(delivery);
  const parts = delivery.oddity === 'details-last' ? [...files, details] : [details, ...files];
  const last = delivery.oddity === 'unfinished' ? '' : `--${boundary}--\r\n`;
  return Buffer.concat([
    ...parts.flatMap((part) => [
      Buffer.from(`--${boundary}\r\n${headersOf(part)}\r\n`),
      part.content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(last),
  ]);
}

function detailsOf({ token, oddity }: PhotoDelivery): Part {
  const content = Buffer.from(JSON.stringify({ token }));
  if (oddity !== 'details-file') return { name: 'details', content };
  return { name: 'details', filename: 'details.json', type: 'application/json', content };
}

function filesOf({ linkId, level, actionId, oddity }: PhotoDelivery): Part[] {
  const comment = ['sandbox', linkId, level, actionId].filter((word) => word !== undefined).join(' ');
  const [first, second] = level === 'MAIN' ? ['document', 'portrait'] : ['liveness-1', 'liveness-2'];
  const content = oddity === 'not-an-image' ? Buffer.from('<html><script>alert(1)</script></html>') : png(comment);
  return [
    { name: 'file', filename: `${first}.jpg`, type: 'image/jpeg', content: jpeg(comment) },
    { name: 'file', filename: `${second}.png`, type: 'image/png', content },
  ];
}

function headersOf({ name, filename, type }: Part): string {
  const file = filename === undefined ? '' : `; filename="${filename}"`;
  return `content-disposition: form-data; name="${name}"${file}\r\n${type === undefined ? '' : `content-type: ${type}\r\n`}`;
}

const SIDE = 8;

function jpeg(comment: string): Buffer {
  const segment = (marker: number, content: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([head, content]);
  };
  // One code of one bit: the value 0, which for a first coefficient is mid-grey and for the others the end of the block.
  const huffman = (kind: number) => segment(0xc4, Buffer.from([kind, 1, ...Buffer.alloc(15), 0]));
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\u0001\u0001\0\0\u0001\0\u0001\0\0', 'latin1')),
    segment(0xfe, Buffer.from(comment)),
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.from([8, 0, SIDE, 0, SIDE, 1, 1, 0x11, 0])),
    huffman(0x00),
    huffman(0x10),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    // Two bits of image, the rest of the byte filled up.
    Buffer.from([0b0011_1111, 0xff, 0xd9]),
  ]);
}

function png(comment: string): Buffer {
  const chunk = (type: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(content.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  };
  const colour = Buffer.alloc(4);
  colour.writeUInt32BE(crc32(comment));
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(SIDE * 3, colour.subarray(0, 3))]);
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 2, 0, 0, 0])),
    chunk('tEXt', Buffer.from(`Comment\0${comment}`)),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => line)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A delivery in the log, without its token and photos. */
export interface LoggedDelivery {
  readonly at: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly oddity?: PhotoOddity;
  /** The HTTP status of the merchant's answer; null when none came. */
  readonly status: number | null;
}

interface DeliveryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly onDelivery?: (delivery: LoggedDelivery) => void;
}

const MAX_LOGGED = 10_000;
const LONGEST_MS = 60_000;

/** Sends photos to the merchant (§6), once each: the interface does not show whether the exchange tries again. */
export class Deliveries {
  /** The newest deliveries that have ended. */
  readonly ended: LoggedDelivery[] = [];
  readonly #options: DeliveryOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Begins a delivery; the log shows its end. */
  begin(delivery: PhotoDelivery): void {
    if (this.#closing.signal.aborted) return;
    const running = this.#deliver(delivery).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Aborts the deliveries that are in flight. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #deliver(delivery: PhotoDelivery): Promise<void> {
    const boundary = `sandbox-${randomHex(this.#options.random)}`;
    const form = photoForm(delivery, boundary);
    for (let times = delivery.oddity === 'repeated' ? 2 : 1; times > 0; times -= 1) {
      const status = await this.#post(delivery.url, form, boundary);
      this.#log(delivery, status);
    }
  }

  async #post(url: string, form: Buffer<ArrayBuffer>, boundary: string): Promise<number | null> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: form,
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, deadline(LONGEST_MS)]),
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return null;
    }
  }

  #log({ linkId, level, oddity }: PhotoDelivery, status: number | null): void {
    const at = this.#options.clock.now().toISOString();
    const logged = { at, linkId, level, ...(oddity === undefined ? {} : { oddity }), status };
    this.ended.push(logged);
    if (this.ended.length > MAX_LOGGED) this.ended.shift();
    this.#options.onDelivery?.(logged);
  }
}
