import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../errors.ts';
import { readMark } from '../mark.ts';
import type { MarkContent, Position } from '../port.ts';

/** Another process of this machine writes the marks of its accounts for a moment only. */
const BUSY_TIMEOUT_MS = 1_000;

const TABLE = `create table if not exists marks (database text not null, account text not null,
  generation integer not null, event_id integer not null, content text not null,
  primary key (database, account)) without rowid`;

/**
 * A mark never goes back, because the former owner may be the last to write. Only after the promotion of a standby the
 * account goes on from an earlier place.
 */
const NAME = `insert into marks values (:database, :account, :generation, :eventId, :content)
  on conflict do update set generation = excluded.generation, event_id = excluded.event_id, content = excluded.content
  where (excluded.generation, excluded.event_id) >= (generation, event_id)
    or excluded.content ->> 'timeLine' <> content ->> 'timeLine'`;

/** The marks of the accounts that this machine drives in a database elsewhere, which is known by its id: a SQLite file. */
export class MarksFile {
  readonly path: string;
  readonly #database: string;
  #opened: Database.Database | undefined;

  constructor(path: string, database: string) {
    this.path = path;
    this.#database = database;
  }

  /** Makes the file if there is none. Throws `StoreError` if it cannot be written to. */
  open(): void {
    this.#with(() => {});
  }

  /** Returns undefined if there is none, or none that can be understood. Throws `StoreError`. */
  read(account: string): MarkContent | undefined {
    // Who only reads makes none.
    if (this.#opened === undefined && !existsSync(this.path)) return undefined;
    return this.#with((file) => {
      const text = file.prepare('select content from marks where database = ? and account = ?').pluck();
      return readMark(String(text.get(this.#database, account)));
    });
  }

  /** Returns the readable marks of accounts after `fromAccount`, in their order. Throws `StoreError`. */
  page(fromAccount: string, limit: number): readonly (readonly [account: string, mark: MarkContent])[] {
    if (this.#opened === undefined && !existsSync(this.path)) return [];
    return this.#with((file) => {
      const rows = file
        .prepare('select account, content from marks where database = ? and account > ? order by account limit ?')
        .all(this.#database, fromAccount, limit) as { account: string; content: string }[];
      return rows.flatMap(({ account, content }) => {
        const mark = readMark(content);
        return mark === undefined ? [] : [[account, mark] as const];
      });
    });
  }

  /** Names how far accounts have come; all or none. Throws `StoreError`. */
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

  /** Writes what a person has decided about a restored database. Throws `StoreError`. */
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

  #rowOf(account: string, content: MarkContent) {
    const { generation, eventId } = content;
    return { database: this.#database, account, generation, eventId, content: JSON.stringify(content) };
  }

  #with<Result>(work: (file: Database.Database) => Result): Result {
    try {
      this.#opened ??= open(this.path);
      return work(this.#opened);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the marks in ${this.path} cannot be read or written (${why}); check its folder, or set database.marks`;
      throw new StoreError('disk', message, { cause: error });
    }
  }
}

function open(path: string): Database.Database {
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
