import Database from 'better-sqlite3';

/** Tables for more rows than memory holds. SQLite moves large tables to a file, and deletes the file at `close`. */
export abstract class TemporaryTables implements Disposable {
  protected readonly sqlite = new Database('');

  constructor(tables: string) {
    this.sqlite.pragma('journal_mode = off');
    this.sqlite.pragma('cache_size = -16000');
    this.sqlite.exec(`begin; ${tables}`);
  }

  protected inserter<Row>(table: string, columns: string): (row: Row) => void {
    const values = columns.replaceAll(/\w+/g, '@$&');
    const insert = this.sqlite.prepare(`insert into ${table} (${columns}) values (${values})`);
    return (row) => void insert.run(row);
  }

  /** Begins the query at the first read, because an unfinished query keeps the database from closing. */
  protected *rows<Row>(query: string, ...values: readonly unknown[]): Generator<Row, void> {
    yield* this.sqlite.prepare<unknown[], Row>(query).iterate(...values);
  }

  protected count(table: string, ...values: readonly unknown[]): number {
    const query = this.sqlite.prepare<unknown[]>(`select count(*) from ${table}`).pluck();
    return query.get(...values) as number;
  }

  [Symbol.dispose](): void {
    this.sqlite.close();
  }
}
