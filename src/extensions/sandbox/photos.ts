import { crc32, deflateSync } from 'node:zlib';
import { deadline, type Clock } from '../../base/clock.ts';

/** Ways in which a delivery can be odd; the interface shows neither the order of its parts nor how `details` is sent. */
export const PHOTO_ODDITIES = ['details-last', 'details-file', 'repeated', 'not-an-image', 'unfinished'] as const;

export type PhotoOddity = (typeof PHOTO_ODDITIES)[number];

export interface PhotoDelivery {
  readonly url: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly actionId: string | undefined;
  /** The merchant's token; a secret. */
  readonly token: string | undefined;
  readonly oddity: PhotoOddity | undefined;
}

/** Builds the multipart form of a delivery (§6): two photos, and the token in `details`. */
async function photoForm({ linkId, level, actionId, token, oddity }: PhotoDelivery) {
  const comment = ['sandbox', linkId, level, actionId].filter((word) => word !== undefined).join(' ');
  const [first, second] = level === 'MAIN' ? ['document', 'portrait'] : ['liveness-1', 'liveness-2'];
  const image = oddity === 'not-an-image' ? Buffer.from('<html><script>alert(1)</script></html>') : png(comment);
  const details = JSON.stringify({ token });
  const detailsPart =
    oddity === 'details-file' ? new File([details], 'details.json', { type: 'application/json' }) : details;
  const form = new FormData();
  if (oddity !== 'details-last') form.append('details', detailsPart);
  form.append('file', new File([jpeg(comment)], `${first}.jpg`, { type: 'image/jpeg' }));
  form.append('file', new File([image], `${second}.png`, { type: 'image/png' }));
  if (oddity === 'details-last') form.append('details', detailsPart);
  const whole = new Response(form);
  const body = Buffer.from(await whole.arrayBuffer());
  const end = oddity === 'unfinished' ? body.lastIndexOf('\r\n--') : body.length;
  return { body: body.subarray(0, end), type: whole.headers.get('content-type') ?? '' };
}

const SIDE = 8;
const JPEG_START = '/9j/4AAQSkZJRgABAQAAAQABAAA=';
/** The rest of a grey JPEG of 8 by 8 pixels, after its comment. */
const JPEG_REST = `/9sAQwAB${'AQEB'.repeat(21)}/8AACwgACAAIAQERAP/EABQAAQAAAAAAAAAAAAAAAAAAAAD/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAA/AD//2Q==`;

function jpeg(comment: string): Buffer<ArrayBuffer> {
  const head = Buffer.from([0xff, 0xfe, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(comment) + 2, 2);
  return Buffer.concat([
    Buffer.from(JPEG_START, 'base64'),
    head,
    Buffer.from(comment),
    Buffer.from(JPEG_REST, 'base64'),
  ]);
}

function png(comment: string): Buffer<ArrayBuffer> {
  const chunk = (type: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(content.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  };
  return Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 2, 0, 0, 0])),
    chunk('tEXt', Buffer.from(`Comment\0${comment}`)),
    chunk('IDAT', deflateSync(Buffer.alloc(SIDE * (1 + SIDE * 3)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

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
  readonly onDelivery?: (delivery: LoggedDelivery) => void;
}

const MAX_LOGGED = 10_000;
const LONGEST_MS = 60_000;

/** Sends photos to the merchant (§6), once each: the interface does not show whether the exchange tries again. */
export class Deliveries {
  readonly ended: LoggedDelivery[] = [];
  readonly #options: DeliveryOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  begin(delivery: PhotoDelivery): void {
    if (this.#closing.signal.aborted) return;
    const running = this.#deliver(delivery).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #deliver(delivery: PhotoDelivery): Promise<void> {
    const { url, linkId, level, oddity } = delivery;
    const { body, type } = await photoForm(delivery);
    for (let times = oddity === 'repeated' ? 2 : 1; times > 0; times -= 1) {
      const status = await this.#post(url, body, type);
      const at = this.#options.clock.now().toISOString();
      const logged = { at, linkId, level, ...(oddity !== undefined && { oddity }), status };
      if (this.ended.push(logged) > MAX_LOGGED) this.ended.shift();
      this.#options.onDelivery?.(logged);
    }
  }

  async #post(url: string, body: Buffer<ArrayBuffer>, type: string): Promise<number | null> {
    const signal = AbortSignal.any([this.#closing.signal, deadline(LONGEST_MS)]);
    try {
      const headers = { 'content-type': type };
      const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return null;
    }
  }
}
