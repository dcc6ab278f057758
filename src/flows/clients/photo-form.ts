import { z } from 'zod';
import type { PhotoType } from '../../domain/clients/photo.ts';
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

/** A file of a delivery, in quarantine. */
export interface ReceivedFile extends SavedFile {
  readonly type: PhotoType;
  /** For people; it is never used as a path. */
  readonly originalName: string;
}

/** A delivery that was read completely. */
export interface DeliveryForm {
  readonly token: string;
  readonly files: readonly ReceivedFile[];
}

/** Reads the parts of a delivery and saves its files in quarantine. Throws `DeliveryRefusal`, and what `parts` throws. */
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
      const file = await folder.save(delivery, bytes, (size) => assertSize(limits, size, total));
      files.push({ ...file, type: typeOf(file), originalName: asText(filename ?? '') });
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
  return { token, files };
}

function assertSize({ maxFileBytes, maxTotalBytes }: FlowDeps['photos'], size: number, others: number): void {
  if (size > maxFileBytes) throw new DeliveryRefusal('too-large', `a file has more than ${maxFileBytes} bytes`);
  if (others + size > maxTotalBytes) {
    throw new DeliveryRefusal('too-large', `the files have more than ${maxTotalBytes} bytes`);
  }
}

function typeOf({ size, type }: SavedFile): PhotoType {
  if (size === 0) throw new DeliveryRefusal('unreadable', 'a file is empty');
  if (type !== undefined) return type;
  throw new DeliveryRefusal('unreadable', 'a file is not JPEG, PNG, WebP, HEIC or PDF by its content');
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
