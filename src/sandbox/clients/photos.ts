import { jpeg, png } from './images.ts';
import { nameAfter } from '../names.ts';

/** Ways in which a delivery can be odd; the interface shows neither the order of its parts nor how `details` is sent. */
export const PHOTO_ODDITIES = ['details-last', 'details-file', 'repeated', 'not-an-image', 'unfinished'] as const;

/** The name of an oddity. */
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
export function photoForm(delivery: PhotoDelivery, boundary: string): Buffer<ArrayBuffer> {
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
