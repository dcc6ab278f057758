import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { messageOf } from '../../../base/text.ts';
import { StoreError } from '../../../store/errors.ts';
import { readMark } from '../../../store/mark.ts';
import type { MarkContent, Position } from '../../../store/port.ts';

/** How long a statement waits for other processes of this machine, each of which writes for a moment only. */
const BUSY_TIMEOUT_MS = 1_000;

const TABLE = `create table if not exists marks (database text not null, account text not null,
  generation integer not null, event_id integer not null, content text not null,
  primary key (database, account)) without rowid`;

const REPLACE = 'insert or replace into marks values (:database, :account, :generation, :eventId, :content)';

/** Keeps a newer mark, because a former owner may write last. A position on another time-line replaces any mark. */
const ADVANCE = `insert into marks values (:database, :account, :generation, :eventId, :content)
  on conflict do update set generation = excluded.generation, event_id = excluded.event_id, content = excluded.content
  where (excluded.generation, excluded.event_id) >= (generation, event_id)
    or excluded.content ->> 'timeLine' <> content ->> 'timeLine'`;

export type AccountWithMark = readonly [account: string, mark: MarkContent | undefined];

/** The marks of accounts in a SQLite file of this machine. Their database is elsewhere and has the id `database`. */
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

  read(account: string): MarkContent | undefined {
    return this.#marks('account = ?', account, 1)[0]?.[1];
  }

  page(fromAccount: string, limit: number): readonly AccountWithMark[] {
    return this.#marks('account > ?', fromAccount, limit);
  }

  advance(positions: Iterable<readonly [account: string, position: Position]>, at: Date): void {
    const named = Array.from(positions, ([account, one]) => [account, { ...one, at: at.toISOString() }] as const);
    this.#write(ADVANCE, named);
  }

  replace(account: string, content: MarkContent): void {
    this.#write(REPLACE, [[account, content]]);
  }

  close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  #marks(condition: string, account: string, limit: number): readonly AccountWithMark[] {
    // Reading creates no file.
    if (this.#opened === undefined && !existsSync(this.path)) return [];
    return this.#with((file) => {
      const rows = file
        .prepare(`select account, content from marks where database = ? and ${condition} order by account limit ?`)
        .all(this.#database, account, limit) as { account: string; content: string }[];
      return rows.map((row) => [row.account, readMark(row.content)] as const);
    });
  }

  #write(statement: string, marks: readonly (readonly [account: string, content: MarkContent])[]): void {
    this.#with((file) => {
      const written = file.prepare(statement);
      const write = ([account, content]: (typeof marks)[number]) =>
        written.run({ ...content, database: this.#database, account, content: JSON.stringify(content) });
      file.transaction(() => marks.forEach(write))();
    });
  }

  #with<Result>(work: (file: Database.Database) => Result): Result {
    try {
      this.#opened ??= openMarks(this.path);
      return work(this.#opened);
    } catch (error) {
      const message = `the marks in ${this.path} cannot be read or written (${messageOf(error)}); check its folder, or set database.marks`;
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
    // A power failure loses only the newest marks. An older mark stops no account, and the next commits replace it.
    file.pragma('synchronous = normal');
    file.exec(TABLE);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}
