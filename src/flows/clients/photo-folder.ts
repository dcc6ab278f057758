import { createHash, randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { PHOTO_EXTENSIONS, photoType, SIGNATURE_BYTES, type PhotoType } from '../../domain/clients/photo.ts';

/** The folder of files whose delivery is not recorded yet; inside the folder of photos, so that moving is one rename. */
const QUARANTINE = '.incoming';

/** A file in quarantine. */
export interface SavedFile {
  /** Random, with the extension of its type; the name that the sender gave decides nothing. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  /** Undefined where the content is of no type that is known. */
  readonly type: PhotoType | undefined;
}

/** Draws a name that nobody can guess, for a delivery or a file. */
export function randomName(): string {
  return randomBytes(16).toString('hex');
}

/** Gives the path of a recorded delivery within the folder. The id of a link may be any text, so it is hashed. */
export function placeOf(linkId: string, delivery: string): string {
  return join(createHash('sha256').update(linkId).digest('hex').slice(0, 32), delivery);
}

/**
 * The folder of photos: `.incoming/<delivery>/<file>` until the delivery is recorded, then `<link>/<delivery>/<file>`.
 * A delivery moves with one rename. Only this user can read the files, and they are synced before they count.
 */
export class PhotoFolder {
  readonly #path: string;
  readonly #quarantine: string;

  constructor(path: string) {
    this.#path = path;
    this.#quarantine = join(path, QUARANTINE);
  }

  /** Creates the folder where there is none, and lists the deliveries in quarantine. */
  async open(): Promise<string[]> {
    await mkdir(this.#quarantine, { recursive: true, mode: 0o700 });
    return await readdir(this.#quarantine);
  }

  async begin(delivery: string): Promise<void> {
    await mkdir(join(this.#quarantine, delivery), { recursive: true, mode: 0o700 });
  }

  /**
   * Streams a file into quarantine, `maxBytes` of it at the most: the rest is only counted. `check` gets the size so far and
   * throws when the delivery becomes too large.
   */
  async save(
    delivery: string,
    bytes: AsyncIterable<Uint8Array>,
    { maxBytes, check }: { maxBytes: number; check: (size: number) => void },
  ): Promise<SavedFile> {
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
      if (size <= maxBytes) await file.writeFile(chunk);
    }
    await file.sync();
    const type = photoType(first);
    const name = type === undefined ? plainName : `${plainName}.${PHOTO_EXTENSIONS[type]}`;
    await rename(join(folder, plainName), join(folder, name));
    return { name, size, sha256: hash.digest('hex'), type };
  }

  /** Deletes one file of a delivery in quarantine. */
  async discardFile(delivery: string, name: string): Promise<void> {
    await rm(join(this.#quarantine, delivery, name), { force: true });
  }

  /** Syncs a delivery, so that it survives a loss of power and moving it to `place` takes no new space. */
  async prepare(delivery: string, place: string): Promise<void> {
    await mkdir(join(this.#path, dirname(place)), { recursive: true, mode: 0o700 });
    await sync(join(this.#quarantine, delivery));
    await sync(this.#quarantine);
    await sync(this.#path);
  }

  /** Moves a delivery out of quarantine; one that is not there was moved before. */
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

  /** Deletes a delivery in quarantine. */
  async discard(delivery: string): Promise<void> {
    await rm(join(this.#quarantine, delivery), { recursive: true, force: true });
  }

  async has(stored: string): Promise<boolean> {
    if (!this.#isWithin(stored)) return false;
    return await access(join(this.#path, stored)).then(
      () => true,
      () => false,
    );
  }

  /** Deletes files, and the folders that are then empty. Files that do not exist are skipped. */
  async remove(stored: readonly string[]): Promise<void> {
    const own = stored.filter((name) => this.#isWithin(name));
    for (const name of own) await rm(join(this.#path, name), { force: true });
    const folders = new Set(own.map((name) => join(this.#path, dirname(name))));
    for (const folder of folders) await removeIfEmpty(folder);
  }

  /** False for a path that leads elsewhere: whoever can write to the database is not to have files of this user deleted. */
  #isWithin(stored: string): boolean {
    return !relative(this.#path, join(this.#path, stored)).startsWith('..');
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

/** A file is durable only when its folder is synced, too. */
async function sync(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}
