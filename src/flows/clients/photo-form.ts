import { z } from 'zod';
import { printable } from '../../reports/formats/text.ts';
import type { FlowDeps } from '../pass/deps.ts';
import type { PhotoFolder, SavedFile } from './photo-folder.ts';

const MAX_DETAILS_BYTES = 4096;
const MAX_NAME_LENGTH = 255;

/** One part of a delivery (§6). Its bytes are read before the next part is requested. */
export interface DeliveryPart {
  readonly name: string | undefined;
  readonly filename: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The reasons to refuse a delivery. */
export type RefusalKind = 'unreadable' | 'too-large' | 'too-slow' | 'forbidden';

/** Says that a delivery is refused, with a message that the sender may read. */
export class DeliveryRefusal extends Error {
  override readonly name = 'DeliveryRefusal';
  readonly kind: RefusalKind;
  constructor(kind: RefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A file of a delivery, in quarantine unless it is refused. */
export interface ReceivedFile extends SavedFile {
  /** Why it is not kept; null where it is. */
  readonly refusal: string | null;
  /** For people; it is never used as a path. */
  readonly originalName: string;
}

/** A delivery that was read completely. */
export interface DeliveryForm {
  readonly token: string;
  readonly files: readonly ReceivedFile[];
}

/**
 * Reads the parts of a delivery and saves its files in quarantine. A file that cannot be accepted is refused, and the others
 * are kept. Throws `DeliveryRefusal`, where no file is left too, and what `parts` throws.
 */
export async function readForm(
  limits: FlowDeps['photos'],
  folder: PhotoFolder,
  delivery: string,
  parts: AsyncIterable<DeliveryPart>,
): Promise<DeliveryForm> {
  let token: string | undefined;
  const files: ReceivedFile[] = [];
  let total = 0;
  for await (const { name, filename, bytes } of parts) {
    if (name === 'file') {
      if (files.length === limits.maxFiles) throw new DeliveryRefusal('too-large', 'there are too many files');
      const check = (size: number) => assertTotal(limits, total + size);
      const file = await folder.save(delivery, bytes, { maxBytes: limits.maxFileBytes, check });
      const refusal = refusalOf(limits, file);
      if (refusal !== null) await folder.discardFile(delivery, file.name);
      files.push({ ...file, refusal, originalName: asText(filename ?? '') });
      total += file.size;
    } else if (name === 'details') {
      if (token !== undefined) throw new DeliveryRefusal('unreadable', 'there is more than one part details');
      token = tokenOf(await textOf(bytes));
    } else {
      // An unknown part must be read, or the next part would not come.
      for await (const chunk of bytes) void chunk;
    }
  }
  if (token === undefined) throw new DeliveryRefusal('unreadable', 'there is no part details');
  if (files.length === 0) throw new DeliveryRefusal('unreadable', 'there is no part file');
  const [odd] = files.filter(({ refusal }) => refusal !== null);
  if (odd !== undefined && files.every(({ refusal }) => refusal !== null)) {
    const why = odd.size > limits.maxFileBytes ? 'too-large' : 'unreadable';
    throw new DeliveryRefusal(why, `no file can be accepted: ${odd.refusal}`);
  }
  return { token, files };
}

function assertTotal({ maxTotalBytes }: FlowDeps['photos'], size: number): void {
  if (size > maxTotalBytes) throw new DeliveryRefusal('too-large', `the files have more than ${maxTotalBytes} bytes`);
}

function refusalOf({ maxFileBytes, types }: FlowDeps['photos'], { size, type }: SavedFile): string | null {
  if (size === 0) return 'the file is empty';
  if (size > maxFileBytes) return `the file has more than ${maxFileBytes} bytes (photos.maxFileBytes)`;
  if (type !== undefined && types.includes(type)) return null;
  return `its content is ${type ?? 'of no known type'}, and photos.types lists no such files`;
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MAX_DETAILS_BYTES) throw new DeliveryRefusal('too-large', 'the part details is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const detailsSchema = z.object({ token: z.string().min(1) });

function tokenOf(details: string): string {
  try {
    return detailsSchema.parse(JSON.parse(details)).token;
  } catch {
    // The cause is left out: it may quote the token.
    throw new DeliveryRefusal('unreadable', 'the part details is not {"token": "…"}');
  }
}

function asText(name: string): string {
  return printable(name).slice(0, MAX_NAME_LENGTH).toWellFormed();
}
