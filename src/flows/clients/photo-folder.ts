import { createHash, randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PHOTO_EXTENSIONS, photoType, SIGNATURE_BYTES, type PhotoType } from '../../domain/clients/photo.ts';

/** Where files stay until their delivery is recorded: in the folder of photos, so that moving is one rename. */
const QUARANTINE = '.incoming';

/** A file in quarantine. */
export interface SavedFile {
  /** Random, with the ending of its type; what the sender calls it decides nothing. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  /** Undefined: the content is of no type that is taken. */
  readonly type: PhotoType | undefined;
}

/** A name that nobody can guess, for a delivery or a file. */
export function randomName(): string {
  return randomBytes(16).toString('hex');
}

/** Where a delivery moves to, from the folder. The id of a link may be any text, so it is hashed. */
export function placeOf(linkId: string, delivery: string): string {
  return join(createHash('sha256').update(linkId).digest('hex').slice(0, 32), delivery);
}

/**
 * The folder of photos: `.incoming/<delivery>/<file>` until the delivery is recorded, `<link>/<delivery>/<file>` after.
 * A delivery moves whole, with one rename. All of it is for this user alone, and synced before it counts.
 */
export class PhotoFolder {
  readonly #path: string;
  readonly #quarantine: string;

  constructor(path: string) {
    this.#path = path;
    this.#quarantine = join(path, QUARANTINE);
  }

  /** Makes the folder where there is none, and gives the deliveries in quarantine. */
  async open(): Promise<string[]> {
    await mkdir(this.#quarantine, { recursive: true, mode: 0o700 });
    return await readdir(this.#quarantine);
  }

  async begin(delivery: string): Promise<void> {
    await mkdir(join(this.#quarantine, delivery), { recursive: true, mode: 0o700 });
  }

  /** Streams a file into quarantine. `check` gets the size so far and throws when it is too much. */
  async save(delivery: string, bytes: AsyncIterable<Uint8Array>, check: (size: number) => void): Promise<SavedFile> {
    const folder = join(this.#quarantine, delivery);
    const plainName = randomName();
    await using file = await open(join(folder, plainName), 'wx', 0o600);
    const hash = createHash('sha256');
    let size = 0;
    let first = Buffer.alloc(0);
    for await (const chunk of bytes) {
      size += chunk.length;
      check(size);
      hash.update(chunk);
      if (first.length < SIGNATURE_BYTES) first = Buffer.concat([first, chunk.subarray(0, SIGNATURE_BYTES)]);
      await file.writeFile(chunk);
    }
    await file.sync();
    const type = photoType(first);
    const name = type === undefined ? plainName : `${plainName}.${PHOTO_EXTENSIONS[type]}`;
    await rename(join(folder, plainName), join(folder, name));
    return { name, size, sha256: hash.digest('hex'), type };
  }

  /** After this a loss of power takes nothing of a delivery, and moving it to `place` takes no new space. */
  async prepare(delivery: string, place: string): Promise<void> {
    await mkdir(join(this.#path, dirname(place)), { recursive: true, mode: 0o700 });
    await sync(join(this.#quarantine, delivery));
    await sync(this.#quarantine);
    await sync(this.#path);
  }

  /** Moves a delivery out of quarantine. One that is there no more was moved before. */
  async move(delivery: string, place: string): Promise<void> {
    const target = join(this.#path, place);
    try {
      await rename(join(this.#quarantine, delivery), target);
    } catch (error) {
      if (await this.has(join(QUARANTINE, delivery))) throw error;
      return;
    }
    await sync(dirname(target));
    await sync(this.#quarantine);
  }

  /** Takes a delivery in quarantine away. */
  async discard(delivery: string): Promise<void> {
    await rm(join(this.#quarantine, delivery), { recursive: true, force: true });
  }

  async has(stored: string): Promise<boolean> {
    return await access(join(this.#path, stored)).then(
      () => true,
      () => false,
    );
  }

  /** Takes files away for good, and the folders that are empty then. What is gone already is passed over. */
  async remove(stored: readonly string[]): Promise<void> {
    for (const name of stored) await rm(join(this.#path, name), { force: true });
    const folders = new Set(stored.map((name) => join(this.#path, dirname(name))));
    for (const folder of folders) await removeIfEmpty(folder);
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
    await sync(dirname(folder));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') await sync(folder);
    else if (code !== 'ENOENT') throw error;
  }
}

/** Files are in a folder for sure once the folder itself is synced. */
async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}
