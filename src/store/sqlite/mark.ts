import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../errors.ts';
import { GAP_MS, isBefore, MarkFollower, readMark, readPosition, readSignOfRestore, RESTORE_ADVICE } from '../mark.ts';
import { assertNotMoved } from '../tables/moves.ts';
import type { Mark, MarkContent, Position, Database as Tables } from '../port.ts';

/** Puts a text into the place of a file, so that a crash leaves the old one or the new one, whole. */
export type ReplaceFile = (path: string, text: string) => Promise<void>;

interface MarkOptions {
  readonly path: string;
  readonly db: Tables;
  readonly clock: Clock;
  /** Made for a loss of power, or, if no test takes the power away, for nothing to wait for. */
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
  #named: Position = { generation: -1, eventId: -1 };

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
    // The file has no other mark than the one that its owner compares at the start.
  }

  /**
   * Throws `StoreError` if the database was moved elsewhere or may be an older copy. Asked at the beginning of the first transaction that writes:
   * a new database has its mark before its first event, or a crash between the two would leave a history without a mark.
   */
  async assertNotOlder(tx: Tables): Promise<void> {
    if (this.#isChecked) return;
    await assertNotMoved(tx, this.#database);
    const mark = await this.read();
    const sign = await readSignOfRestore(tx, mark);
    if (sign !== undefined) throw new StoreError('unusable', `${this.#database} ${sign}; ${RESTORE_ADVICE}`);
    if (mark === undefined) await this.#name(await readPosition(tx));
    this.#isChecked = true;
  }

  async #name(position: Position): Promise<void> {
    await this.write({ ...position, at: this.clock.now().toISOString() });
    this.#named = position;
  }

  protected override async name(): Promise<boolean> {
    const position = await readPosition(this.#db);
    if (isBefore(position, this.#named)) {
      throw new StoreError('unusable', `${this.#database} was put back to an older state while it was open`);
    }
    if (isBefore(this.#named, position)) {
      await this.#name(position);
      // Another process may have named an earlier or a later commit meanwhile: the last to write names the newest.
      if (isBefore(position, await readPosition(this.#db))) this.committed();
    }
    return true;
  }
}

/** A name that no other writer has: a process may open the database twice, and containers that share it number processes alike. */
function temporaryName(path: string): string {
  return `${path}.${randomUUID()}`;
}

const replaceDurably: ReplaceFile = async (path, text) => {
  const temporary = temporaryName(path);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  const folder = await open(dirname(path));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const replaceAtOnce: ReplaceFile = async (path, text) => {
  const temporary = temporaryName(path);
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
};

/** Another process of this machine writes the marks of its accounts for a moment only. */
const BUSY_TIMEOUT_MS = 1_000;

const TABLE = `create table if not exists marks (database text not null, account text not null,
  generation integer not null, event_id integer not null, content text not null,
  primary key (database, account)) without rowid`;

/** A mark never goes back, because a former owner may write last; only after the promotion of a standby it does. */
const NAME = `insert into marks values (:database, :account, :generation, :eventId, :content)
  on conflict do update set generation = excluded.generation, event_id = excluded.event_id, content = excluded.content
  where (excluded.generation, excluded.event_id) >= (generation, event_id)
    or excluded.content ->> 'timeLine' <> content ->> 'timeLine'`;

export type AccountWithMark = readonly [account: string, mark: MarkContent | undefined];

/** The marks of the accounts that this machine drives in a database elsewhere, which is known by its id: a SQLite file. */
export class MarksFile {
  readonly path: string;
  readonly #database: string;
  #opened: Database.Database | undefined;

  constructor(path: string, database: string) {
    this.path = path;
    this.#database = database;
  }

  open(): void {
    this.#with(() => {});
  }

  /** Returns undefined if there is none, or none that can be understood. Throws `StoreError`. */
  read(account: string): MarkContent | undefined {
    return this.#marks('account = ?', account, 1)[0]?.[1];
  }

  /** Returns the marks of accounts after `fromAccount`, in their order; undefined for a mark that cannot be understood. Throws `StoreError`. */
  page(fromAccount: string, limit: number): readonly AccountWithMark[] {
    return this.#marks('account > ?', fromAccount, limit);
  }

  name(positions: Iterable<readonly [account: string, position: Position]>, at: Date): void {
    this.#with((file) => {
      const statement = file.prepare(NAME);
      file.transaction(() => {
        for (const [account, position] of positions) {
          statement.run(this.#rowOf(account, { ...position, at: at.toISOString() }));
        }
      })();
    });
  }

  replace(account: string, content: MarkContent): void {
    this.#with((file) => {
      const replace = 'insert or replace into marks values (:database, :account, :generation, :eventId, :content)';
      file.prepare(replace).run(this.#rowOf(account, content));
    });
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  #marks(condition: string, account: string, limit: number): readonly AccountWithMark[] {
    // Who only reads makes no file.
    if (this.#opened === undefined && !existsSync(this.path)) return [];
    return this.#with((file) => {
      const rows = file
        .prepare(`select account, content from marks where database = ? and ${condition} order by account limit ?`)
        .all(this.#database, account, limit) as { account: string; content: string }[];
      return rows.map((row) => [row.account, readMark(row.content)] as const);
    });
  }

  #rowOf(account: string, content: MarkContent) {
    const { generation, eventId } = content;
    return { database: this.#database, account, generation, eventId, content: JSON.stringify(content) };
  }

  #with<Result>(work: (file: Database.Database) => Result): Result {
    try {
      this.#opened ??= openMarks(this.path);
      return work(this.#opened);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the marks in ${this.path} cannot be read or written (${why}); check its folder, or set database.marks`;
      throw new StoreError('disk', message, { cause: error });
    }
  }
}

function openMarks(path: string): Database.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
  const file = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    file.pragma('journal_mode = wal');
    // The orders are on another machine: a mark that this one loses with its power is a little behind, no more.
    file.pragma('synchronous = normal');
    file.exec(TABLE);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}
