import { createHash, hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { PHOTO_EXTENSIONS, photoType, SIGNATURE_BYTES, type PhotoType } from './photo.ts';
import type { NewPhoto } from './tables/photos.ts';
import { printable } from '../../base/words.ts';
import type { PhotoSettings } from './settings.ts';

const MAX_DETAILS_BYTES = 4096;
const MAX_NAME_LENGTH = 255;

/** One part of a delivery (§6). Its bytes must be read before the next part is requested. */
export interface DeliveryPart {
  readonly name: string | undefined;
  readonly filename: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export class DeliveryRefusal extends Error {
  override readonly name = 'DeliveryRefusal';
  readonly kind: 'unreadable' | 'too-large' | 'too-slow' | 'forbidden' | 'busy';
  constructor(kind: DeliveryRefusal['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Saves the files of a delivery in quarantine. Throws `DeliveryRefusal`, and errors of `parts` and of the disk. */
export async function readForm(
  limits: PhotoSettings,
  folder: PhotoFolder,
  delivery: string,
  parts: AsyncIterable<DeliveryPart>,
): Promise<{ readonly token: string; readonly files: readonly ReceivedFile[] }> {
  let token: string | undefined;
  const files: ReceivedFile[] = [];
  let total = 0;
  for await (const { name, filename, bytes } of parts) {
    if (name === 'file') {
      if (files.length === limits.maxFiles) throw new DeliveryRefusal('too-large', 'there are too many files');
      const file = await folder.save(delivery, bytes, limits, total);
      const refusal = refusalOf(limits, file);
      if (refusal !== null) await folder.discard(delivery, file.name);
      const shown = printable(filename ?? '');
      files.push({ ...file, refusal, original_name: shown.slice(0, MAX_NAME_LENGTH).toWellFormed() });
      total += file.size;
    } else if (name === 'details') {
      if (token !== undefined) throw new DeliveryRefusal('unreadable', 'there is more than one part named details');
      token = await tokenIn(bytes);
    } else {
      // An unknown part must be read, because the next part comes only after it.
      for await (const chunk of bytes) void chunk;
    }
  }
  if (token === undefined) throw new DeliveryRefusal('unreadable', 'the part details is missing');
  const [first] = files;
  if (first === undefined) throw new DeliveryRefusal('unreadable', 'the part file is missing');
  if (files.some(({ refusal }) => refusal === null)) return { token, files };
  const why = first.size > limits.maxFileBytes ? 'too-large' : 'unreadable';
  throw new DeliveryRefusal(why, `no file can be accepted: ${first.refusal}`);
}

function refusalOf({ maxFileBytes, types }: PhotoSettings, { size, type }: SavedFile): string | null {
  if (size === 0) return 'the file is empty';
  if (size > maxFileBytes) return `the file has more than ${maxFileBytes} bytes (photos.maxFileBytes)`;
  if (type !== null && types.includes(type)) return null;
  return `its content is ${type ?? 'of no known type'}, and photos.types lists no such files`;
}

const detailsSchema = z.object({ token: z.string().min(1) });

async function tokenIn(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MAX_DETAILS_BYTES) throw new DeliveryRefusal('too-large', 'the part details is too long');
    chunks.push(chunk);
  }
  try {
    return detailsSchema.parse(JSON.parse(Buffer.concat(chunks).toString())).token;
  } catch {
    // The cause is left out, because it may quote the token.
    throw new DeliveryRefusal('unreadable', 'the part details is not {"token": "…"}');
  }
}

/** The folder of deliveries without rows. It is in the folder of photos, so that one rename moves a delivery. */
const QUARANTINE = '.incoming';
const PRIVATE = { recursive: true, mode: 0o700 };

interface SavedFile {
  /** A random name with the extension of the type. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly type: PhotoType | null;
}

/** `original_name` is for people; it is never used as a path. */
export type ReceivedFile = SavedFile & { readonly refusal: string | null; readonly original_name: string };

export const randomName = () => randomBytes(16).toString('hex');

/** The path of a recorded delivery in the folder of photos. The link id may be any text, so the path uses its hash. */
export const placeOf = (linkId: string, delivery: string) => join(hash('sha256', linkId).slice(0, 32), delivery);

/** Files are written to `.incoming/<delivery>/` and moved to `placeOf`. Only the user of the process may read them. */
export class PhotoFolder {
  readonly #path: string;
  readonly #quarantine: string;

  constructor(path: string) {
    this.#path = path;
    this.#quarantine = join(path, QUARANTINE);
  }

  async open(): Promise<string[]> {
    await mkdir(this.#quarantine, PRIVATE);
    return await readdir(this.#quarantine);
  }

  async begin(delivery: string): Promise<void> {
    await mkdir(join(this.#quarantine, delivery), PRIVATE);
  }

  /** Writes up to `maxFileBytes`. Throws `DeliveryRefusal` if this file and `others` bytes exceed `maxTotalBytes`. */
  async save(delivery: string, bytes: AsyncIterable<Uint8Array>, limits: PhotoSettings, others: number) {
    const { maxFileBytes, maxTotalBytes } = limits;
    const folder = join(this.#quarantine, delivery);
    const plainName = randomName();
    await using file = await open(join(folder, plainName), 'wx', 0o600);
    const digest = createHash('sha256');
    let size = 0;
    let first = Buffer.alloc(0);
    for await (const chunk of bytes) {
      size += chunk.length;
      if (others + size > maxTotalBytes)
        throw new DeliveryRefusal('too-large', `the files have more than ${maxTotalBytes} bytes`);
      digest.update(chunk);
      if (first.length < SIGNATURE_BYTES) first = Buffer.concat([first, chunk.subarray(0, SIGNATURE_BYTES)]);
      if (size <= maxFileBytes) await file.writeFile(chunk);
    }
    await file.sync();
    const type = photoType(first);
    const name = type === undefined ? plainName : `${plainName}.${PHOTO_EXTENSIONS[type]}`;
    await rename(join(folder, plainName), join(folder, name));
    return { name, size, sha256: digest.digest('hex'), type: type ?? null } satisfies SavedFile;
  }

  async discard(delivery: string, name = ''): Promise<void> {
    await rm(join(this.#quarantine, delivery, name), { recursive: true, force: true });
  }

  /** Syncs a delivery, and makes the folder above `place`, so that `move` needs no new space on the disk. */
  async prepare(delivery: string, place: string): Promise<void> {
    await mkdir(join(this.#path, dirname(place)), PRIVATE);
    for (const folder of [join(this.#quarantine, delivery), this.#quarantine, this.#path]) await sync(folder);
  }

  /** Moves a delivery out of quarantine, unless it was moved before. */
  async move(delivery: string, place: string): Promise<void> {
    const target = join(this.#path, place);
    try {
      await rename(join(this.#quarantine, delivery), target);
    } catch (error) {
      if (this.has(join(QUARANTINE, delivery))) throw error;
      return;
    }
    await sync(dirname(target));
    await sync(this.#quarantine);
  }

  /** Moves files of a repeated delivery to the places of stored files that are missing. */
  async replaceMissing(stored: readonly NewPhoto[], delivery: string, files: readonly SavedFile[]): Promise<void> {
    const copies = new Set(files);
    for (const { stored_name: place, sha256 } of stored) {
      const copy = copies.values().find((file) => file.sha256 === sha256);
      if (copy === undefined || place === null || this.has(place) || !this.#isWithin(place)) continue;
      copies.delete(copy);
      await this.prepare(delivery, place);
      await rename(join(this.#quarantine, delivery, copy.name), join(this.#path, place));
      for (const folder of [dirname(place), dirname(dirname(place))]) await sync(join(this.#path, folder));
    }
  }

  has(stored: string): boolean {
    return this.#isWithin(stored) && existsSync(join(this.#path, stored));
  }

  /** Deletes files of deliveries at `places`. Files that do not exist are skipped. */
  async remove(stored: readonly string[], places: ReadonlySet<string>): Promise<void> {
    for (const name of stored) if (this.#isWithin(name)) await rm(join(this.#path, name), { force: true });
    for (const place of places) await sync(join(this.#path, place));
  }

  /** A folder that is not empty, or cannot be removed, stays. */
  async removeEmpty(places: ReadonlySet<string>): Promise<void> {
    for (const place of places) await rmdir(join(this.#path, place)).catch(() => undefined);
  }

  /** Checks a path from the database, because a user who can write to the database must not delete other files. */
  #isWithin(stored: string): boolean {
    return !relative(this.#path, join(this.#path, stored)).startsWith('..');
  }
}

/** A new file is durable only if its folder is synced too. */
async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}
