import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { StoreError, unusable } from '../errors.ts';
import { GAP_MS, isBefore, MarkFollower, readMark, readPosition, readSignOfRestore, RESTORE_ADVICE } from '../mark.ts';
import { assertNotMoved } from '../tables/moves.ts';
import type { Mark, MarkContent, Position, Database as Tables } from '../port.ts';

/** Replaces the text of a file. After a crash the file has the whole old text or the whole new text. */
export type ReplaceFile = (path: string, text: string) => Promise<void>;

interface MarkOptions {
  readonly path: string;
  readonly db: Tables;
  readonly clock: Clock;
  /** False in tests that simulate no loss of power: marks are written without syncs and without a gap. */
  readonly isDurable: boolean;
  readonly replaceFile?: ReplaceFile | undefined;
}

/** `<database>.mark`: one mark for all accounts of the file. */
export class FileMark extends MarkFollower implements Mark {
  readonly path: string;
  readonly account = undefined;
  readonly #database: string;
  readonly #db: Tables;
  readonly #replaceFile: ReplaceFile;
  #isChecked = false;
  #written: Position = { generation: -1, eventId: -1 };

  constructor({ path, db, clock, isDurable, replaceFile }: MarkOptions) {
    super(clock, isDurable ? GAP_MS : 0);
    this.path = `${realpathSync(path)}.mark`;
    this.#database = path;
    this.#db = db;
    this.#replaceFile = replaceFile ?? (isDurable ? replaceDurably : replaceAtOnce);
  }

  async read(): Promise<MarkContent | undefined> {
    try {
      return readMark(readFileSync(this.path, 'utf8'));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if ('code' in error && error.code === 'ENOENT') return undefined;
      const message = `${this.path} cannot be read (${error.message}); check its permissions`;
      throw new StoreError('disk', message, { cause: error });
    }
  }

  async position(): Promise<Position> {
    return await readPosition(this.#db);
  }

  async sign(): Promise<string | undefined> {
    return await readSignOfRestore(this.#db, await this.read());
  }

  async isMissing(): Promise<boolean> {
    return (await this.read()) === undefined && (await this.position()).eventId > 0;
  }

  async write(content: MarkContent): Promise<void> {
    try {
      await this.#replaceFile(this.path, `${JSON.stringify(content)}\n`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `${this.path} cannot be written (${why}); check free space and the permissions of its folder`;
      throw new StoreError('disk', message, { cause: error });
    }
  }

  async compareAll(): Promise<void> {
    // The owner compares the one mark of the file in `assertNotOlder`.
  }

  /** Throws `StoreError` if the orders were moved or the database may be an older copy. Writes the first mark. */
  async assertNotOlder(tx: Tables): Promise<void> {
    if (this.#isChecked) return;
    await assertNotMoved(tx, this.#database);
    const mark = await this.read();
    const sign = await readSignOfRestore(tx, mark);
    if (sign !== undefined) throw unusable(`${this.#database} ${sign}; ${RESTORE_ADVICE}`);
    if (mark === undefined) await this.#writePosition(await readPosition(tx));
    this.#isChecked = true;
  }

  async #writePosition(position: Position): Promise<void> {
    await this.write({ ...position, at: this.clock.now().toISOString() });
    this.#written = position;
  }

  protected override async writePositions(): Promise<boolean> {
    const position = await readPosition(this.#db);
    if (isBefore(position, this.#written)) {
      throw unusable(`${this.#database} was put back to an older state while it was open`);
    }
    if (isBefore(this.#written, position)) {
      await this.#writePosition(position);
      // Two processes may write at one time, and the older position may come last, so a newer one is written again.
      if (isBefore(position, await readPosition(this.#db))) this.committed();
    }
    return true;
  }
}

const replaceDurably: ReplaceFile = async (path, text) => {
  // The name is random, because processes of two containers that share the folder may have the same id.
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await using folder = await open(dirname(path));
  await folder.sync();
};

const replaceAtOnce: ReplaceFile = async (path, text) => {
  const temporary = `${path}.${randomUUID()}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
};
