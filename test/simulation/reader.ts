import Database from 'better-sqlite3';

type Row = unknown;

/** A statement of the observer, on whichever connection is open. */
class Prepared {
  readonly #sql: string;
  #isPlucked = false;
  #statement: Database.Statement;

  /** SQLite may plan a statement anew at each run for a bare parameter, and these run after each step of a world. */
  constructor(sql: string, database: Database.Database) {
    this.#sql = sql.replaceAll('?', '+?');
    this.#statement = database.prepare(this.#sql);
  }

  pluck(): this {
    this.#isPlucked = true;
    this.#statement.pluck();
    return this;
  }

  get(...parameters: unknown[]): Row {
    return this.#statement.get(...parameters);
  }

  all(...parameters: unknown[]): Row[] {
    return this.#statement.all(...parameters);
  }

  run(...parameters: unknown[]): void {
    this.#statement.run(...parameters);
  }

  renew(database: Database.Database): void {
    this.#statement = database.prepare(this.#sql);
    if (this.#isPlucked) this.#statement.pluck();
  }
}

/** The observer's connection, whose statements continue if the file is put in place anew. */
export class Reader {
  readonly #path: string;
  readonly #prepared = new Map<string, Prepared>();
  #database: Database.Database;

  constructor(path: string) {
    this.#path = path;
    this.#database = new Database(path, { readonly: true });
  }

  prepare(sql: string): Prepared {
    const prepared = this.#prepared.get(sql) ?? new Prepared(sql, this.#database);
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  close(): void {
    this.#database.close();
  }

  reopen(): void {
    this.#database = new Database(this.#path, { readonly: true });
    for (const prepared of this.#prepared.values()) prepared.renew(this.#database);
  }

  /** The part of the driver that the observer uses. */
  asDatabase(): Database.Database {
    return this as unknown as Database.Database;
  }
}
