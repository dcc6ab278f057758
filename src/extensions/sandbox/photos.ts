import { crc32 } from 'node:zlib';
import { deadline, type Clock } from '../../base/clock.ts';

/** Forms of a delivery that the interface leaves open or forbids. */
export const PHOTO_ODDITIES = ['details-last', 'details-file', 'repeated', 'not-an-image', 'unfinished'] as const;

export type PhotoOddity = (typeof PHOTO_ODDITIES)[number];

export interface PhotoDelivery {
  readonly url: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly actionId: string | undefined;
  readonly token: string | undefined;
  readonly oddity: PhotoOddity | undefined;
}

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

const JPEG_START = '/9j/4AAQSkZJRgABAQAAAQABAAA=';
/** The rest of a grey JPEG of 8 by 8 pixels, after its comment. */
const JPEG_REST = `/9sAQwAB${'AQEB'.repeat(21)}/8AACwgACAAIAQERAP/EABQAAQAAAAAAAAAAAAAAAAAAAAD/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAA/AD//2Q==`;

function jpeg(comment: string): Buffer<ArrayBuffer> {
  const text = Buffer.from(`\0\0\0\0${comment}`);
  text.writeUInt16BE(0xfffe);
  text.writeUInt16BE(text.length - 2, 2);
  return Buffer.concat([Buffer.from(JPEG_START, 'base64'), text, Buffer.from(JPEG_REST, 'base64')]);
}

const PNG_START = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSnc';
/** The rest of a black PNG of 8 by 8 pixels, after its comment. */
const PNG_REST = 'AAAADElEQVR4nGNgGB4AAADIAAGtQHYiAAAAAElFTkSuQmCC';

function png(comment: string): Buffer<ArrayBuffer> {
  const text = Buffer.from(`tEXtComment\0${comment}`);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(text.length - 'tEXt'.length);
  sum.writeUInt32BE(crc32(text));
  return Buffer.concat([Buffer.from(PNG_START, 'base64'), length, text, sum, Buffer.from(PNG_REST, 'base64')]);
}

export interface LoggedDelivery extends Pick<PhotoDelivery, 'linkId' | 'level'> {
  readonly at: string;
  readonly oddity?: PhotoOddity;
  /** The HTTP status of the merchant's answer; null if no answer came. */
  readonly status: number | null;
}

type DeliveryOptions = Readonly<{ clock: Clock; onDelivery?: (delivery: LoggedDelivery) => void }>;

const MAX_LOGGED = 10_000;
const LONGEST_MS = 60_000;

/** Sends photos to the merchant (§6). A failed delivery is not retried, because the interface shows no retries. */
export function photoDeliveries({ clock, onDelivery }: DeliveryOptions) {
  const ended: LoggedDelivery[] = [];
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const deliver = async (delivery: PhotoDelivery) => {
    const { linkId, level, oddity } = delivery;
    const form = await photoForm(delivery);
    for (let times = oddity === 'repeated' ? 2 : 1; times > 0; times -= 1) {
      const status = await post(delivery.url, form, closing.signal).catch(() => null);
      const logged = { at: clock.now().toISOString(), linkId, level, ...(oddity !== undefined && { oddity }), status };
      if (ended.push(logged) > MAX_LOGGED) ended.shift();
      onDelivery?.(logged);
    }
  };
  return {
    ended,
    begin(delivery: PhotoDelivery): void {
      if (closing.signal.aborted) return;
      const delivering = deliver(delivery).finally(() => running.delete(delivering));
      running.add(delivering);
    },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(running);
    },
  };
}

async function post(url: string, { body, type }: Awaited<ReturnType<typeof photoForm>>, closing: AbortSignal) {
  const signal = AbortSignal.any([closing, deadline(LONGEST_MS)]);
  const headers = { 'content-type': type };
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
  await answer.body?.cancel();
  return answer.status;
}
