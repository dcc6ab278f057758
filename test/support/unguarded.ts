import type Database from 'better-sqlite3';

const GUARDS = `from sqlite_master where type = 'trigger' and name in
  ('merchant_orders_moves', 'merchant_orders_begin')`;

/** Runs `work` while the database takes any state from anybody: rows get where the program brings them by many steps. */
export function unguarded(database: Database.Database, work: () => void): void {
  const guards = database.prepare(`select name, sql ${GUARDS}`).all() as { name: string; sql: string }[];
  database.transaction(() => {
    for (const { name } of guards) database.exec(`drop trigger ${name}`);
    work();
    for (const { sql } of guards) database.exec(sql);
  })();
}
